//! What a placement costs in time: the slowdown against all memory being fast, as a band.
//!
//! Memory time is the sum of accesses x latency of the tier that serves them. Over memory time
//! with everything fast it gives
//!
//! ```text
//! memory slowdown  = miss share x (latency of slow / latency of fast x queue - 1)
//! program slowdown = memory-bound share x memory slowdown + migration time / run time
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
//! Queueing raises the slow tier's latency as its demand (64 B per access) nears its bandwidth;
//! only the high end counts it. docs/cost.md has the derivation with a worked example.

use crate::Curve;
use pagetide_machine::Machine;
use serde::Serialize;

/// Below this share of the measured accesses, saturated units are taken for what CPU caches hold
/// anyway (stacks, code): they count as measured.
const SATURATION_MATTERS: f64 = 0.05;
/// Memory accesses that one core can make per second; bounds what saturated units can hide.
pub const CORE_ACCESSES_PER_S: f64 = 2e8;
/// Default band of the share of the run time that waits for memory.
pub const MEMORY_SHARE: (f64, f64) = (0.2, 1.0);
/// Accesses that a unit never seen may have had all the same (95 %: -ln 0.05).
const UNSEEN_ACCESSES: f64 = 3.0;
/// Bytes that one access takes from memory: a cache line.
const LINE: f64 = 64.0;
/// Share of writes at the other end of the band; the first end is reads only.
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
    /// Share of the resident bytes that huge pages map: they move whole.
    pub huge_share: f64,
    /// Share of cycles stalled on memory, where the hardware counted them.
    pub stall_share: Option<f64>,
}

/// How the open questions of the observation are answered in one reading of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Reading {
    /// Saturated units count with what the CPU time allows, not with their measured bound.
    pub saturated_at_most: bool,
    /// Unseen units count with their upper bound, not with nothing.
    pub unseen_charged: bool,
}

/// The cost of placements on one machine for one recording.
#[derive(Clone, Debug)]
pub struct CostModel {
    share: Band,
    latency_ratio: Band,
    slow_bytes_per_s: f64,
    us_per_moved_byte: f64,
    cpu_s: Option<f64>,
    point: bool,
}

impl CostModel {
    /// A model; `memory_share` is the user's own knowledge of the memory-bound share, 0 to 1.
    /// A stall share in the facts makes the band a point.
    #[must_use]
    pub fn new(machine: &Machine, facts: &CostFacts, memory_share: Option<(f64, f64)>) -> Self {
        let (fast, slow) = (machine.fast(), machine.slow());
        let ratio = |writes: f64| {
            let mix = |read: f64, write: f64| (1.0 - writes) * read + writes * write;
            mix(slow.read_latency_ns, slow.write_latency_ns)
                / mix(fast.read_latency_ns, fast.write_latency_ns)
        };
        let (reads, mixed) = (ratio(0.0), ratio(WRITES));
        let share = match (memory_share, facts.stall_share) {
            (Some((low, high)), _) => Band { low: low.min(high), high: low.max(high) },
            (None, Some(stall)) => Band { low: stall, high: stall },
            (None, None) => Band { low: MEMORY_SHARE.0, high: MEMORY_SHARE.1 },
        };
        let unit = |value: f64| if value.is_finite() { value.clamp(0.0, 1.0) } else { 1.0 };
        let huge = unit(facts.huge_share);
        let cost = &machine.migration;
        Self {
            share: Band { low: unit(share.low), high: unit(share.high) },
            latency_ratio: Band { low: reads.min(mixed), high: reads.max(mixed) },
            slow_bytes_per_s: slow.read_bandwidth_gb_s * 1e9,
            us_per_moved_byte: huge * cost.page_2m_us / f64::from(2 << 20)
                + (1.0 - huge) * cost.page_4k_us / 4096.0,
            cpu_s: (facts.target_cpu_s > 0.0).then_some(facts.target_cpu_s),
            point: memory_share.is_none() && facts.stall_share.is_some(),
        }
    }

    /// The same, with moves that cost nothing.
    #[must_use]
    pub fn with_free_moves(mut self) -> Self {
        self.us_per_moved_byte = 0.0;
        self
    }

    /// The memory-bound share in use.
    #[must_use]
    pub fn share(&self) -> Band {
        self.share
    }

    /// Latency of the slow tier over that of the fast one, for reads and for a mix of writes.
    #[must_use]
    pub fn latency_ratio(&self) -> Band {
        self.latency_ratio
    }

