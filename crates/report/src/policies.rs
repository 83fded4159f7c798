//! The tables of policies and governors, and of their options.

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

/// One governor as the registry describes it.
#[derive(Serialize, Clone, Debug, PartialEq)]
pub struct GovernorRow {
    /// Its name.
    pub name: String,
    /// What it does, in one sentence.
    pub about: String,
    /// Where it comes from.
    pub source: String,
    /// Its options, as given in `name:option=value,option=value`.
    pub options: Vec<OptionRow>,
}

/// One option of a policy or a governor.
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
    let star = |row: &PolicyRow| if row.can_run { "" } else { " *" };
    let named = |row: &PolicyRow| [format!("{}{}", row.name, star(row)), row.about.clone()];
    let mut out = entries("policy", rows.iter().map(|row| (named(row), &row.source)), style);
    out += &options(rows.iter().map(|row| (&row.name, &row.options)), style);
    if rows.iter().any(|row| !row.can_run) {
        out += &style.dim(&style.paragraph("  ", "* a bound to compare with; cannot be run"));
    }
    out
}

/// Renders the governors, in the order given.
#[must_use]
pub fn governors(rows: &[GovernorRow], style: Style) -> String {
    let named = |row: &GovernorRow| [row.name.clone(), row.about.clone()];
    let out = entries("governor", rows.iter().map(|row| (named(row), &row.source)), style);
    out + &options(rows.iter().map(|row| (&row.name, &row.options)), style)
}

/// Names and what they do; where they come from, if there is room.
fn entries<'a>(
    kind: &str,
    rows: impl Iterator<Item = ([String; 2], &'a String)>,
    style: Style,
) -> String {
    let mut columns = vec![(kind, Align::Left), ("what it does", Align::Left)];
    let wide = style.width() >= 64;
    if wide {
        columns.push(("from", Align::Left));
    }
    let mut table = Table::new(style, &columns);
    for (cells, source) in rows {
        let mut cells = cells.to_vec();
        if wide {
            cells.push(source.clone());
        }
        table.row(&cells);
    }
    table.render()
}

/// All options, after an empty line; nothing if there are none.
fn options<'a>(
    rows: impl Iterator<Item = (&'a String, &'a Vec<OptionRow>)>,
    style: Style,
) -> String {
    let columns =
        [("option", Align::Left), ("default", Align::Right), ("what it does", Align::Left)];
    let mut table = Table::new(style, &columns);
    let mut any = false;
    for (of, options) in rows {
        for option in options {
            any = true;
            let name = format!("{of}:{}", option.name);
            table.row(&[name, option.default.to_string(), option.about.clone()]);
        }
    }
    if any { format!("\n{}", table.render()) } else { String::new() }
}
