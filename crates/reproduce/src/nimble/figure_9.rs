//! Figure 9: one page copied by several threads: good for huge pages, bad for base pages.

use super::calibration::{Moves, WITHIN};
use crate::{Context, Figure, Outcome, ReproduceError, Row, Series};

pub(super) const FIGURE: Figure = Figure {
    id: "9",
    title: "one page copied by several threads",
    source: "section 4.2.2",
    slow: false,
    run,
};

fn run(_: &Context) -> Result<Outcome, ReproduceError> {
    let mut outcome = Outcome::default();
    for (huge, panel) in [(true, "2 MiB"), (false, "4 KiB")] {
        let mut series = Series::new("parallel", "threads", "GB/s").panel(panel);
        let serial = Moves::serial(huge).up(1)?;
        for threads in [1u32, 2, 4, 8, 16] {
            let moves = Moves { threads, ..Moves::serial(huge) };
            series = series.point(threads, moves.up(1)?.gb_s());
        }
        let four = Moves { threads: 4, ..Moves::serial(huge) }.up(1)?;
        let row =
            Row::new(format!("{panel}: 4 threads over one"), "x", serial.total_ns / four.total_ns);
        outcome.rows.push(if huge { row.published(2.8, WITHIN) } else { row });
        outcome.series.push(series);
    }
    outcome
        .notes
        .push("for 4 KiB the text says that threads do not help: ours must be at most 1".into());
    Ok(outcome)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_help_huge_pages_and_harm_base_pages() {
        let outcome = run(&Context::in_memory(64)).unwrap();
        assert!(outcome.rows[0].ours > 2.0 && outcome.rows[1].ours < 1.0, "{:?}", outcome.rows);
    }
}
