//! What Figure 5's text says without numbers, as numbers: signs, and where peaks are.

use super::figure_5::{Cells, EPOCHS, THRESHOLDS};
use super::runs::title;
use crate::{Outcome, Row, Tolerance};

/// Cycles of the epoch at which the text has a program's peak.
const PEAKS: [(&str, f64); 2] = [("simplemoc", 1e6), ("minife", 1e7)];
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
    let best = cells.iter().max_by(|a, b| a.1.total_cmp(b.1));
    let peak = PEAKS.iter().find(|(of, _)| *of == program);
    if let (Some(((epoch, ..), _)), Some((_, published))) = (best, peak) {
        row("cycles of the best cell's epoch", *epoch as f64, *published, Tolerance::Ratio(10.0));
    }
}

/// Over all cells with a published gain that is 5 % or more from none.
pub(super) fn median(outcome: &mut Outcome, cells: &[(f64, f64)]) {
    let mut ratios: Vec<f64> = cells
        .iter()
        .filter(|(_, published)| (published - 1.0).abs() >= 0.05)
        .map(|(ours, published)| ours / published)
        .collect();
    if ratios.is_empty() {
        return;
    }
    ratios.sort_by(f64::total_cmp);
    let what = format!("median ratio of {} cells published 5 % or more from 1", ratios.len());
    let row = Row::new(what, "", ratios[ratios.len() / 2]);
    outcome.rows.push(row.published(1.0, Tolerance::Percent(25.0)));
}
