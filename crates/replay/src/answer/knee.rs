//! Where a curve of hits bends: the size of the hot set, if there is one.

use crate::Curve;
use pagetide_types::Bytes;

/// Slopes below this share of the mean slope count as this much: memory that nobody touches.
const UNTOUCHED: f64 = 1e-3;
/// The two sides of a knee differ at least by this factor in hits per byte; below, the estimates'
/// own noise makes such a bend.
const DISTINCT: f64 = 3.0;

/// The capacity that best parts hot memory from cold: what lies below it and what lies above
/// it differ most in hits per byte, on a logarithmic scale (Otsu, "A threshold selection method
/// from gray-level histograms", 1979). The whole footprint if no part is clearly hotter.
///
/// Noise in the rates of equally hot units bends a curve all along its hot part; the greatest
/// distance from a straight line (the usual knee) then lies somewhere in the middle of it.
#[must_use]
pub fn knee(curve: &Curve) -> Bytes {
    let slopes = falling_slopes(&curve.fast_accesses);
    let whole = curve.capacity(slopes.len());
    let mean = slopes.iter().sum::<f64>() / slopes.len().max(1) as f64;
    if mean <= 0.0 || !mean.is_finite() {
        return whole;
    }
    let logs: Vec<f64> = slopes.iter().map(|slope| (slope / mean).max(UNTOUCHED).ln()).collect();
    let (n, sum) = (logs.len() as f64, logs.iter().sum::<f64>());
    let (mut below, mut best) = (0.0, (0.0, slopes.len()));
    for (i, log) in logs.iter().enumerate().take(logs.len() - 1) {
        below += log;
        let (left, right) = ((i + 1) as f64, n - (i + 1) as f64);
        let apart = below / left - (sum - below) / right;
        let between = left / n * (right / n) * apart * apart;
        if between > best.0 && apart >= DISTINCT.ln() {
            best = (between, i + 1);
        }
    }
    curve.capacity(best.1)
}

/// What each step of capacity adds, made to fall: a step that adds more than the ones before it
/// shares with them (the curve's upper concave hull), for fast memory could be filled in that order.
fn falling_slopes(hits: &[f64]) -> Vec<f64> {
    let mut runs: Vec<(f64, usize)> = Vec::new();
    for pair in hits.windows(2) {
        let mut run = ((pair[1] - pair[0]).max(0.0), 1);
        while let Some((slope, len)) = runs.pop_if(|(slope, _)| *slope < run.0) {
            let len_all = len + run.1;
            run.0 = (slope * len as f64 + run.0 * run.1 as f64) / len_all as f64;
            run.1 = len_all;
        }
        runs.push(run);
    }
    runs.into_iter().flat_map(|(slope, len)| std::iter::repeat_n(slope, len)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A curve whose n-th MiB adds `gains[n]`.
    fn curve(gains: impl IntoIterator<Item = f64>) -> Curve {
        let sums = gains.into_iter().scan(0.0, |sum, gain| {
            *sum += gain;
            Some(*sum)
        });
        let fast_accesses = std::iter::once(0.0).chain(sums).collect();
        Curve { step: Bytes::mib(1), fast_accesses, ..Curve::default() }
    }

    /// Gains of equally hot units as noisy estimates order them: from `spread` times to 1 / `spread`.
    fn noisy(rate: f64, spread: f64, n: usize) -> impl Iterator<Item = f64> {
        (0..n).map(move |i| rate * spread.powf(1.0 - 2.0 * i as f64 / (n - 1) as f64))
    }

    #[test]
    fn a_hot_set_ends_where_it_ends_however_noisy() {
        for (hot, ratio, spread) in [(20, 20.0, 1.05), (320, 20.0, 2.0), (80, 1000.0, 2.0)] {
            let gains = noisy(ratio, spread, hot).chain(noisy(1.0, spread, 400 - hot));
            assert_eq!(knee(&curve(gains)), Bytes::mib(hot as u64), "{hot} {ratio} {spread}");
        }
    }

    #[test]
    fn no_part_is_hotter_no_knee() {
        assert_eq!(knee(&curve([5.0; 64])), Bytes::mib(64));
        assert_eq!(knee(&curve(noisy(1.0, 1.7, 64))), Bytes::mib(64), "noise is no knee");
        assert_eq!(knee(&curve([])), Bytes(0));
        assert_eq!(knee(&curve([0.0; 8])), Bytes::mib(8), "nothing was accessed");
    }

    #[test]
    fn memory_that_nobody_touches_is_behind_the_knee() {
        assert_eq!(knee(&curve([3.0; 10].into_iter().chain([0.0; 90]))), Bytes::mib(10));
    }

    #[test]
    fn a_late_gain_counts_for_what_comes_before_it() {
        // A policy that serves the hottest last: the hull knows no better than all of it.
        assert_eq!(falling_slopes(&[0.0, 1.0, 2.0, 9.0, 10.0]), [3.0, 3.0, 3.0, 1.0]);
    }
}
