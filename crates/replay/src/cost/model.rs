//! What a placement costs in time: the slowdown against all memory being fast, as a band.
//!
//! Memory time is the sum of accesses x latency of the tier that serves them. Over memory time
//! with everything fast it gives
//!
//! ```text
//! memory slowdown  = miss share x (latency of slow / latency of fast - 1)
//! program slowdown = memory-bound share x memory slowdown + migration time / run time + queues
//! ```
//!
//! The idea of the two latencies weighted by hits is the classical average access time; the
//! band is ours. Accessed bits leave four things open, and each has a low and a high end:
//! - the share of the run time spent waiting for memory (no stall counters): 0.2 to 1;
//! - the accesses of saturated units: between the bound that was measured and what the target's
//!   CPU time allows at 2 x 10^8 memory accesses per second and core (12.8 GB/s); below 5 % of
//!   all accesses they are taken for stacks and code, which CPU caches hold, and left as measured;
//! - the accesses of unseen units: none, or three over the whole recording and unit, the 95 % bound
//!   of a Poisson process that was never seen (the "rule of three");
//! - migration: hidden behind the program, or all of it waited for.
//!
//! Exact counts tell reads from writes, and leads, which wait, from streams, which prefetchers
//! fetch: those take bandwidth alone. [`crate::cost::curve_cost`] adds a curve up and knows its queues,
//! epoch by epoch. docs/cost.md has the derivation with a worked example.

use crate::Curve;
use crate::cost::curve_cost::CurveCost;
use crate::cost::move_cost::{MoveCost, Moves};
use pagetide_machine::{Machine, Tier};
use serde::Serialize;

/// Below this share of the measured accesses, saturated units are taken for what CPU caches hold
/// anyway (stacks, code): they count as measured.
const SATURATION_MATTERS: f64 = 0.05;
/// Memory accesses that one core can make per second; bounds what saturated units can hide.
pub const CORE_ACCESSES_PER_S: f64 = 2e8;
/// Default band of the share of the run time that waits for memory.
pub const MEMORY_SHARE: (f64, f64) = (0.2, 1.0);
/// Bytes that one access takes from memory: a cache line.
const LINE: f64 = 64.0;
/// Share of writes at the other end of the band, where they were not counted; the first end is
/// reads only.
const WRITES: f64 = 1.0 / 3.0;

/// A share or slowdown known only between two ends; 0.05 is 5 %.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Band {
    /// The low end.
    pub low: f64,
    /// The high end; recommendations keep to it.
    pub high: f64,
}

/// What the cost of a recording depends on besides its curves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct CostFacts {
    /// CPU seconds of the target in the evaluated epochs; 0 where unknown: one core is assumed.
    pub target_cpu_s: f64,
    /// Share of cycles stalled on memory, where the hardware counted them.
    pub stall_share: Option<f64>,
}

/// Which accesses wait for memory, where the recording tells them apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Charge {
    /// Those that no prefetcher can have fetched; the others take bandwidth alone.
    #[default]
    Leads,
    /// Every line, as where leads are not told apart.
    Lines,
}

/// How the open questions of the observation are answered in one reading of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reading {
    /// Saturated units count with what the CPU time allows, not with their measured bound.
    pub saturated_at_most: bool,
    /// Unseen units count with their upper bound, not with nothing.
    pub unseen_charged: bool,
}

/// Bandwidth of a tier, bytes per second.
#[derive(Clone, Copy, Debug)]
struct Bandwidth {
    read: f64,
    write: f64,
}

impl Bandwidth {
    fn of(tier: &Tier) -> Self {
        Self { read: tier.read_bandwidth_gb_s * 1e9, write: tier.write_bandwidth_gb_s * 1e9 }
    }

    /// Share of its time that a memory is busy with so many bytes per second: it reads or writes.
    fn used(self, read: f64, written: f64) -> f64 {
        read / self.read + written / self.write
    }
}

/// Demand of a program on one tier, accesses per second. Every access reads a line; a write is a
/// line written back.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Demand {
    pub(crate) accesses: f64,
    pub(crate) writes: f64,
}

/// The cost of placements on one machine for one recording.
#[derive(Clone, Debug)]
pub struct CostModel {
    share: Band,
    latencies: [(f64, f64); 2],
    fast: Bandwidth,
    slow: Bandwidth,
    moves: Option<MoveCost>,
    cpu_s: Option<f64>,
    point: bool,
    charge: Charge,
}

