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
    /// Adds one unit in one epoch. Without branches: what was seen is hard to predict.
    #[inline]
    pub(crate) fn add(&mut self, heat: &EpochHeat, row: usize, length_s: f64) {
        let flags = heat.flags[row];
        let accesses = f64::from(heat.memory_rate(row)).max(0.0) * length_s;
        let saturated = flags.has(HeatFlags::SATURATED);
        self.accesses += accesses;
        self.saturated += if saturated { accesses } else { 0.0 };
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
    /// Base pages resident, summed over the epochs.
    pub(crate) pages: u64,
}

impl Totals {
    /// Adds one evaluated epoch.
    pub(crate) fn add(&mut self, heat: &EpochHeat, length_s: f64) {
        self.epochs += 1;
        self.seconds += length_s;
        self.pages += heat.pages.iter().map(|pages| u64::from(*pages)).sum::<u64>();
        for row in 0..heat.len() {
            self.all.add(heat, row, length_s);
        }
    }
}

/// Base pages that begin or end to be promoted (0) and demoted (1) at a cell.
type Steps = [i64; 2];

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
        Self { hits: vec![Hits::default(); cells], steps: vec![[0; 2]; cells] }
    }

    /// A unit of `pages` that was fast from cell `old` on is now so from cell `new` on. Without
    /// branches; if the cells are equal nothing changes.
    #[inline]
    pub(crate) fn moved(&mut self, old: u32, new: u32, pages: u16) {
        let down = usize::from(old < new);
        self.steps[old.min(new) as usize][down] += i64::from(pages);
        self.steps[old.max(new) as usize][down] -= i64::from(pages);
    }

    /// What was reached at every cell.
    pub(crate) fn reached(&self) -> impl Iterator<Item = Reached> + '_ {
        let (mut hits, mut moves) = (Hits::default(), [0; 2]);
        self.hits.iter().zip(&self.steps).map(move |(more, step)| {
            hits = hits.sum(*more);
            for (sum, step) in moves.iter_mut().zip(step) {
                *sum += step;
            }
            let [promoted, demoted] = moves.map(|pages: i64| pages.unsigned_abs() << 12);
            Reached { hits, promoted, demoted }
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
