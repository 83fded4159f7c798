//! Splits a given fast memory between several programs: again and again to the one that gains
//! most per byte, looking ahead over flat stretches (utility-based partitioning with lookahead:
//! Qureshi and Patt, MICRO 2006, section 3.3), which walks the convex hull of each curve.

use crate::{Band, Plan, Role};
use pagetide_types::Bytes;
use serde::Serialize;

/// How much one program's slow-down counts against another's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Weighting {
    /// By the time each one spends on memory with everything fast: total time is least.
    #[default]
    MemoryTime,
    /// Each one the same, whatever its size: the sum of slow-downs is least.
    Equal,
}

/// One program that wants fast memory.
#[derive(Clone, Debug, PartialEq)]
pub struct Sharer {
    /// Its name.
    pub name: String,
    /// The policy whose curve follows.
    pub policy: String,
    /// Fast memory and slow-down, ascending, beginning with no fast memory.
    pub points: Vec<(Bytes, Band)>,
    /// Seconds per second that it spends on memory with everything fast: accesses x latency.
    pub memory_time: f64,
}

impl Sharer {
    /// The program of a plan: under its recommended policy, or else the one that needs least.
    #[must_use]
    pub fn of(plan: &Plan) -> Self {
        let recommended = plan.recommendation.as_ref().map(|answer| answer.policy.as_str());
        let candidates = || plan.policies.iter().filter(|p| p.role == Role::Candidate);
        let policy = candidates()
            .find(|p| Some(p.policy.as_str()) == recommended)
            .or_else(|| candidates().min_by_key(|p| p.fast_bytes.unwrap_or(Bytes(u64::MAX))));
        Self {
            name: plan.recording.name.clone(),
            policy: policy.map_or_else(String::new, |p| p.policy.clone()),
            points: policy
                .map(|p| p.points.iter().map(|point| (point.fast_bytes, point.slowdown)).collect())
                .unwrap_or_default(),
            memory_time: plan.recording.accesses_per_s * plan.machine.fast().read_latency_ns / 1e9,
        }
    }
}

/// What everyone gets.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Split {
    /// The fast memory to be shared.
    pub fast_bytes: Bytes,
    /// What is left when everyone has what helps.
    pub unused_bytes: Bytes,
    /// Mean slow-down, weighted.
    pub mean_slowdown: f64,
    /// The same for equal parts.
    pub mean_slowdown_equal: f64,
    /// Every program's part, in the order given.
    pub parts: Vec<Part>,
}

/// One program's part of a [`Split`].
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Part {
    /// Its name.
    pub name: String,
    /// The policy it runs under.
    pub policy: String,
    /// What it gets.
    pub fast_bytes: Bytes,
    /// What it would use with all of its memory fast.
    pub footprint_bytes: Bytes,
    /// What it loses.
    pub slowdown: Band,
    /// What an equal part would be.
    pub equal_bytes: Bytes,
    /// What it would lose with that.
    pub slowdown_equal: Band,
    /// How much it counts, 0 to 1; all together 1.
    pub weight: f64,
}

/// Splits `fast` between the sharers. Never worse in the weighted mean than equal parts: where
/// the steps of the curves would make it so, the parts are equal.
#[must_use]
pub fn split(sharers: &[Sharer], fast: Bytes, weighting: Weighting) -> Split {
    let n = sharers.len();
    let equal = Bytes(fast.0.checked_div(n as u64).unwrap_or(0));
    let weights = weights(sharers, weighting);
    let curves: Vec<Vec<(Bytes, f64)>> = sharers.iter().map(|s| falling(&s.points)).collect();
    let mean = |parts: &[Bytes]| -> f64 {
        (0..n).map(|i| weights[i] * value_at(&curves[i], parts[i])).sum()
    };
    let equal_parts = vec![equal; n];
    let mut parts = greedy(&curves, &weights, fast);
    if mean(&parts) > mean(&equal_parts) {
        parts.clone_from(&equal_parts);
    }
    let used: Bytes = parts.iter().copied().sum();
    Split {
        fast_bytes: fast,
        unused_bytes: fast.saturating_sub(used),
        mean_slowdown: mean(&parts),
        mean_slowdown_equal: mean(&equal_parts),
        parts: (0..n)
            .map(|i| Part {
                name: sharers[i].name.clone(),
                policy: sharers[i].policy.clone(),
                fast_bytes: parts[i],
                footprint_bytes: sharers[i].points.last().map_or(Bytes(0), |point| point.0),
                slowdown: band_at(&sharers[i].points, parts[i]),
                equal_bytes: equal,
                slowdown_equal: band_at(&sharers[i].points, equal),
                weight: weights[i],
            })
            .collect(),
    }
}

fn weights(sharers: &[Sharer], weighting: Weighting) -> Vec<f64> {
    let raw = |s: &Sharer| match weighting {
        Weighting::MemoryTime if s.memory_time.is_finite() => s.memory_time.max(0.0),
        Weighting::MemoryTime => 0.0,
        Weighting::Equal => 1.0,
    };
    let sum: f64 = sharers.iter().map(raw).sum();
    let share = |s: &Sharer| if sum > 0.0 { raw(s) / sum } else { 1.0 / sharers.len() as f64 };
    sharers.iter().map(share).collect()
}

/// The high ends of the slow-down, each the least of its own and all before it: more fast memory
/// need not be used.
fn falling(points: &[(Bytes, Band)]) -> Vec<(Bytes, f64)> {
    let mut least = f64::INFINITY;
    points
        .iter()
        .map(|(bytes, band)| {
            least = least.min(band.high);
            (*bytes, least)
        })
        .collect()
}

