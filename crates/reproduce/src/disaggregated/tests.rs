//! Small sets of each figure.

use super::{ablations, cxl, figure_3, figure_5, figure_6, figure_7, payback, programs};
use crate::Context;

#[test]
fn each_figure_has_rows_and_pictures() {
    for figure in [figure_3::FIGURE, figure_5::FIGURE, figure_6::FIGURE, figure_7::FIGURE] {
        let outcome = (figure.run)(&Context::in_memory(1)).unwrap();
        assert!(outcome.rows.iter().all(|row| row.ours.is_finite()), "{outcome:?}");
        assert!(!outcome.rows.is_empty() && !outcome.series.is_empty(), "{}", figure.id);
        assert!(outcome.series.iter().all(|series| !series.points.is_empty()), "{outcome:?}");
    }
    for figure in [ablations::FIGURE, payback::FIGURE, payback::SEEDS, cxl::FIGURE] {
        let outcome = (figure.run)(&Context::in_memory(1)).unwrap();
        assert!(outcome.rows.iter().all(|row| row.ours.is_finite()), "{outcome:?}");
        assert!(!outcome.rows.is_empty(), "{}", figure.id);
    }
}

#[test]
fn nodes_added_slow_every_program() {
    let outcome = (figure_3::FIGURE.run)(&Context::in_memory(1)).unwrap();
    let ipcs: Vec<_> =
        outcome.series.iter().filter(|series| series.panel.starts_with("Instructions")).collect();
    // Conventional, 1, 2, 4, 8.
    for pair in ipcs[1..].windows(2) {
        for ((program, fewer), (_, more)) in pair[0].points.iter().zip(&pair[1].points) {
            assert!(more <= fewer, "{program:?}: {fewer} {more}");
        }
    }
}

#[test]
fn simplemoc_is_as_measured_in_a_short_window() {
    let outcome = (programs::FIGURE.run)(&Context::in_memory(1)).unwrap();
    let rate =
        outcome.rows.iter().find(|row| row.what == "simplemoc: misses for 1,000 instructions");
    let ratio = rate.and_then(crate::Row::ratio).unwrap();
    assert!((0.8..1.2).contains(&ratio), "{outcome:?}");
}
