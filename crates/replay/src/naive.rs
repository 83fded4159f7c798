//! The replay as it reads in the specification: one policy, one capacity, one epoch after the
//! other, through the same order, cut and moves that the live loop uses. The stack pass is proved
//! against it and measured beside it.

use crate::ReplayOptions;
use crate::rehearsal::Rehearsal;
use pagetide_policy::{Decider, Moves, Now, PolicySpec};
use pagetide_types::{Bytes, EpochHeat, HeatFlags, UnitId};

/// What one policy achieved at one capacity; fields as in [`crate::Curve`].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct AtCapacity {
    /// Evaluated epochs.
    pub epochs: u32,
    /// See [`crate::Curve::accesses`].
    pub accesses: f64,
    /// See [`crate::Curve::fast_accesses`].
    pub fast_accesses: f64,
    /// See [`crate::Curve::fast_saturated`].
    pub fast_saturated: f64,
    /// See [`crate::Curve::fast_unseen_bound`].
    pub fast_unseen_bound: f64,
    /// See [`crate::Curve::fast_accessed_units`].
    pub fast_accessed_units: u64,
    /// Bytes moved to fast memory.
    pub promoted: u64,
    /// Bytes moved out of fast memory.
    pub demoted: u64,
}

/// One policy at one capacity, epoch by epoch.
pub struct NaiveReplay {
    decider: Decider,
    capacity: Bytes,
}

impl NaiveReplay {
    /// A replay that has seen no epoch.
    #[must_use]
    pub fn new(spec: &PolicySpec, capacity: Bytes) -> Self {
        Self { decider: Decider::new(spec), capacity }
    }

    /// Lives through an epoch: which rows of `heat` were fast in it.
    pub fn arrive(&mut self, heat: &EpochHeat) -> Vec<bool> {
        self.decider.arrive(heat);
        self.decider.fast(heat, self.capacity)
    }

    /// Decides at the end of the epoch that arrived last, `length_s` seconds long, in which `fast`
    /// rows were fast; `free_moves` as in [`pagetide_policy::EpochView::free_moves`].
    pub fn decide(
        &mut self,
        heat: &EpochHeat,
        length_s: f64,
        free_moves: bool,
        next: &EpochHeat,
        fast: &[bool],
    ) -> Moves {
        let next = Some(next);
        let now = Now { length_s, free_moves, capacity: self.capacity, fast, movable: None, next };
        self.decider.decide(heat, &now)
    }

    /// The units from the fastest memory to the slowest.
    pub fn units(&self) -> impl Iterator<Item = UnitId> + '_ {
        self.decider.units()
    }
}

/// Replays `epochs` (with their lengths in seconds) through one policy at one capacity.
#[must_use]
pub fn replay_at(
    epochs: &[(EpochHeat, f64)],
    spec: &PolicySpec,
    options: &ReplayOptions,
    capacity: Bytes,
) -> AtCapacity {
    let mut replay = NaiveReplay::new(spec, capacity);
    let mut total = AtCapacity::default();
    let mut rehearsal = Rehearsal::new(options.first_epoch, options.rehearsal);
    let mut order: Vec<_> = epochs.iter().flat_map(|epoch| rehearsal.push(epoch)).collect();
    order.extend(rehearsal.finish());
    for (position, (cue, (heat, length_s))) in order.iter().enumerate() {
        let fast = replay.arrive(heat);
        if cue.counts {
            total.epochs += 1;
            for (i, (row, fast)) in heat.rows().zip(&fast).enumerate() {
                let accesses = f64::from(heat.memory_rate(i)) * length_s;
                total.accesses += accesses;
                if *fast {
                    total.fast_accesses += accesses;
                    total.fast_accessed_units += u64::from(row.flags.has(HeatFlags::ACCESSED));
                    if row.flags.has(HeatFlags::SATURATED) {
                        total.fast_saturated += accesses;
                    }
                    if row.flags.has(HeatFlags::UNSEEN) {
                        total.fast_unseen_bound += 1.0;
                    }
                }
            }
        }
        let Some((_, (next, _))) = order.get(position + 1) else { break };
        let decided = replay.decide(heat, *length_s, !cue.counts, next, &fast);
        if cue.counts {
            let (promoted, demoted) = moved_bytes(&decided, heat);
            total.promoted += promoted;
            total.demoted += demoted;
        }
    }
    total
}

/// Bytes that a decision promotes and demotes.
fn moved_bytes(moves: &Moves, heat: &EpochHeat) -> (u64, u64) {
    let bytes = |unit: &UnitId| heat.unit.binary_search(unit).map_or(0, |row| heat.bytes(row).0);
    let up = moves.exchange.iter().map(|(up, _)| up).chain(&moves.promote);
    let down = moves.exchange.iter().map(|(_, down)| down).chain(&moves.demote);
    (up.map(bytes).sum(), down.map(bytes).sum())
}
