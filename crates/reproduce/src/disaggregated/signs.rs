//! What Figure 5's text says without numbers, as numbers: signs, and where peaks are.

use super::figure_5::{Cells, EPOCHS, THRESHOLDS};
use super::runs::title;
use super::statistics;
use crate::simulated::geomean;
use crate::{Outcome, Row, Tolerance};

/// Cycles of the epoch, M and threshold at which the text has a program's peak; of miniFE's thresholds, up to
/// 50, the middle one.
const PEAKS: [(&str, [f64; 3]); 2] =
    [("simplemoc", [1e6, 50.0, 10.0]), ("minife", [1e7, 500.0, 30.0])];
/// A step of each of these axes at least, and less than two.
const STEP: [f64; 3] = [10.0, 5.0, 3.0];
/// A gain as near to none as this is none, percent.
const NONE: Tolerance = Tolerance::Percent(5.0);

pub(super) fn rows(program: &str, cells: &Cells, outcome: &mut Outcome) {
    let name = title(program);
    let mut row = |what: &str, ours: f64, published: f64, within: Tolerance| {
        outcome
            .rows
            .push(Row::new(format!("{name}: {what}"), "", ours).published(published, within));
    };
    let gains = |wanted: &dyn Fn(u64, u32, u32) -> bool| -> Vec<f64> {
        let of = |((epoch, most, threshold), gain): (&(u64, u32, u32), &f64)| {
            wanted(*epoch, *most, *threshold).then_some(*gain)
        };
        cells.iter().filter_map(of).collect()
    };
    let largest = |gains: &[f64]| gains.iter().copied().fold(0.0, f64::max);
    let moved = |gains: &[f64]| gains.iter().filter(|gain| **gain != 1.0).count() as f64;
    let short = EPOCHS[1].0;
    for threshold in &THRESHOLDS[2..] {
        let of = gains(&|epoch, _, at| epoch <= short && at == *threshold);
        let what =
            format!("cells of threshold {threshold}, epochs to 100K, in which something moves");
        row(&what, moved(&of), 0.0, Tolerance::Percent(0.0));
    }
    row("largest gain with M 1", largest(&gains(&|_, most, _| most == 1)), 1.0, NONE);
    let long = gains(&|epoch, most, _| epoch == EPOCHS[4].0 && most <= 100);
    if !long.is_empty() {
        row("largest gain with epochs of 100M, M to 100", largest(&long), 1.0, NONE);
    }
    if let Some((_, published)) = PEAKS.iter().find(|(of, _)| *of == program) {
        let names = ["cycles of the best cell's epoch", "its M", "its threshold"];
        let best = best(cells, *published);
        for (((name, ours), published), step) in names.iter().zip(best).zip(published).zip(STEP) {
            row(name, ours, *published, Tolerance::Ratio(step));
        }
    }
    let longest = gains(&|epoch, most, _| epoch == EPOCHS[4].0 && most == 500);
    if !longest.is_empty() {
        let what = format!("{name}: largest gain with epochs of 100M, M 500");
        outcome.rows.push(Row::new(what, "x", largest(&longest)));
    }
}

/// The best cell; of equals the one nearest to what was published.
fn best(cells: &Cells, published: [f64; 3]) -> [f64; 3] {
    let largest = cells.values().copied().fold(0.0, f64::max);
    let off = |cell: &[f64; 3]| {
        cell.iter().zip(published).map(|(ours, published)| (ours / published).ln().abs()).sum()
    };
    cells
        .iter()
        .filter(|(_, gain)| **gain == largest)
        .map(|((epoch, most, threshold), _)| {
            [*epoch as f64, f64::from(*most), f64::from(*threshold)]
        })
        .min_by(|a, b| f64::total_cmp(&off(a), &off(b)))
        .unwrap_or_default()
}

/// Over all cells, ours and published, with a published gain that is 5 % or more from none; and over the numbers that
/// were published, of which one may stand for several cells, next to each other here.
pub(super) fn median(outcome: &mut Outcome, cells: &[(f64, f64)]) {
    let cells: Vec<(f64, f64)> =
        cells.iter().copied().filter(|(_, published)| (published - 1.0).abs() >= 0.05).collect();
    let ratio = |(ours, published): &(f64, f64)| ours / published;
    let numbers = cells.chunk_by(|(_, one), (_, other)| one == other);
    let numbers = numbers.map(|cells| geomean(cells.iter().map(ratio)));
    let all = [
        ("cells", cells.iter().map(ratio).collect::<Vec<f64>>()),
        ("numbers, each once,", numbers.collect()),
    ];
    for (name, mut ratios) in all {
        if ratios.is_empty() {
            return;
        }
        let of = format!("of {} {name} published 5 % or more from 1", ratios.len());
        let row = Row::new(format!("median ratio {of}"), "", statistics::median(&mut ratios));
        outcome.rows.push(row.published(1.0, Tolerance::Percent(25.0)));
        let mut off: Vec<f64> = ratios.iter().map(|ratio| ratio.ln().abs()).collect();
        let factor = statistics::median(&mut off).exp();
        outcome.rows.push(Row::new(format!("median factor off, either way, {of}"), "x", factor));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Verdict;

    #[test]
    fn of_equal_cells_the_one_nearest_to_what_was_published_counts() {
        let cells =
            [((1_000_000, 100, 10), 2.0), ((1_000_000, 500, 10), 2.0), ((10_000, 50, 10), 1.9)];
        let mut outcome = Outcome::default();
        rows("simplemoc", &cells.into(), &mut outcome);
        let of = |what: &str| {
            let row = outcome.rows.iter().find(|row| row.what.ends_with(what)).unwrap();
            (row.ours, row.verdict())
        };
        assert_eq!(of("its M"), (100.0, Some(Verdict::Met)), "a step from 50");
        // Two steps are too many.
        let mut outcome = Outcome::default();
        rows("simplemoc", &[((1_000_000, 500, 10), 2.0)].into(), &mut outcome);
        let row = outcome.rows.iter().find(|row| row.what.ends_with("its M")).unwrap();
        assert_eq!((row.ours, row.verdict()), (500.0, Some(Verdict::Missed)));
    }

    #[test]
    fn the_median_lies_between_the_two_in_the_middle() {
        let mut outcome = Outcome::default();
        median(&mut outcome, &[(1.0, 2.0), (2.0, 2.0), (7.0, 1.01)]);
        assert_eq!(outcome.rows[0].ours, 0.75);
    }

    #[test]
    fn a_number_that_stands_for_several_cells_counts_once() {
        let mut outcome = Outcome::default();
        median(&mut outcome, &[(2.0, 2.0), (2.0, 2.0), (1.0, 4.0), (6.0, 3.0)]);
        let found: Vec<f64> = outcome.rows.iter().map(|row| row.ours).collect();
        // Of 1, 1, 1/4 and 2; of 1, 1/4 and 2.
        let right = [1.0, 2.0_f64.sqrt(), 1.0, 2.0];
        assert!(
            found.iter().zip(right).all(|(found, right)| (found - right).abs() < 1e-9),
            "{found:?}"
        );
    }
}
