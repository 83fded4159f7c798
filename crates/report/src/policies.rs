//! The table of policies.

use crate::Style;
use crate::table::{Align, Table};
use serde::Serialize;

/// One policy as the registry describes it.
#[derive(Serialize, Clone, Debug, PartialEq, Eq)]
pub struct PolicyRow {
    /// Its name.
    pub name: String,
    /// What it does, in one sentence.
    pub about: String,
    /// Where it comes from.
    pub source: String,
    /// Whether it can be run, or is a bound to compare with.
    pub can_run: bool,
}

/// Renders the policies, in the order given.
#[must_use]
pub fn policies(rows: &[PolicyRow], style: Style) -> String {
    let mut columns = vec![("policy", Align::Left), ("what it does", Align::Left)];
    let wide = style.width() >= 64;
    if wide {
        columns.push(("from", Align::Left));
    }
    let mut table = Table::new(style, &columns);
    for row in rows {
        let name = if row.can_run { row.name.clone() } else { format!("{} *", row.name) };
        let mut cells = vec![name, row.about.clone()];
        if wide {
            cells.push(row.source.clone());
        }
        table.row(&cells);
    }
    let mut out = table.render();
    if rows.iter().any(|row| !row.can_run) {
        out += &style.dim(&style.paragraph("  ", "* a bound to compare with; cannot be run"));
    }
    out
}
