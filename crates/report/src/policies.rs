//! The tables of policies and of their options.

use crate::Style;
use crate::table::{Align, Table};
use serde::Serialize;

/// One policy as the registry describes it.
#[derive(Serialize, Clone, Debug, PartialEq)]
pub struct PolicyRow {
    /// Its name.
    pub name: String,
    /// What it does, in one sentence.
    pub about: String,
    /// Where it comes from.
    pub source: String,
    /// Whether it can be run, or is a bound to compare with.
    pub can_run: bool,
    /// Its options, as given in `name:option=value,option=value`.
    pub options: Vec<OptionRow>,
}

/// One option of a policy.
#[derive(Serialize, Clone, Debug, PartialEq)]
pub struct OptionRow {
    /// Its name.
    pub name: String,
    /// What it does, and its unit.
    pub about: String,
    /// The value when none is given.
    pub default: f64,
    /// The smallest value.
    pub low: f64,
    /// The largest value.
    pub high: f64,
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
    if rows.iter().any(|row| !row.options.is_empty()) {
        out += "\n";
        out += &options(rows, style);
    }
    if rows.iter().any(|row| !row.can_run) {
        out += &style.dim(&style.paragraph("  ", "* a bound to compare with; cannot be run"));
    }
    out
}

fn options(rows: &[PolicyRow], style: Style) -> String {
    let columns =
        [("option", Align::Left), ("default", Align::Right), ("what it does", Align::Left)];
    let mut table = Table::new(style, &columns);
    for row in rows {
        for option in &row.options {
            let name = format!("{}:{}", row.name, option.name);
            table.row(&[name, option.default.to_string(), option.about.clone()]);
        }
    }
    table.render()
}
