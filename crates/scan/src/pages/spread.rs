//! How different the pages of a piece are: the shape of a gamma distribution of their rates. Hot
//! pages are seen first, and those still unseen are the colder the longer they have been: after a
//! time t the mean rate of the unseen is shape / (shape / mean + t). The fewer trials fall off
//! along the ladder of gaps, the more alike are the pages.

use crate::evidence::{Evidence, Step};

/// Bounds of the shape: a few hot pages among cold ones; all alike.
const SHAPES: (f64, f64) = (1.0 / 128.0, 128.0);
/// What is expected before anything is known, and within which factor (standard deviation).
const USUAL: f64 = 0.5;
const WITHIN: f64 = 8.0;
/// Steps of a factor of 2 from one epoch to the next at most; more at the start.
const STEPS: usize = 2;
const FIRST_STEPS: usize = 14;

/// The likeliest shape, given the mean rate of a page (above 0) and the shape found before.
pub(crate) fn shape(ladder: &Evidence, mean: f64, before: Option<f64>) -> f64 {
    let steps: Vec<Step> = ladder.steps().collect();
    let fit = |shape: f64| likelihood(&steps, shape, mean);
    let mut best = before.unwrap_or(USUAL);
    let mut value = fit(best);
    let most = if before.is_some() { STEPS } else { FIRST_STEPS };
    for factor in [0.5, 2.0] {
        for _ in 0..most {
            let next = best * factor;
            let found = if next < SHAPES.0 || next > SHAPES.1 { f64::MIN } else { fit(next) };
            if found <= value {
                break;
            }
            (best, value) = (next, found);
        }
    }
    best
}

/// Logarithm of the likelihood.
fn likelihood(steps: &[Step], shape: f64, mean: f64) -> f64 {
    let start = shape / mean;
    let of_step = |step: &Step| {
        let hazard = shape * ((start + step.to_s) / (start + step.from_s)).ln();
        step.seen * (-(-hazard).exp_m1()).max(1e-12).ln() - (step.asked - step.seen) * hazard
    };
    let off = (shape / USUAL).ln() / WITHIN.ln();
    steps.iter().map(of_step).sum::<f64>() - off * off / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Trials of 512 pages with these rates after one clearing, as expected.
    fn ladder(rates: &[f64]) -> Evidence {
        let mut evidence = Evidence::default();
        let mut before = 0u64;
        for gap in [320_000, 5_120_000, 81_920_000, 1_310_720_000, 4_000_000_000u64] {
            let unseen = |ns: u64| -> f64 {
                rates.iter().map(|rate| (-rate * ns as f64 * 1e-9).exp()).sum::<f64>()
                    / rates.len() as f64
                    * 512.0
            };
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 512")]
            let whole = |pages: f64| pages.round() as u16;
            let (asked, left) = (whole(unseen(before)), whole(unseen(gap)));
            evidence.note(asked, asked - left, gap - before, gap, before == 0);
            before = gap;
        }
        evidence
    }

    #[test]
    fn alike_and_different_pages_are_told_apart() {
        assert!(shape(&ladder(&[1.0]), 1.0, None) >= 16.0);
        assert!(shape(&ladder(&[30.0]), 30.0, None) >= 16.0);
        let halves = shape(&ladder(&[500.0, 5.0]), 252.0, None);
        assert!((0.2..2.0).contains(&halves), "{halves}");
        let mut few = vec![0.01; 500];
        few.extend([1_000.0; 12]);
        let few = shape(&ladder(&few), 23.0, None);
        assert!(few < 0.1, "{few}");
    }

    #[test]
    fn it_changes_little_from_epoch_to_epoch() {
        let alike = ladder(&[1.0]);
        assert!(shape(&alike, 1.0, Some(0.5)) <= 2.0);
        assert!((shape(&Evidence::default(), 1.0, Some(4.0)) - 1.0).abs() < 1.1, "none, no reason");
    }
}
