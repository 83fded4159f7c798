//! Table 6 beside ours: the intervals until the choice follows a change of the program, in both
//! time scales, as counts and over what was published.

use super::choices::{MIXES, Row, TIES};
use super::page::{PUBLISHED_RATIO, phases, until};
use std::fmt::Write as _;

/// The rules that are compared, as places in [`TIES`]: the published code's, the same with
/// algorithm 1's choice between equal means, and ours.
pub(crate) const RULES: [usize; 3] = [4, 3, 0];

/// What was replayed of one recording.
pub(crate) struct Table {
    pub(crate) name: String,
    /// Seconds between two decisions; 5 in the paper.
    pub(crate) interval_s: f64,
    pub(crate) rows: Vec<Row>,
}

/// Intervals until the choice follows the change into this program, median over the phases, at the
/// published ratio; `Some(None)` if it does not.
pub(crate) fn median(table: &Table, ties: usize, program: usize) -> Option<Option<usize>> {
    let phases = phases(&table.rows, PUBLISHED_RATIO, ties);
    let stays: Vec<_> = phases.iter().filter_map(|row| row.stays.get(program)).collect();
    until(&stays).get(stays.len() / 2).copied()
}

/// The table for all recordings.
pub(crate) fn section(tables: &[Table]) -> String {
    let mut text = String::from(
        "\n### Table 6: intervals until the choice follows, published and ours\n\n\
         Half of the memory is fast. Median over the phases, and in brackets over what was \
         published. An interval is 5 s in the paper; a scaled one is 1 s.\n\n\
         | programs | interval | equal ages or frequencies |",
    );
    for (number, (name, ..)) in (1..).zip(MIXES) {
        // Writing to a string cannot fail.
        let _ = write!(text, " {number} {name} |");
    }
    text.push_str("\n|---|---|---|---|---|---|---|---|---|\n| published | 5 s | not said |");
    for (.., published) in MIXES {
        let _ = write!(text, " {published} |");
    }
    text.push('\n');
    for table in tables {
        for ties in RULES {
            let cell =
                |(_, program, published): (&str, usize, u32)| match median(table, ties, program) {
                    Some(Some(median)) => {
                        format!("{median} ({:.2})", median as f64 / f64::from(published))
                    }
                    Some(None) => "never".into(),
                    None => "–".into(),
                };
            let (name, interval, cells) = (&table.name, table.interval_s, MIXES.map(cell));
            let cells = cells.join(" | ");
            let _ = writeln!(text, "| `{name}` | {interval:.0} s | {} | {cells} |", TIES[ties].1);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::right::{Choice, Interval, stays};
    use super::*;

    #[test]
    fn what_is_missed_has_its_ratio_too() {
        // All seven programs, of six intervals each: the third is the first one right.
        let favour = super::super::choices::PROGRAMS;
        let other = |choice| if choice == Choice::Lru { Choice::Lfu } else { Choice::Lru };
        let intervals: Vec<Interval> = (0..7 * 6)
            .map(|at| {
                let (program, right) = (at / 6, favour[at / 6]);
                let choice = if at % 6 < 2 { other(right) } else { right };
                Interval { program: Some(program), choice, lru: 0.5, lfu: 0.4 }
            })
            .collect();
        let stays = stays(&intervals, |program| favour[program]);
        let rows = RULES.map(|ties| Row { ratio: 0.5, ties, phase: 0, stays: stays.clone() });
        let text = section(&[Table { name: "code".into(), interval_s: 5.0, rows: rows.to_vec() }]);
        let line = "| `code` | 5 s | what is fast stays | 3 (0.11) | 3 (0.18) | 3 (1.50) | 3 (1.50) | 3 (1.00) | 3 (0.75) |";
        assert!(
            text.contains("| published | 5 s | not said | 27 | 17 | 2 | 2 | 3 | 4 |"),
            "{text}"
        );
        assert!(text.lines().any(|found| found == line), "{text}");
    }
}
