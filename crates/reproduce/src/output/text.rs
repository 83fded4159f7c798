//! A figure for a terminal.

use super::{Done, name, number, summary, verdict, within};
use crate::Paper;
use comfy_table::{Cell, CellAlignment, ContentArrangement, LineStyle, Table, TableStyle};

/// The columns, and whether they hold numbers.
const COLUMNS: [(&str, bool); 6] = [
    ("", false),
    ("published", true),
    ("ours", true),
    ("ratio", true),
    ("within", false),
    ("", false),
];

/// The figure's numbers in so many columns, with what is to be known of them.
#[must_use]
pub fn text(paper: &Paper, done: &Done, width: usize) -> String {
    let Done { figure, outcome } = done;
    let mut text = format!("{}: {}\n", name(figure), figure.title);
    text += &format!("  {}, {}\n", paper.name, figure.source);
    if !outcome.rows.is_empty() {
        text += &format!("\n{}", table(done, width));
    }
    let whys = outcome.rows.iter().filter_map(|row| Some((&row.what, row.why.as_ref()?)));
    let whys: Vec<String> = whys.map(|(what, why)| format!("{what}: {why}")).collect();
    let said = summary(outcome).into_iter().chain(whys).chain(outcome.notes.iter().cloned());
    let said: String = said.map(|line| wrapped("  - ", &line, width)).collect();
    if said.is_empty() { text } else { format!("{text}\n{said}") }
}

fn table(done: &Done, width: usize) -> String {
    let mut table = new(&COLUMNS, width);
    for row in &done.outcome.rows {
        let unit =
            |value: f64| format!("{} {}", number::short(value), row.unit).trim_end().to_owned();
        let cells = [
            row.what.clone(),
            row.published.map_or_else(String::new, unit),
            unit(row.ours),
            row.ratio().map_or_else(String::new, number::ratio),
            within(row.within),
            verdict(row).to_owned(),
        ];
        add(&mut table, &COLUMNS, &cells);
    }
    rendered(&table)
}

/// A table that looks as those of crates/report: a rule under the header, no other lines.
pub(super) fn new(columns: &[(&str, bool)], width: usize) -> Table {
    let mut table = Table::new();
    let rule = TableStyle::new().header_separator(LineStyle::none().fill('─').junction('─'));
    table
        .load_style(rule)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_width(u16::try_from(width).unwrap_or(80).saturating_sub(1))
        .set_header(columns.iter().map(|(name, is_number)| cell(name, *is_number)));
    for column in table.column_iter_mut() {
        column.set_padding((1, 1));
    }
    table
}

pub(super) fn add(table: &mut Table, columns: &[(&str, bool)], cells: &[String]) {
    let cells = cells.iter().zip(columns).map(|(text, (_, is_number))| cell(text, *is_number));
    table.add_row(cells.collect::<Vec<_>>());
}

/// The lines, indented by one, without spaces at their ends.
pub(super) fn rendered(table: &Table) -> String {
    table.lines().map(|line| format!(" {}\n", line.trim_end())).collect()
}

fn cell(text: &str, is_number: bool) -> Cell {
    let side = if is_number { CellAlignment::Right } else { CellAlignment::Left };
    Cell::new(text).set_alignment(side)
}

/// A paragraph, every line indented, the first with `first`.
fn wrapped(first: &str, text: &str, width: usize) -> String {
    let indent = " ".repeat(first.chars().count());
    let (mut out, mut column) = (first.to_owned(), indent.len());
    for (number, word) in text.split_whitespace().enumerate() {
        let len = word.chars().count();
        if number > 0 && column + 1 + len > width {
            out += &format!("\n{indent}");
            column = indent.len();
        } else if number > 0 {
            out.push(' ');
            column += 1;
        }
        out += word;
        column += len;
    }
    out + "\n"
}

#[cfg(test)]
mod tests {
    use super::super::example::{PAPER, done};
    use super::*;

    #[test]
    fn published_and_ours_stand_beside_each_other_with_the_ratio() {
        let shown = text(&PAPER, &done(), 80);
        let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
        let lines: Vec<String> = shown.lines().map(words).filter(|line| !line.is_empty()).collect();
        let expected = [
            "Table 2: What a copy takes",
            "example, section 3.2",
            "published ours ratio within",
            &"─".repeat(lines[3].chars().count()),
            "one thread, 4 KiB 2.5 GB/s 3 GB/s 1.20 1/1.5 to 1.5 met",
            "four \"threads\" 10 GB/s 20 GB/s 2.00 ± 5 % missed",
            "time 12346 us",
            "- 1 of 2 published numbers are met",
            "- four \"threads\": another | machine",
            "- Memory is smaller.",
        ];
        assert_eq!(lines, expected, "{shown}");
    }

    #[test]
    fn no_line_is_wider_than_asked() {
        for width in [50, 64, 80, 100] {
            let shown = text(&PAPER, &done(), width);
            assert!(shown.lines().all(|line| line.chars().count() <= width), "{width}:\n{shown}");
        }
    }
}
