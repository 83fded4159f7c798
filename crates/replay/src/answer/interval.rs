//! How far the need may be off by chance alone: a 95 % interval.
//!
//! The epochs are replicates: each is another look at the same program. The miss share at a size of
//! fast memory is a ratio of two sums over them, so its variance is that of the ratio estimator,
//! linearised (Cochran, "Sampling Techniques", 1977, section 6.4): with `z = misses - share x
//! accesses`, `n / (n - 1) x sum of z^2 / (sum of accesses)^2`, and Student's t for the few epochs
//! there are. A need is the place where a curve crosses a target; Woodruff ("Confidence intervals
//! for medians and other position measures", JASA 1952) turns an interval of the curve's value
//! there into one of the place: where the curve, raised or lowered by as much, would cross the target.

use crate::Curve;
use crate::answer::recommend::{Candidate, smallest};
use pagetide_types::Bytes;
use serde::Serialize;

/// An interval wider than this to either side of the need asks for a longer recording.
pub(crate) const WIDE: f64 = 0.1;
/// The normal distribution's quantile that leaves 2.5 % above it.
const NORMAL: f64 = 1.959_963_984_540_054;

/// What was asked of memory in one epoch, and served by fast memory of one size.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct EpochHits {
    /// Accesses that a plan charges.
    pub accesses: f64,
    /// Of these, those that fast memory served.
    pub fast: f64,
}

/// Which epochs an interval of the need stands on.
#[derive(Clone, Debug, PartialEq)]
pub enum Replicates {
    /// The evaluated ones, as the recommended policy's curve has them.
    Epochs,
    /// Others, of the recommended policy with the recommended fast memory.
    Given(Vec<EpochHits>),
}

/// Where a need lies with a probability of 95 %.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Interval {
    /// At least so much.
    pub low: Bytes,
    /// At most so much.
    pub high: Bytes,
}

impl Interval {
    /// The farther end's distance from `need`, over it.
    pub(crate) fn off(&self, need: Bytes) -> f64 {
        let off = need.0.abs_diff(self.low.0).max(self.high.0.abs_diff(need.0));
        if need.0 > 0 { Bytes(off).as_f64() / need.as_f64() } else { 0.0 }
    }
}

/// How far chance alone leaves the need of `best` open; `i` is its entry.
pub(crate) fn of(
    best: &Candidate<'_>,
    replicates: Option<&Replicates>,
    target: f64,
    i: usize,
) -> Option<Interval> {
    let own;
    let epochs = match replicates? {
        Replicates::Given(epochs) => epochs,
        Replicates::Epochs => {
            own = best.cost.hits(i);
            &own
        }
    };
    let slowdown = |i: usize| best.cost.slowdown(i).high;
    let per_miss = best.cost.per_miss();
    need_interval(best.curve(), best.unit, target, slowdown, per_miss, epochs)
}

/// The 95 % interval of the need on a curve: of the smallest size whose `slowdown(entry)` keeps the
/// target. `per_miss` is the slowdown of a program all of whose accesses miss fast memory; `epochs`
/// are those of the replay at the need. `None` with fewer than two epochs or without accesses.
///
/// Epochs that follow each other are taken to be independent. Where they are alike for longer than
/// an epoch the interval is too narrow.
pub(crate) fn need_interval(
    curve: &Curve,
    unit: Bytes,
    target: f64,
    slowdown: impl Fn(usize) -> f64,
    per_miss: f64,
    epochs: &[EpochHits],
) -> Option<Interval> {
    let off = per_miss * half_width(epochs)?;
    let at = |off: f64| smallest(curve, unit, target, |i| slowdown(i) + off);
    let need = at(0.0)?;
    // With everything fast nothing misses, by whatever the estimate is off.
    let all = curve.capacity(curve.fast_accesses.len().saturating_sub(1));
    Some(Interval {
        low: at(-off).unwrap_or(need).min(need),
        high: at(off).unwrap_or(all).max(need),
    })
}