    /// The program's slowdown at the curve's entry `i`, against all memory fast.
    ///
    /// A curve without accesses costs nothing but its moves. With stall counters both ends agree.
    #[must_use]
    pub fn slowdown(&self, curve: &Curve, i: usize) -> Band {
        let ratio = self.latency_ratio;
        let high = self.share.high * self.memory_slowdown(curve, i, ratio.high, true, Pick::Worst)
            + self.migration(curve, i);
        if self.point {
            return Band { low: high, high };
        }
        let low = self.share.low * self.memory_slowdown(curve, i, ratio.low, false, Pick::Best);
        Band { low: low.min(high), high }
    }

    /// The slowdown when slow memory serves a fixed share of so many accesses per second, without
    /// moves: for placements that no curve holds.
    #[must_use]
    pub fn slowdown_of_share(&self, slow_share: f64, accesses_per_s: f64) -> Band {
        let slow = slow_share.clamp(0.0, 1.0);
        let queue = queue(slow * accesses_per_s.max(0.0) * LINE / self.slow_bytes_per_s);
        let high = self.share.high * slow * (self.latency_ratio.high * queue - 1.0).max(0.0);
        let low = self.share.low * slow * (self.latency_ratio.low - 1.0).max(0.0);
        Band { low: low.min(high), high }
    }

    /// The high end, were the observation to be read in this one way: what tells how far an
    /// answer depends on saturation and on unseen units, the program's share left alone.
    pub(crate) fn slowdown_as(&self, curve: &Curve, i: usize, reading: Reading) -> f64 {
        let pick = Pick::Only(reading);
        self.share.high * self.memory_slowdown(curve, i, self.latency_ratio.high, true, pick)
            + self.migration(curve, i)
    }

    /// Time of the moves over run time.
    fn migration(&self, curve: &Curve, i: usize) -> f64 {
        if curve.seconds <= 0.0 {
            return 0.0;
        }
        let moved = curve.promoted[i] as f64 + curve.demoted[i] as f64;
        moved * self.us_per_moved_byte / 1e6 / curve.seconds
    }

    /// The greatest possible accesses of saturated units over what was measured of them.
    pub(crate) fn saturated_multiple(&self, curve: &Curve) -> f64 {
        if curve.saturated <= SATURATION_MATTERS * curve.accesses {
            return 1.0;
        }
        let possible = self.cpu_s.unwrap_or(curve.seconds) * CORE_ACCESSES_PER_S;
        ((possible - (curve.accesses - curve.saturated)) / curve.saturated).max(1.0)
    }

    fn memory_slowdown(
        &self,
        curve: &Curve,
        i: usize,
        ratio: f64,
        queueing: bool,
        pick: Pick,
    ) -> f64 {
        let most = self.saturated_multiple(curve);
        let one = |saturated: f64, unseen: f64| {
            let extra = saturated - 1.0;
            let all = curve.accesses + extra * curve.saturated;
            let fast = curve.fast_accesses[i] + extra * curve.fast_saturated[i];
            // The curve bounds every epoch by one access; together they are bounded better.
            let together = (UNSEEN_ACCESSES / f64::from(curve.epochs.max(1))).min(1.0);
            let unseen =
                unseen * together * (curve.unseen_bound - curve.fast_unseen_bound[i]).max(0.0);
            let slow = (all - fast).max(0.0) + unseen;
            let all = all + unseen;
            if all <= 0.0 || curve.seconds <= 0.0 {
                return 0.0;
            }
            let queue = if queueing {
                queue(slow * LINE / curve.seconds / self.slow_bytes_per_s)
            } else {
                1.0
            };
            slow / all * (ratio * queue - 1.0).max(0.0)
        };
        match pick {
            Pick::Worst if self.point => one(1.0, 0.0),
            Pick::Worst => one(1.0, 1.0).max(one(most, 1.0)),
            Pick::Best => one(1.0, 0.0).min(one(most, 0.0)),
            Pick::Only(reading) => one(
                if reading.saturated_at_most { most } else { 1.0 },
                if reading.unseen_charged { 1.0 } else { 0.0 },
            ),
        }
    }
}

#[derive(Clone, Copy)]
enum Pick {
    Worst,
    Best,
    Only(Reading),
}

/// Latency under load over idle latency: next to nothing below half of the bandwidth, 4.6 at
/// 90 %; past that the time grows in proportion, since no more than the bandwidth gets through.
fn queue(demand: f64) -> f64 {
    let knee = |load: f64| 1.0 + load.powi(3) / (2.0 * (1.0 - load));
    if demand < 0.9 { knee(demand) } else { knee(0.9) * demand / 0.9 }
}
