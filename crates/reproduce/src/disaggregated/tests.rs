//! Small sets of each figure.

use super::{
    ablations, bounds, cxl, figure_3, figure_5, figure_6, figure_7, misses, open_rows, payback,
    programs, runs, two_stages,
};
use crate::Context;
use std::path::Path;

#[test]
fn each_figure_has_rows_and_pictures() {
    for figure in [figure_3::FIGURE, figure_5::FIGURE, figure_6::FIGURE, figure_7::FIGURE] {
        let outcome = (figure.run)(&Context::in_memory(1)).unwrap();
        assert!(outcome.rows.iter().all(|row| row.ours.is_finite()), "{outcome:?}");
        assert!(!outcome.rows.is_empty() && !outcome.series.is_empty(), "{}", figure.id);
        assert!(outcome.series.iter().all(|series| !series.points.is_empty()), "{outcome:?}");
    }
    let ours = [ablations::FIGURE, payback::FIGURE, payback::SEEDS, cxl::FIGURE];
    for figure in ours.into_iter().chain([misses::FIGURE, open_rows::FIGURE, two_stages::FIGURE]) {
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

#[test]
fn gains_grow_with_the_latency_of_the_slow_memory() {
    let outcome = (figure_7::FIGURE.run)(&Context::in_memory(1)).unwrap();
    let over_none = outcome.series.iter().filter(|series| series.name == "over no migration");
    for series in over_none {
        for pair in series.points.windows(2) {
            assert!(pair[1].1 > pair[0].1, "{series:?}");
        }
    }
}

#[test]
fn thresholds_of_70_and_100_move_nothing_in_short_epochs() {
    let outcome = (figure_5::FIGURE.run)(&Context::in_memory(1)).unwrap();
    let signs = outcome.rows.iter().filter(|row| row.what.ends_with("in which something moves"));
    let [high, low]: [Vec<_>; 2] =
        signs.partition::<Vec<_>, _>(|row| !row.what.contains("threshold 50")).into();
    assert!(high.len() == 4 && high.iter().all(|row| row.ours == 0.0), "{high:?}");
    // Pages of miniFE reach all of their 64 lines within 100 K cycles.
    assert!(low.iter().any(|row| row.ours > 0.0), "{low:?}");
}

/// A table of the figures as they were run, whole, for all five programs; lines with these words.
fn as_run(table: &str, words: &[&str]) -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../benches/results/reproduce");
    let text = std::fs::read_to_string(folder.join(table)).unwrap();
    let wanted = |line: &&str| words.iter().all(|word| line.contains(word));
    text.lines().filter(wanted).map(str::to_owned).collect()
}

/// What stands at the end of a line of a series.
fn value_of(line: &str) -> f64 {
    line.rsplit(',').next().unwrap().parse().unwrap()
}

#[test]
fn signs_hold_for_all_five_programs_as_the_figures_were_run() {
    let nothing = as_run("disaggregated-5.csv", &["in which something moves", "threshold "]);
    let (at_50, above): (Vec<_>, Vec<_>) =
        nothing.iter().partition(|line| line.contains("threshold 50,"));
    assert_eq!((at_50.len(), above.len()), (5, 10));
    assert!(above.iter().all(|line| line.contains(",,0,0,,")), "{above:?}");
    for program in ["LULESH", "SimpleMOC", "PENNANT", "miniFE", "IS"] {
        let name = format!(",{program},");
        let nodes = |nodes: &str| {
            let lines = as_run("disaggregated-3-series.csv", &["Instructions per", nodes, &name]);
            value_of(&lines[0])
        };
        let ipc = [",1 node,", ",2 nodes,", ",4 nodes,", ",8 nodes,"].map(nodes);
        assert!(ipc.is_sorted_by(|fewer, more| fewer > more), "{program}: {ipc:?}");
        let gains =
            as_run("disaggregated-7-series.csv", &[&format!("{program},"), ",over no migration,"]);
        let gains: Vec<f64> = gains.iter().map(|line| value_of(line)).collect();
        assert!(gains.len() == 5 && gains[0] < gains[4], "{program}: {gains:?}");
    }
}

#[test]
fn where_banks_keep_rows_open_is_gains_and_loses_as_published_as_the_figure_was_run() {
    let ours = |words: &[&str]| -> Vec<f64> {
        // "Figure 6, IS: 10K cycles, ...",x,PUBLISHED,OURS,...
        let of = |line: &String| line.split("\",").nth(1)?.split(',').nth(2)?.parse().ok();
        as_run("disaggregated-open-rows.csv", words).iter().filter_map(of).collect()
    };
    let [dear] = ours(&["Figure 6, IS: 10K cycles, 8 us"])[..] else { panic!() };
    let [cheap] = ours(&["Figure 6, IS: 10K cycles, 1 us"])[..] else { panic!() };
    assert!(dear < 0.8 && cheap > 1.1, "{dear} {cheap}");
    let lost = ours(&["Figure 5, IS: 10K cycles"]);
    assert!(lost.len() == 2 && lost.iter().all(|gain| *gain < 0.75), "{lost:?}");
}

#[test]
fn no_cell_gains_more_than_the_banks_allow_as_the_figures_were_run() {
    let cells = as_run("disaggregated-5-series.csv", &["epoch "]);
    assert_eq!(cells.len(), 625);
    for line in cells {
        // "M 50, epoch 1M",LULESH,no,threshold,gain,10,1.7 beside epoch 1M,LULESH,no,...,50,3.9
        let panel = line.split('"').nth(1).unwrap();
        let (most, epoch) = panel.strip_prefix("M ").unwrap().split_once(", ").unwrap();
        let program = line.split("\",").nth(1).unwrap().split(',').next().unwrap();
        let words = [format!("{epoch},{program},"), format!(",{most},")];
        let words = [words[0].as_str(), words[1].as_str()];
        let bound = value_of(&as_run("disaggregated-bounds-series.csv", &words)[0]);
        // Instructions per cycle are means of cores, the bound is of when the last is done.
        assert!(value_of(&line) <= 1.02 * bound, "{line} is above {bound}");
    }
}

#[test]
fn bounds_grow_with_the_pages_that_may_come() {
    let outcome = (bounds::FIGURE.run)(&Context::in_memory(1)).unwrap();
    assert_eq!(outcome.series.len(), 10);
    for series in &outcome.series {
        let bounds: Vec<f64> = series.points.iter().map(|(_, bound)| *bound).collect();
        assert!(bounds.is_sorted(), "{series:?}");
    }
    let long = outcome.series.iter().filter(|series| series.panel == "epoch 100M");
    let few: Vec<f64> = long.map(|series| series.points[0].1).collect();
    assert!(few.len() == 2 && few.iter().all(|bound| *bound < 1.5), "one page: {few:?}");
}

#[test]
fn payback_stands_beside_the_best_cell_of_figure_5_as_that_was_run() {
    let best = as_run("disaggregated-5.csv", &[": best of all cells ("]);
    for ((program, (epoch, most, threshold)), line) in figure_5::BEST.iter().zip(&best) {
        let (_, name) = figure_5::EPOCHS.iter().find(|(cycles, _)| cycles == epoch).unwrap();
        let cell = format!(
            "{}: best of all cells ({name}, M {most}, threshold {threshold})",
            runs::title(program)
        );
        assert!(line.contains(&cell), "{line} is not {cell}");
    }
    assert_eq!(best.len(), figure_5::BEST.len());
}

#[test]
fn pages_that_pay_for_their_move_are_never_behind_no_migration() {
    for figure in [payback::FIGURE, payback::SEEDS] {
        let outcome = (figure.run)(&Context::in_memory(1)).unwrap();
        let gains: Vec<_> =
            outcome.rows.iter().filter(|row| row.what.ends_with(": gain")).collect();
        assert!(gains.len() >= 2 && gains.iter().all(|row| row.ours > 0.98), "{gains:?}");
    }
}
