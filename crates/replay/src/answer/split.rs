//! Splits a given fast memory between several programs: in equal parts, in parts of given weights,
//! or by utility: again and again to the one that gains most per byte, looking ahead over flat
//! stretches (utility-based partitioning with lookahead: Qureshi and Patt, MICRO 2006, section
//! 3.3), which walks the convex hull of each curve.

use crate::{Band, Plan, PolicyPlan, Said};
use pagetide_trace::Window;
use pagetide_types::Bytes;
use serde::Serialize;

/// How much one program's slowdown counts against another's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Weighting {
    /// By the time each one spends on memory with everything fast: total time is least.
    #[default]
    MemoryTime,
    /// Each one the same, whatever its size: the sum of slowdowns is least.
    Equal,
}

/// How fast memory is split.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Share {
    /// In equal parts.
    Equal,
    /// In proportion to [`Sharer::claim`].
    Weighted,
    /// To the one that gains most per byte, again and again.
    #[default]
    Utility,
}

/// All ways, in the order of the arrays of three below.
const SHARES: [Share; 3] = [Share::Equal, Share::Weighted, Share::Utility];

/// A program with one size of fast memory.
#[derive(Clone, Debug, PartialEq)]
pub struct Offer {
    /// Fast memory.
    pub fast_bytes: Bytes,
    /// What it loses.
    pub slowdown: Band,
    /// The policy it runs under.
    pub policy: String,
}

/// One program that wants fast memory.
#[derive(Clone, Debug, PartialEq)]
pub struct Sharer {
    /// Its name.
    pub name: String,
    /// The part of its recording that was planned for; none: all of it.
    pub window: Option<Window>,
    /// What is said of its plan.
    pub said: Said,
    /// What it would do with more and more fast memory, ascending, beginning with none.
    pub points: Vec<Offer>,
    /// Seconds per second that it waits for memory with everything fast: what its plan charges
    /// (accesses past the CPU caches; leads where they were counted) x latency.
    pub memory_time: f64,
    /// Its part under [`Share::Weighted`], against that of others; by default its footprint, so
    /// that everyone has the same share of its memory fast (AMP, section 6.4).
    pub claim: f64,
}

impl Sharer {
    /// The program of a plan: with every size of fast memory under the policy that is spoken of there.
    #[must_use]
    pub fn of(plan: &Plan) -> Self {
        let mut sizes: Vec<Bytes> = plan
            .policies
            .iter()
            .flat_map(PolicyPlan::sizes)
            .map(|point| point.fast_bytes)
            .collect();
        sizes.sort_unstable();
        sizes.dedup();
        let offer = |fast_bytes: Bytes| {
            let policy = plan.policy_at(fast_bytes)?;
            let slowdown = policy.at(fast_bytes)?.slowdown;
            Some(Offer { fast_bytes, slowdown, policy: policy.policy.clone() })
        };
        Self {
            name: plan.recording.name.clone(),
            window: plan.recording.window,
            said: plan.said.clone(),
            points: sizes.into_iter().filter_map(offer).collect(),
            memory_time: plan.recording.leads_per_s.unwrap_or(plan.recording.traffic_per_s)
                * plan.machine.fast().read_latency_ns
                / 1e9,
            claim: plan.recording.footprint_bytes.as_f64(),
        }
    }
}

/// What everyone gets.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Split {
    /// The fast memory to be shared.
    pub fast_bytes: Bytes,
    /// How it is split.
    pub share: Share,
    /// What nobody has, or gains from.
    pub unused_bytes: Bytes,
    /// Mean slowdown, weighted.
    pub mean_slowdown: f64,
    /// The same for equal parts.
    pub mean_slowdown_equal: f64,
    /// The same for parts by claim.
    pub mean_slowdown_weighted: f64,
    /// The same for parts by utility.
    pub mean_slowdown_utility: f64,
    /// Every program's part, in the order given.
    pub parts: Vec<Part>,
}

/// One program's part of a [`Split`].
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Part {
    /// Its name.
    pub name: String,
    /// The part of its recording that was planned for; none: all of it.
    pub window: Option<Window>,
    /// What is said of its plan.
    pub said: Said,
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
    /// What its part by claim would be.
    pub weighted_bytes: Bytes,
    /// What it would lose with that.
    pub slowdown_weighted: Band,
    /// What its part by utility would be.
    pub utility_bytes: Bytes,
    /// What it would lose with that.
    pub slowdown_utility: Band,
    /// How much it counts, 0 to 1; all together 1.
    pub weight: f64,
}

