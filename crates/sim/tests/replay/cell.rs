//! A program under a policy at a size of fast memory: replayed, and simulated.

use crate::programs::{EPOCHS, INTERVAL_S, MEMORY, Pace, WARM_UP, machine, simulate};
use crate::recording::record;
use pagetide_replay::{Band, CostFacts, CostModel, Curve, ReplayError, ReplayOptions, replay};
use pagetide_sim::scenario::Outcome;
use pagetide_types::{Bytes, EpochHeat, UnitSize};
use rayon::prelude::*;

/// They decide after every interval, whatever its length.
pub(crate) const POLICIES: [&str; 6] =
    ["first-touch", "lru", "lfu", "rate:interval=0", "two-lists:interval=0", "amp:interval=0"];
pub(crate) const SHARES: [f64; 3] = [0.25, 0.5, 0.75];
/// What an access to slow memory takes longer, over one to fast memory.
const SLOWER: f64 = 1.5;
/// Points of a slowdown that are chance.
const CHANCE: f64 = 0.2;
/// The price of a move, seconds.
const MOVE_S: f64 = 370e-6;

/// See the module.
#[derive(Debug)]
pub(crate) struct Cell {
    pub(crate) program: &'static str,
    pub(crate) policy: &'static str,
    /// Of its memory, fast.
    pub(crate) share: f64,
    /// Hit ratios of the program that waits for no memory, and whose pages move at once.
    pub(crate) at_once: Hits,
    /// The same where moves take their time.
    pub(crate) own: Hits,
    /// The same of the one that only waits.
    pub(crate) bound: Hits,
    /// What the plan says of the slowdown of the latter, and what it is.
    pub(crate) band: Band,
    pub(crate) slowdown: f64,
    /// Share of the simulated time that its moves took.
    pub(crate) moving: f64,
}

/// By the replay and by the simulation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hits {
    pub(crate) replayed: f64,
    pub(crate) simulated: f64,
}

impl Hits {
    /// Points by which the simulation is above.
    pub(crate) fn points(&self) -> f64 {
        100.0 * (self.simulated - self.replayed)
    }
}

/// Why a plan did not hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Why {
    /// Moves: the policy makes them by the clock, and the plan by the program's work; and it leaves
    /// out those that put memory in place.
    Moves,
    /// The program runs slower than it was recorded, so that intervals hold less of it: other hits.
    Pace,
}

impl Cell {
    /// Points by which the slowdown is below or above the band.
    pub(crate) fn beyond(&self) -> f64 {
        let (below, above) = (self.slowdown - self.band.low, self.slowdown - self.band.high);
        100.0 * (below.min(0.0) + above.max(0.0))
    }

    /// Why it is beyond, if it is by more than chance.
    pub(crate) fn why(&self) -> Option<Why> {
        let by_moves = self.slowdown <= self.slowdown_with(self.bound.replayed) + 0.01;
        match () {
            () if self.beyond().abs() <= CHANCE => None,
            () if by_moves && self.bound.points() > -3.0 => Some(Why::Moves),
            () => Some(Why::Pace),
        }
    }

    /// What a program loses that hits so often, and waits for all moves that the policy made by the
    /// clock: while it waits it does nothing.
    fn slowdown_with(&self, hits: f64) -> f64 {
        (1.0 + SLOWER * (1.0 - hits)) / (1.0 - self.moving) - 1.0
    }

    /// The least and the most that it can lose with the hits that it had.
    pub(crate) fn possible(&self) -> (f64, f64) {
        (SLOWER * (1.0 - self.bound.simulated), self.slowdown_with(self.bound.simulated))
    }
}

/// All cells of a program.
pub(crate) fn cells((program, pattern): (&'static str, &'static str)) -> Vec<Cell> {
    let own = Paced::new(pattern, Pace::OfItsOwn);
    let at_once = Paced { pace: Pace::MovesAtOnce, ..own.clone() };
    let bound = Paced::new(pattern, Pace::OfMemory);
    let facts = CostFacts { target_cpu_s: seconds(), stall_share: None };
    let cost = CostModel::new(&machine(), &facts, None);
    let cell = |(at, share): (usize, f64)| {
        let (at_once_hits, _) = at_once.hits(at, share);
        let (own_hits, _) = own.hits(at, share);
        let (bound_hits, found) = bound.hits(at, share);
        let tenant = &found.tenants[0];
        let counted = |at_s: &f64| *at_s > INTERVAL_S * (WARM_UP as f64 - 0.5);
        let moved: u64 = found
            .decisions
            .iter()
            .filter(|decision| counted(&decision.at_s))
            .map(|decision| decision.promote + decision.demote)
            .sum();
        let curve = &bound.curves[at];
        Cell {
            program,
            policy: POLICIES[at].split(':').next().unwrap(),
            share,
            at_once: at_once_hits,
            own: own_hits,
            bound: bound_hits,
            band: cost.slowdown(curve, entry(curve, share)),
            slowdown: bound.accesses_per_s / tenant.accesses_per_s - 1.0,
            moving: (moved >> 21) as f64 * MOVE_S / seconds(),
        }
    };
    let all: Vec<_> = (0..POLICIES.len()).flat_map(|at| SHARES.map(|share| (at, share))).collect();
    all.into_par_iter().map(cell).collect()
}

/// A program at a pace: what it does with all memory fast, recorded and replayed.
#[derive(Clone)]
struct Paced {
    pattern: &'static str,
    pace: Pace,
    accesses_per_s: f64,
    curves: Vec<Curve>,
}

impl Paced {
    fn new(pattern: &'static str, pace: Pace) -> Self {
        let all_fast = &simulate(pattern, pace, None, 1.0).tenants[0];
        let curves = curves(&record(pattern, all_fast.ns_per_access.unwrap()));
        Self { pattern, pace, accesses_per_s: all_fast.accesses_per_s, curves }
    }

    fn hits(&self, policy: usize, share: f64) -> (Hits, Outcome) {
        let curve = &self.curves[policy];
        let found = simulate(self.pattern, self.pace, Some(POLICIES[policy]), share);
        let replayed = curve.hit_ratio(entry(curve, share));
        (Hits { replayed, simulated: found.tenants[0].fast_share }, found)
    }
}

fn curves(epochs: &[(EpochHeat, f64)]) -> Vec<Curve> {
    let specs: Vec<_> = POLICIES.iter().map(|policy| policy.parse().unwrap()).collect();
    let options = ReplayOptions {
        unit: UnitSize::Huge,
        footprint: MEMORY,
        first_epoch: WARM_UP,
        ..ReplayOptions::default()
    };
    let epochs = epochs.iter().cloned().map(Ok::<_, ReplayError>);
    replay(epochs, &specs, options).unwrap().into_iter().map(|replayed| replayed.curve).collect()
}

/// The curve's entry for a share of the memory, which was replayed itself.
fn entry(curve: &Curve, share: f64) -> usize {
    let capacity = Bytes((MEMORY.as_f64() * share) as u64);
    let entry = (capacity.0 / curve.step.0) as usize;
    assert!(curve.is_exact(entry) && curve.capacity(entry) == capacity);
    entry
}

/// Seconds that count.
fn seconds() -> f64 {
    INTERVAL_S * (EPOCHS - WARM_UP) as f64
}
