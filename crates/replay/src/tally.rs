//! What a replay adds up: totals over all units, and per cell of capacities what becomes fast
//! there (hits) or starts and stops being moved there (difference arrays over the capacities).

use crate::Curve;
use pagetide_types::{Bytes, EpochHeat, HeatFlags};

/// Sums over units.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Hits {
    pub(crate) accesses: f64,
    pub(crate) saturated: f64,
    pub(crate) unseen: u64,
    pub(crate) accessed: u64,
}

impl Hits {
    /// Adds one unit in one epoch.
    #[inline]
    pub(crate) fn add(&mut self, heat: &EpochHeat, row: usize, length_s: f64) {
        let flags = heat.flags[row];
        let rate = f64::from(heat.rate[row]);
        if rate > 0.0 {
            self.accesses += rate * length_s;
            if flags.has(HeatFlags::SATURATED) {
                self.saturated += rate * length_s;
            }
        }
        self.unseen += u64::from(flags.has(HeatFlags::UNSEEN));
        self.accessed += u64::from(flags.has(HeatFlags::ACCESSED));
    }

    pub(crate) fn sum(self, other: Self) -> Self {
        Self {
            accesses: self.accesses + other.accesses,
            saturated: self.saturated + other.saturated,
            unseen: self.unseen + other.unseen,
            accessed: self.accessed + other.accessed,
        }
    }
}

/// Totals that do not depend on a policy.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Totals {
    pub(crate) epochs: u32,
    pub(crate) seconds: f64,
    pub(crate) all: Hits,
}

impl Totals {
    /// Adds one evaluated epoch.
    pub(crate) fn add(&mut self, heat: &EpochHeat, length_s: f64) {
        self.epochs += 1;
        self.seconds += length_s;
        for row in 0..heat.len() {
            self.all.add(heat, row, length_s);
        }
    }
}

/// Base pages that begin or end to be moved at a cell.
#[derive(Clone, Copy, Debug, Default)]
struct Steps {
    promoted: i64,
    demoted: i64,
}

/// What one policy adds up at every cell of capacities.
#[derive(Debug)]
pub(crate) struct Tally {
    pub(crate) hits: Vec<Hits>,
    steps: Vec<Steps>,
}

/// What one policy achieved at one capacity.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Reached {
    pub(crate) hits: Hits,
    pub(crate) promoted: u64,
    pub(crate) demoted: u64,
}

impl Tally {
    pub(crate) fn new(cells: usize) -> Self {
        Self { hits: vec![Hits::default(); cells], steps: vec![Steps::default(); cells] }
    }

    /// A unit of `pages` that was fast from cell `old` on is now so from cell `new` on.
    #[inline]
    pub(crate) fn moved(&mut self, old: u32, new: u32, pages: u16) {
        let (old, new, pages) = (old as usize, new as usize, i64::from(pages));
        if new < old {
            self.steps[new].promoted += pages;
            self.steps[old].promoted -= pages;
        } else {
            self.steps[old].demoted += pages;
            self.steps[new].demoted -= pages;
        }
    }

    /// What was reached at every cell.
    pub(crate) fn reached(&self) -> impl Iterator<Item = Reached> + '_ {
        let (mut hits, mut moves) = (Hits::default(), Steps::default());
        self.hits.iter().zip(&self.steps).map(move |(more, step)| {
            hits = hits.sum(*more);
            moves.promoted += step.promoted;
            moves.demoted += step.demoted;
            Reached {
                hits,
                promoted: moves.promoted.unsigned_abs() << 12,
                demoted: moves.demoted.unsigned_abs() << 12,
            }
        })
    }
}

/// Puts totals and what was reached at every capacity together.
pub(crate) fn curve(
    policy: String,
    step: Bytes,
    totals: &Totals,
    reached: impl Iterator<Item = Reached>,
) -> Curve {
    let mut curve = Curve {
        policy,
        step,
        epochs: totals.epochs,
        seconds: totals.seconds,
        accesses: totals.all.accesses,
        saturated: totals.all.saturated,
        unseen_bound: totals.all.unseen as f64,
        accessed_units: totals.all.accessed,
        ..Curve::default()
    };
    for at in reached {
        curve.fast_accesses.push(at.hits.accesses);
        curve.fast_saturated.push(at.hits.saturated);
        curve.fast_unseen_bound.push(at.hits.unseen as f64);
        curve.fast_accessed_units.push(at.hits.accessed);
        curve.promoted.push(at.promoted);
        curve.demoted.push(at.demoted);
    }
    curve
}