fn greedy(curves: &[Vec<(Bytes, f64)>], weights: &[f64], fast: Bytes) -> Vec<Bytes> {
    let mut at = vec![0usize; curves.len()];
    let mut left = fast;
    loop {
        let mut best: Option<(f64, usize, usize)> = None;
        for (i, curve) in curves.iter().enumerate() {
            let Some((here, value)) = curve.get(at[i]) else { continue };
            for (j, (bytes, lower)) in curve.iter().enumerate().skip(at[i] + 1) {
                let more = bytes.saturating_sub(*here);
                if more > left {
                    break;
                }
                let gain = weights[i] * (value - lower) / more.as_f64().max(1.0);
                if gain > 0.0 && best.is_none_or(|(most, ..)| gain > most) {
                    best = Some((gain, i, j));
                }
            }
        }
        let Some((_, i, j)) = best else { break };
        left = left.saturating_sub(curves[i][j].0.saturating_sub(curves[i][at[i]].0));
        at[i] = j;
    }
    std::iter::zip(curves, at).map(|(curve, i)| curve.get(i).map_or(Bytes(0), |p| p.0)).collect()
}

/// The last point that fits.
fn fitting<T: Copy>(points: &[(Bytes, T)], bytes: Bytes) -> Option<T> {
    let after = points.partition_point(|(capacity, _)| *capacity <= bytes);
    after.checked_sub(1).map(|i| points[i].1)
}

fn value_at(curve: &[(Bytes, f64)], bytes: Bytes) -> f64 {
    fitting(curve, bytes).unwrap_or(0.0)
}

fn band_at(points: &[(Bytes, Band)], bytes: Bytes) -> Band {
    fitting(points, bytes).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sharer(name: &str, slowdowns: &[f64], memory_time: f64) -> Sharer {
        let band = |high: f64| Band { low: high / 5.0, high };
        Sharer {
            name: name.into(),
            policy: "rate".into(),
            points: slowdowns
                .iter()
                .enumerate()
                .map(|(i, s)| (Bytes::gib(i as u64), band(*s)))
                .collect(),
            memory_time,
        }
    }

    #[test]
    fn the_one_that_gains_gets_it() {
        let steep = sharer("steep", &[1.5, 0.5, 0.1, 0.0], 1.0);
        let even = sharer("even", &[0.3, 0.2, 0.1, 0.0], 1.0);
        let done = split(&[steep.clone(), even.clone()], Bytes::gib(2), Weighting::Equal);
        assert_eq!(done.parts[0].fast_bytes, Bytes::gib(2));
        assert_eq!(done.parts[1].fast_bytes, Bytes(0));
        assert!(done.mean_slowdown < done.mean_slowdown_equal);
        // A program that hardly uses memory gives way, however steep its curve is.
        let idle = Sharer { memory_time: 0.001, ..steep };
        let done = split(&[idle, even], Bytes::gib(2), Weighting::MemoryTime);
        assert_eq!(done.parts[1].fast_bytes, Bytes::gib(2));
    }

    #[test]
    fn looks_over_a_flat_stretch() {
        let step = sharer("step", &[1.0, 1.0, 1.0, 0.0], 1.0);
        let even = sharer("even", &[0.3, 0.2, 0.1, 0.0], 1.0);
        let done = split(&[step, even], Bytes::gib(3), Weighting::Equal);
        assert_eq!(done.parts[0].fast_bytes, Bytes::gib(3));
    }

    #[test]
    fn nobody_and_nothing_are_answered() {
        assert!(split(&[], Bytes::gib(1), Weighting::Equal).parts.is_empty());
        let empty = Sharer { points: Vec::new(), ..sharer("empty", &[], f64::NAN) };
        let done = split(&[empty.clone(), empty], Bytes(0), Weighting::MemoryTime);
        assert_eq!(done.mean_slowdown, 0.0);
        assert!(done.parts.iter().all(|part| part.weight == 0.5 && part.fast_bytes.0 == 0));
    }

    proptest! {
        #[test]
        fn never_over_the_budget_never_worse_than_equal_never_better_than_all_fast(
            curves in proptest::collection::vec(
                proptest::collection::vec(0.0..2.0f64, 1..20), 1..5),
            fast in 0u64..40,
            by_time in any::<bool>(),
        ) {
            let sharers: Vec<Sharer> = curves
                .iter()
                .enumerate()
                .map(|(i, falls)| {
                    let total: f64 = falls.iter().sum();
                    let mut value = total;
                    let mut slowdowns = vec![total];
                    slowdowns.extend(falls.iter().map(|fall| {
                        value = (value - fall).max(0.0);
                        value
                    }));
                    sharer(&i.to_string(), &slowdowns, i as f64)
                })
                .collect();
            let weighting = if by_time { Weighting::MemoryTime } else { Weighting::Equal };
            let done = split(&sharers, Bytes::gib(fast), weighting);
            let given: Bytes = done.parts.iter().map(|part| part.fast_bytes).sum();
            prop_assert!(given <= Bytes::gib(fast));
            prop_assert_eq!(given + done.unused_bytes, Bytes::gib(fast));
            prop_assert!(done.mean_slowdown <= done.mean_slowdown_equal + 1e-12);
            prop_assert!(done.mean_slowdown >= 0.0);
            let enough: u64 = curves.iter().map(|c| c.len() as u64).sum();
            let all = split(&sharers, Bytes::gib(enough * 5), weighting);
            prop_assert!(all.mean_slowdown < 1e-9);
        }
    }
}
