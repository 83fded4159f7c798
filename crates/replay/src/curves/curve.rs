//! What replaying a recording through one policy gives: totals at every capacity.

use crate::ByEpoch;
use pagetide_policy::Observation;
use pagetide_types::Bytes;
use serde::Serialize;

/// What a policy would have achieved at every capacity of fast memory.
///
/// Every vector has the same length (but `replayed_at`, and those that are empty where nothing was
/// counted); entry `i` belongs to the capacity `step * i`,
/// the last one holds the whole footprint. All totals run over the evaluated epochs (those after
/// the first decision and after warm-up); accesses are rate x epoch length. The bytes moved are
/// those of the decisions in force in the evaluated epochs, one decision each.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Curve {
    /// The policy's name in the registry; with options, where some were given
    /// (`rate:interval=8`).
    pub policy: String,
    /// Distance between two capacities.
    pub step: Bytes,
    /// Evaluated epochs.
    pub epochs: u32,
    /// Seconds in the evaluated epochs together.
    pub seconds: f64,
    /// Estimated accesses to all units.
    pub accesses: f64,
    /// The part of `accesses` that went to units marked saturated (a lower bound).
    pub saturated: f64,
    /// Upper bound of the accesses to units that were watched and never seen: one per epoch each.
    pub unseen_bound: f64,
    /// (unit, epoch) pairs in which the unit was accessed.
    pub accessed_units: u64,
    /// Of `accesses`, those that no prefetcher can have fetched; 0 where they were not counted.
    pub leads: f64,
    /// Lines written back; 0 where they were not counted.
    pub writes: f64,
    /// Estimated accesses served by fast memory.
    pub fast_accesses: Vec<f64>,
    /// The part of `fast_accesses` to saturated units.
    pub fast_saturated: Vec<f64>,
    /// The part of `unseen_bound` in fast memory.
    pub fast_unseen_bound: Vec<f64>,
    /// Accessed (unit, epoch) pairs in fast memory.
    pub fast_accessed_units: Vec<u64>,
    /// The part of `leads` in fast memory; empty where they were not counted.
    pub fast_leads: Vec<f64>,
    /// The part of `writes` in fast memory; empty where they were not counted.
    pub fast_writes: Vec<f64>,
    /// Bytes moved to fast memory in which they have been before: what is moved there for the first
    /// time is put in place, once in the program's life.
    pub promoted: Vec<u64>,
    /// Bytes moved out of fast memory again.
    pub demoted: Vec<u64>,
    /// The part of `promoted` in huge pages, which move whole.
    pub promoted_huge: Vec<u64>,
    /// The part of `demoted` in huge pages.
    pub demoted_huge: Vec<u64>,
    /// The same accesses epoch by epoch, at some of the entries.
    pub by_epoch: ByEpoch,
    /// The entries that were replayed, ascending, for policies whose order depends on the
    /// capacity; between them the vectors hold straight lines. Empty: every entry was.
    pub replayed_at: Vec<u32>,
    /// One unit in so many was replayed, and stands for all; 1: every unit was.
    pub one_unit_in: u64,
}

/// What one policy achieved, and what it told.
#[derive(Clone, Debug, PartialEq)]
pub struct Replayed {
    /// At every capacity.
    pub curve: Curve,
    /// What it told of its decisions, at each capacity at which it was replayed on its own,
    /// ascending; empty for policies that tell nothing.
    pub told: Vec<Told>,
}

/// What a policy told of its decisions at one capacity.
#[derive(Clone, Debug, PartialEq)]
pub struct Told {
    /// Fast memory.
    pub capacity: Bytes,
    /// The position in the stream of the epochs at whose ends it decided, and what it told.
    pub decisions: Vec<(usize, Observation)>,
}

impl Curve {
    /// The capacity of entry `i`.
    #[must_use]
    pub fn capacity(&self, i: usize) -> Bytes {
        Bytes(self.step.0 * i as u64)
    }
    /// Whether entry `i` was replayed with every unit, and is neither an estimate from a sample
    /// nor a line between two entries that were replayed.
    #[must_use]
    pub fn is_exact(&self, i: usize) -> bool {
        let replayed = || self.replayed_at.iter().any(|at| *at as usize == i);
        self.one_unit_in <= 1 && (self.replayed_at.is_empty() || replayed())
    }
    /// Share of the accesses that fast memory served at entry `i`; 1 where nothing was accessed.
    #[must_use]
    pub fn hit_ratio(&self, i: usize) -> f64 {
        // Both are sums, and rounded each in its own order.
        if self.accesses > 0.0 { (self.fast_accesses[i] / self.accesses).min(1.0) } else { 1.0 }
    }
}