/// Half of the width of the 95 % interval of the miss share.
fn half_width(epochs: &[EpochHits]) -> Option<f64> {
    let all: f64 = epochs.iter().map(|epoch| epoch.accesses).sum();
    let n = epochs.len();
    if n < 2 || all <= 0.0 {
        return None;
    }
    let misses = |epoch: &EpochHits| epoch.accesses - epoch.fast;
    let share = epochs.iter().map(misses).sum::<f64>() / all;
    let squares: f64 =
        epochs.iter().map(|epoch| (misses(epoch) - share * epoch.accesses).powi(2)).sum();
    let n = n as f64;
    Some(student(n - 1.0) * (n / (n - 1.0) * squares).sqrt() / all)
}

/// Quantile of Student's t that leaves 2.5 % above it: exact for one and two degrees of freedom, else
/// within 1 % by the expansion of Cornish and Fisher (Abramowitz and Stegun, 26.7.5).
fn student(degrees: f64) -> f64 {
    if degrees < 1.5 {
        return 12.706;
    }
    if degrees < 2.5 {
        return 4.303;
    }
    let (z, d) = (NORMAL, degrees);
    let term = |powers: &[f64], over: f64| {
        powers.iter().rev().fold(0.0, |sum, factor| sum * z * z + factor) * z / over
    };
    z + term(&[1.0, 1.0], 4.0 * d)
        + term(&[3.0, 16.0, 5.0], 96.0 * d.powi(2))
        + term(&[-15.0, 17.0, 19.0, 3.0], 384.0 * d.powi(3))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Extra cost of a miss, and the target that allows 3.3 % of them.
    const PER_MISS: f64 = 1.5;
    const TARGET: f64 = 0.05;
    const UNIT: Bytes = Bytes(2 << 20);

    /// Numbers from 0 to 1 by `seed`.
    fn dice(seed: u64) -> impl FnMut() -> f64 {
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        move || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 11) as f64 / (1u64 << 53) as f64
        }
    }

    fn normal(dice: &mut impl FnMut() -> f64) -> f64 {
        (0..12).map(|_| dice()).sum::<f64>() - 6.0
    }

    /// The curve of units in this order, of so many accesses each.
    fn curve(units: &[f64]) -> Curve {
        let mut fast = vec![0.0];
        let mut sum = 0.0;
        fast.extend(units.iter().map(|accesses| {
            sum += accesses;
            sum
        }));
        Curve { step: UNIT, accesses: sum, fast_accesses: fast, ..Curve::default() }
    }

    fn slowdown(curve: &Curve) -> impl Fn(usize) -> f64 + '_ {
        |i| PER_MISS * (1.0 - curve.hit_ratio(i))
    }

    fn need(curve: &Curve) -> Bytes {
        smallest(curve, UNIT, TARGET, slowdown(curve)).unwrap()
    }

    /// A program whose units are as hot as `rates` say, watched for so many epochs: every unit is off
    /// by chance in every epoch, and every epoch is busier or idler than the mean. Does the
    /// interval contain the true need, and how wide is it?
    fn one_recording(rates: &[f64], epochs: usize, seed: u64) -> (bool, f64) {
        let mut dice = dice(seed);
        let mut sums = vec![0.0; rates.len()];
        let mut seen: Vec<Vec<f64>> = Vec::new();
        for _ in 0..epochs {
            let busy = (0.3 * normal(&mut dice)).exp();
            let epoch: Vec<f64> =
                rates.iter().map(|rate| rate * busy * (0.8 * normal(&mut dice)).exp()).collect();
            std::iter::zip(&mut sums, &epoch).for_each(|(sum, seen)| *sum += seen);
            seen.push(epoch);
        }
        let estimated = curve(&sums);
        let fast = usize::try_from(need(&estimated).0 / UNIT.0).unwrap();
        let hits: Vec<EpochHits> = seen
            .iter()
            .map(|epoch| EpochHits {
                accesses: epoch.iter().sum(),
                fast: epoch[..fast].iter().sum(),
            })
            .collect();
        let truth = need(&curve(rates));
        let found =
            need_interval(&estimated, UNIT, TARGET, slowdown(&estimated), PER_MISS, &hits).unwrap();
        let width = Bytes(found.high.0 - found.low.0).as_f64() / truth.as_f64();
        (found.low <= truth && truth <= found.high, width)
    }

    /// The order of the units is right, so only what is charged is off: what the interval is for.
    #[test]
    fn nineteen_in_twenty_intervals_contain_the_truth() {
        let zipf: Vec<f64> = (1..=400).map(|rank| 1e4 / f64::from(rank)).collect();
        let hot_cold: Vec<f64> = (0..400).map(|i| if i < 200 { 100.0 } else { 4.0 }).collect();
        let lognormal: Vec<f64> = {
            let mut dice = dice(7);
            let mut rates: Vec<f64> = (0..400).map(|_| (2.0 * normal(&mut dice)).exp()).collect();
            rates.sort_by(|a, b| b.total_cmp(a));
            rates
        };
        for (rates, name) in [(zipf, "zipf"), (hot_cold, "hot and cold"), (lognormal, "lognormal")]
        {
            let mut widths = Vec::new();
            for epochs in [6, 24] {
                let seeds = 300;
                let found: Vec<_> =
                    (1..=seeds).map(|seed| one_recording(&rates, epochs, seed)).collect();
                let inside = found.iter().filter(|(inside, _)| *inside).count() as f64;
                let width = found.iter().map(|(_, width)| width).sum::<f64>() / seeds as f64;
                let covered = inside / seeds as f64;
                assert!((0.90..=0.995).contains(&covered), "{name}, {epochs} epochs: {covered}");
                widths.push(width);
            }
            // Four times as long is half as wide, and a little more for the quantile of t.
            let narrower = widths[0] / widths[1];
            assert!((1.8..3.2).contains(&narrower), "{name}: {widths:?}");
        }
    }

    #[test]
    fn student_is_that_of_the_tables() {
        for (degrees, table) in
            [(1.0, 12.706), (2.0, 4.303), (3.0, 3.182), (4.0, 2.776), (9.0, 2.262), (60.0, 2.000)]
        {
            let found = student(degrees);
            assert!((found / table - 1.0).abs() < 0.01, "{degrees}: {found}");
        }
    }

    #[test]
    fn computed_by_hand() {
        // Misses of 10, 20 and 30 of 100 each: a share of 20 %, z of -10, 0 and 10.
        let epochs = [90.0, 80.0, 70.0].map(|fast| EpochHits { accesses: 100.0, fast });
        let half = half_width(&epochs).unwrap();
        assert!((half - 4.303 * (1.5_f64 * 200.0).sqrt() / 300.0).abs() < 1e-12, "{half}");
        assert_eq!(half_width(&epochs[..1]), None);
        assert_eq!(half_width(&[EpochHits::default(); 3]), None);
        // Twice as busy and as many misses per access: only the share counts.
        let alike = [1.0, 5.0, 3.0].map(|k| EpochHits { accesses: 100.0 * k, fast: 80.0 * k });
        assert!(half_width(&alike).unwrap() < 1e-12);
    }

    proptest! {
        #[test]
        fn the_need_lies_within_and_more_doubt_is_wider(
            units in proptest::collection::vec(0.1..100.0f64, 2..80),
            fast in proptest::collection::vec(0.0..1.0f64, 2..20),
        ) {
            let mut units = units;
            units.sort_by(|a, b| b.total_cmp(a));
            let curve = curve(&units);
            let epochs = |part: f64| -> Vec<EpochHits> {
                let hits = |f: &f64| EpochHits { accesses: 1.0, fast: 0.9 + 0.1 * part * (f - 0.5) };
                fast.iter().map(hits).collect()
            };
            let of = |part: f64| {
                need_interval(&curve, UNIT, TARGET, slowdown(&curve), PER_MISS, &epochs(part)).unwrap()
            };
            let (narrow, wide, need) = (of(0.3), of(1.0), need(&curve));
            prop_assert!(wide.low <= narrow.low && narrow.low <= need, "{narrow:?} {wide:?}");
            prop_assert!(need <= narrow.high && narrow.high <= wide.high, "{narrow:?} {wide:?}");
        }
    }
}
