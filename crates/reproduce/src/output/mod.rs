//! Figures as text for a terminal, as Markdown, as JSON and as CSV files.

mod csv;
mod json;
mod list;
mod markdown;
mod number;
mod text;

pub use csv::write_csv;
pub use json::json;
pub use list::{list, list_json};
pub use markdown::markdown;
pub use text::text;

use crate::outcome::{Row, Tolerance, Verdict};
use crate::{Figure, Outcome};

/// A figure and what it came to.
#[derive(Clone, Debug)]
pub struct Done {
    /// The figure.
    pub figure: &'static Figure,
    /// What it came to.
    pub outcome: Outcome,
}

/// What it is called in headings: `Figure 8`, `Table 2`, `Section 4.5.1`.
fn name(figure: &Figure) -> String {
    match figure.id.split_once('-') {
        Some(("table", rest)) => format!("Table {rest}"),
        Some(("section", rest)) => format!("Section {rest}"),
        _ if figure.id.contains('.') => format!("Section {}", figure.id),
        _ => format!("Figure {}", figure.id),
    }
}

/// `1/2 to 2`, `± 10 %`, or nothing.
fn within(tolerance: Tolerance) -> String {
    match tolerance {
        Tolerance::Ratio(most) => format!("1/{0} to {0}", number::short(most)),
        Tolerance::Percent(most) => format!("± {} %", number::short(most)),
        Tolerance::None => String::new(),
    }
}

fn verdict(row: &Row) -> &'static str {
    match row.verdict() {
        Some(Verdict::Met) => "met",
        Some(Verdict::Missed) => "missed",
        None => "",
    }
}

/// `5 of 7 published numbers are met`, or nothing where none was promised.
fn summary(outcome: &Outcome) -> Option<String> {
    let verdicts: Vec<Verdict> = outcome.rows.iter().filter_map(Row::verdict).collect();
    let met = verdicts.iter().filter(|verdict| **verdict == Verdict::Met).count();
    let plural = if verdicts.len() == 1 { "number is" } else { "numbers are" };
    (!verdicts.is_empty()).then(|| format!("{met} of {} published {plural} met", verdicts.len()))
}

/// The figures that the tests of outputs render.
#[cfg(test)]
pub(crate) mod example {
    use super::*;
    use crate::{Context, Paper, ReproduceError, Series};

    pub(crate) const FIGURE: Figure = Figure {
        id: "table-2",
        title: "What a copy takes",
        source: "section 3.2",
        slow: false,
        run,
    };

    pub(crate) const PAPER: Paper = Paper {
        name: "example",
        title: "A, \"B\", C 2020",
        scale: 64,
        figures: &[FIGURE],
        parts: &[],
    };

    #[expect(clippy::unnecessary_wraps, reason = "as every figure")]
    fn run(_: &Context) -> Result<Outcome, ReproduceError> {
        Ok(Outcome {
            rows: vec![
                Row::new("one thread, 4 KiB", "GB/s", 3.0).published(2.5, Tolerance::Ratio(1.5)),
                Row::new("four \"threads\"", "GB/s", 20.0)
                    .published(10.0, Tolerance::Percent(5.0))
                    .why("another | machine"),
                Row::new("time", "us", 12_345.6),
            ],
            notes: vec!["Memory is smaller.".to_owned()],
            series: vec![
                Series::new("copy", "threads", "GB/s").points([(1u32, 3.0), (4, 20.0)]),
                Series::new("copy", "program", "GB/s").published().panel("b").point("x, y", 0.5),
            ],
        })
    }

    pub(crate) fn done() -> Done {
        let figure = &PAPER.figures[0];
        Done { figure, outcome: figure.make(&Context::in_memory(64)).unwrap() }
    }

    #[test]
    fn names_are_those_of_a_paper() {
        let named = |id| name(&Figure { id, ..FIGURE });
        assert_eq!(
            ["8", "table-2", "4.5.1", "section-5"].map(named),
            ["Figure 8", "Table 2", "Section 4.5.1", "Section 5"]
        );
        assert_eq!(summary(&done().outcome).unwrap(), "1 of 2 published numbers are met");
        assert_eq!(summary(&Outcome::default()), None);
    }
}
