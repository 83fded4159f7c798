//! Aligned tables: a rule under the header, no other lines, numbers to the right.

use crate::Style;
use comfy_table::{Cell, CellAlignment, ContentArrangement, LineStyle, Table as Comfy, TableStyle};

/// How a column stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Align {
    /// Names and words.
    Left,
    /// Numbers.
    Right,
}

/// A table under construction.
pub(crate) struct Table {
    columns: Vec<Align>,
    inner: Comfy,
}

impl Table {
    /// A table with these columns.
    pub(crate) fn new(style: Style, columns: &[(&str, Align)]) -> Self {
        let mut inner = Comfy::new();
        let rule = TableStyle::new().header_separator(LineStyle::none().fill('─').junction('─'));
        inner
            .load_style(rule)
            .set_content_arrangement(ContentArrangement::Dynamic)
            .set_width(u16::try_from(style.width()).unwrap_or(80).saturating_sub(1));
        let columns_only: Vec<Align> = columns.iter().map(|(_, align)| *align).collect();
        inner.set_header(columns.iter().map(|(name, align)| cell(name, *align)));
        for column in inner.column_iter_mut() {
            column.set_padding((1, 1));
        }
        Self { columns: columns_only, inner }
    }

    /// Adds a row with one text per column.
    pub(crate) fn row(&mut self, cells: &[String]) {
        debug_assert_eq!(cells.len(), self.columns.len());
        let cells = std::iter::zip(cells, &self.columns).map(|(text, align)| cell(text, *align));
        self.inner.add_row(cells.collect::<Vec<_>>());
    }

    /// The lines, indented by one, without spaces at their ends.
    pub(crate) fn render(&self) -> String {
        self.inner.lines().map(|line| format!(" {}\n", line.trim_end())).collect()
    }
}

fn cell(text: &str, align: Align) -> Cell {
    Cell::new(text).set_alignment(match align {
        Align::Left => CellAlignment::Left,
        Align::Right => CellAlignment::Right,
    })
}