/// Splits `fast` between the sharers, and says what the other ways would give. One alone has all of it. By utility it is
/// never worse in the weighted mean than in equal parts: where the steps of the curves would make
/// it so, the parts are equal. Parts that are equal or by claim may be more than one can use.
#[must_use]
pub fn split(sharers: &[Sharer], fast: Bytes, weighting: Weighting, share: Share) -> Split {
    let n = sharers.len();
    let weights = weights(sharers, weighting);
    let curves: Vec<Vec<(Bytes, f64)>> = sharers.iter().map(|s| falling(&s.points)).collect();
    let slowdown = |i: usize, bytes| {
        offer_at(&sharers[i].points, bytes).map_or_else(Band::default, |offer| offer.slowdown)
    };
    let mean =
        |parts: &[Bytes]| -> f64 { (0..n).map(|i| weights[i] * slowdown(i, parts[i]).high).sum() };
    let equal = vec![Bytes(fast.0.checked_div(n as u64).unwrap_or(0)); n];
    let mut utility = greedy(&curves, &weights, fast);
    if n == 1 || mean(&utility) > mean(&equal) {
        utility.clone_from(&equal);
    }
    let ways = [equal, by_claim(sharers, fast), utility];
    let means = [mean(&ways[0]), mean(&ways[1]), mean(&ways[2])];
    let chosen = SHARES.iter().position(|way| *way == share).unwrap_or(2);
    let used: Bytes = ways[chosen].iter().copied().sum();
    let part = |i: usize| {
        let bytes = [0, 1, 2].map(|way| ways[way][i]);
        let slowdown = bytes.map(|bytes| slowdown(i, bytes));
        let policy = offer_at(&sharers[i].points, bytes[chosen]);
        Part {
            name: sharers[i].name.clone(),
            window: sharers[i].window,
            said: sharers[i].said.clone(),
            policy: policy.map_or_else(String::new, |offer| offer.policy.clone()),
            fast_bytes: bytes[chosen],
            footprint_bytes: sharers[i].points.last().map_or(Bytes(0), |point| point.fast_bytes),
            slowdown: slowdown[chosen],
            equal_bytes: bytes[0],
            slowdown_equal: slowdown[0],
            weighted_bytes: bytes[1],
            slowdown_weighted: slowdown[1],
            utility_bytes: bytes[2],
            slowdown_utility: slowdown[2],
            weight: weights[i],
        }
    };
    Split {
        fast_bytes: fast,
        share,
        unused_bytes: fast.saturating_sub(used),
        mean_slowdown: means[chosen],
        mean_slowdown_equal: means[0],
        mean_slowdown_weighted: means[1],
        mean_slowdown_utility: means[2],
        parts: (0..n).map(part).collect(),
    }
}

/// Parts in proportion to the claims; equal ones if nobody has any.
fn by_claim(sharers: &[Sharer], fast: Bytes) -> Vec<Bytes> {
    let claim = |s: &Sharer| if s.claim.is_finite() { s.claim.max(0.0) } else { 0.0 };
    let all: f64 = sharers.iter().map(claim).sum();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a part of a u64")]
    let part = |s: &Sharer| {
        let share = if all > 0.0 { claim(s) / all } else { 1.0 / sharers.len() as f64 };
        Bytes((fast.as_f64() * share) as u64)
    };
    sharers.iter().map(part).collect()
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

/// The high ends of the slowdown, each the least of its own and all before it: more fast memory
/// need not be used.
fn falling(points: &[Offer]) -> Vec<(Bytes, f64)> {
    let mut least = f64::INFINITY;
    points
        .iter()
        .map(|point| {
            least = least.min(point.slowdown.high);
            (point.fast_bytes, least)
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

/// The last that fits.
fn offer_at(points: &[Offer], bytes: Bytes) -> Option<&Offer> {
    let after = points.partition_point(|point| point.fast_bytes <= bytes);
    after.checked_sub(1).map(|i| &points[i])
}

#[cfg(test)]
#[path = "split_tests.rs"]
mod tests;