impl CostModel {
    /// A model; `memory_share` is the user's own knowledge of the memory-bound share, 0 to 1.
    /// A stall share in the facts makes the band a point.
    #[must_use]
    pub fn new(machine: &Machine, facts: &CostFacts, memory_share: Option<(f64, f64)>) -> Self {
        let (fast, slow) = (machine.fast(), machine.slow());
        let share = match (memory_share, facts.stall_share) {
            (Some((low, high)), _) => Band { low: low.min(high), high: low.max(high) },
            (None, Some(stall)) => Band { low: stall, high: stall },
            (None, None) => Band { low: MEMORY_SHARE.0, high: MEMORY_SHARE.1 },
        };
        let unit = |value: f64| if value.is_finite() { value.clamp(0.0, 1.0) } else { 1.0 };
        Self {
            share: Band { low: unit(share.low), high: unit(share.high) },
            latencies: [fast, slow].map(|tier| (tier.read_latency_ns, tier.write_latency_ns)),
            fast: Bandwidth::of(fast),
            slow: Bandwidth::of(slow),
            moves: Some(MoveCost::new(&machine.migration)),
            cpu_s: (facts.target_cpu_s > 0.0).then_some(facts.target_cpu_s),
            point: memory_share.is_none() && facts.stall_share.is_some(),
            charge: Charge::default(),
        }
    }

    /// The same, with other accesses waiting.
    #[must_use]
    pub fn with_charge(mut self, charge: Charge) -> Self {
        self.charge = charge;
        self
    }

    /// The same, with moves that cost nothing.
    #[must_use]
    pub fn with_free_moves(mut self) -> Self {
        self.moves = None;
        self
    }

    /// The memory-bound share in use.
    #[must_use]
    pub fn share(&self) -> Band {
        self.share
    }

    /// Whether both ends of every band are the same: stall counters were read.
    #[must_use]
    pub fn is_point(&self) -> bool {
        self.point
    }

    /// The cost of a curve's placements.
    #[must_use]
    pub fn of<'a>(&'a self, curve: &'a Curve) -> CurveCost<'a> {
        CurveCost::new(self, curve)
    }

    /// The program's slowdown at the curve's entry `i`, against all memory fast. Who asks for many
    /// entries asks [`Self::of`].
    #[must_use]
    pub fn slowdown(&self, curve: &Curve, i: usize) -> Band {
        self.of(curve).slowdown(i)
    }

    /// Latency of the slow tier over that of the fast one, for reads and for a mix of writes.
    #[must_use]
    pub fn latency_ratio(&self) -> Band {
        let (reads, mixed) = (self.ratio(0.0), self.ratio(WRITES));
        Band { low: reads.min(mixed), high: reads.max(mixed) }
    }

    /// The same for the accesses of a curve: where writes were counted they are lines written back,
    /// for which nothing waits.
    pub(crate) fn ratio_of(&self, curve: &Curve) -> Band {
        if curve.fast_writes.is_empty() || curve.accesses <= 0.0 {
            return self.latency_ratio();
        }
        let reads = self.ratio(0.0);
        Band { low: reads, high: reads }
    }

    fn ratio(&self, writes: f64) -> f64 {
        let [fast, slow] =
            self.latencies.map(|(read, write)| (1.0 - writes) * read + writes * write);
        slow / fast
    }

    /// Whether leads are what waits for memory.
    pub(crate) fn charges_leads(&self, curve: &Curve) -> bool {
        self.charge == Charge::Leads && !curve.fast_leads.is_empty()
    }

    /// Share of writes where they were not counted: at the low end none.
    pub(crate) fn writes_unknown(high: bool) -> f64 {
        if high { WRITES } else { 0.0 }
    }

    /// Use of the slow tier.
    pub(crate) fn slow_used(&self, demand: Demand, moves: Moves) -> f64 {
        self.slow.used(demand.accesses * LINE + moves.up, demand.writes * LINE + moves.down)
    }

    /// Use of the fast tier.
    pub(crate) fn fast_used(&self, demand: Demand, moves: Moves) -> f64 {
        self.fast.used(demand.accesses * LINE + moves.down, demand.writes * LINE + moves.up)
    }

    /// The moves of a curve's entry.
    pub(crate) fn moves(&self, curve: &Curve, i: usize) -> Moves {
        self.moves.as_ref().map_or_else(Moves::default, |cost| cost.of(curve, i))
    }

    /// The greatest possible accesses of saturated units over what was measured of them.
    pub(crate) fn saturated_multiple(&self, curve: &Curve) -> f64 {
        if curve.saturated <= SATURATION_MATTERS * curve.accesses {
            return 1.0;
        }
        let possible = self.cpu_s.unwrap_or(curve.seconds) * CORE_ACCESSES_PER_S;
        ((possible - (curve.accesses - curve.saturated)) / curve.saturated).max(1.0)
    }
}
