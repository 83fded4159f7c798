//! What a machine offers: one line per finding, what it means below.

use crate::Style;
use serde::Serialize;

/// How much a finding matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Mark {
    /// As wanted.
    Ok,
    /// Worth knowing.
    Note,
    /// Must be mended.
    Missing,
}

/// One finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FindingRow {
    /// How much it matters.
    pub mark: Mark,
    /// Its short name.
    pub name: String,
    /// What was found.
    pub value: String,
    /// What it means; may be empty.
    pub meaning: String,
}

/// Renders findings and the conclusion.
#[must_use]
pub fn doctor(rows: &[FindingRow], conclusion: &str, style: Style) -> String {
    let mut out = String::new();
    for row in rows {
        let mark = match row.mark {
            Mark::Ok => style.in_colour(2, "ok      "),
            Mark::Note => style.in_colour(3, "note    "),
            Mark::Missing => style.in_colour(1, "MISSING "),
        };
        let name = format!("{:<18}", row.name);
        let line = style.paragraph(&" ".repeat(26), &row.value);
        out += &format!("{mark}{}{}", style.bold(&name), line.trim_start());
        if !row.meaning.is_empty() {
            out += &style.dim(&style.paragraph("        ", &row.meaning));
        }
    }
    out.push('\n');
    out += &style.paragraph("", conclusion);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_finding_has_its_mark_and_meaning() {
        let row = |mark, name: &str| FindingRow {
            mark,
            name: name.into(),
            value: "value".into(),
            meaning: "what it means".into(),
        };
        let rows = [row(Mark::Ok, "btf"), row(Mark::Missing, "root")];
        let text = doctor(&rows, "No.", Style::new(60, false));
        assert_eq!(
            text,
            "ok      btf               value\n        what it means\n\
             MISSING root              value\n        what it means\n\nNo.\n"
        );
    }
}
