//! The replay as it reads in the specification: one policy, one capacity, one epoch after the
//! other, through the same order, cut and moves that the live loop uses. The stack pass is proved
//! against it and measured beside it.

use crate::curves::evaluation::Evaluation;
use crate::curves::tally::{Hits, moves_whole};
use crate::{ReplayOptions, Traffic};
use pagetide_policy::{Chosen, Places, PolicySpec, Room, Tenant};
use pagetide_types::{Bytes, EpochHeat, HeatFlags, UnitId};
use std::collections::HashMap;

/// What one policy achieved at one capacity; fields as in [`crate::Curve`].
#[derive(Clone, Debug, Default, PartialEq)]
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
    /// See [`crate::Curve::promoted_huge`].
    pub promoted_huge: u64,
    /// See [`crate::Curve::demoted_huge`].
    pub demoted_huge: u64,
    /// What fast memory served in every evaluated epoch.
    pub by_epoch: Vec<Traffic>,
}

/// One policy at one capacity, epoch by epoch.
pub(crate) struct NaiveReplay {
    tenant: Tenant,
    capacity: Bytes,
    /// It knows what an epoch brings.
    foresees: bool,
    /// What is born may push what was there.
    births: bool,
    /// What the last decision left fast, ascending, where `births` may push it.
    fast_before: Vec<UnitId>,
}

impl NaiveReplay {
    /// A replay that has seen no epoch.
    pub(crate) fn new(spec: &PolicySpec, capacity: Bytes) -> Self {
        let needs = spec.info().needs;
        Self {
            tenant: Tenant::of(spec),
            capacity,
            foresees: needs.oracle,
            births: needs.births,
            fast_before: Vec::new(),
        }
    }

    /// Lives through an epoch: which rows of `heat` were fast in it, and which were moved to make room
    /// for what was born.
    pub(crate) fn arrive(&mut self, heat: &EpochHeat) -> (Vec<bool>, Chosen) {
        let pushed = self.tenant.arrive(heat);
        let fast = self.fast(heat);
        let was_fast = |row: &usize| self.fast_before.binary_search(&heat.unit[*row]).is_ok();
        let demote = (0..heat.len()).filter(|row| pushed && !fast[*row]).filter(was_fast).collect();
        (fast, Chosen { demote, ..Chosen::default() })
    }

    /// Decides at the end of the epoch that arrived last, `length_s` seconds long: which rows move.
    /// `free_moves` as in [`pagetide_policy::EpochView::free_moves`]. What knows an
    /// epoch beforehand decides as it begins: call it before that epoch is charged.
    pub(crate) fn decide(&mut self, heat: &EpochHeat, length_s: f64, free_moves: bool) -> Chosen {
        let next = Some(heat).filter(|_| self.foresees);
        let (places, room) = (Places::default(), Room::Ledger(self.capacity));
        let chosen = self.tenant.decide(heat, length_s, places, room, (free_moves, next)).chosen;
        if self.births {
            let fast = heat.unit.iter().zip(self.fast(heat)).filter(|(_, fast)| *fast);
            self.fast_before = fast.map(|(unit, _)| *unit).collect();
        }
        chosen
    }

    /// Which rows of the epoch that arrived last are fast.
    fn fast(&self, heat: &EpochHeat) -> Vec<bool> {
        self.tenant.fast(heat, self.capacity)
    }
}

impl AtCapacity {
    /// Adds what a decision moves to where it has been before.
    fn moved(&mut self, decided: &Chosen, heat: &EpochHeat, been: &HashMap<UnitId, (bool, bool)>) {
        let huge = |row: usize| moves_whole(heat.flags[row], heat.pages[row]);
        let (promoted, demoted) = moved_bytes(decided, heat, been, |_| true);
        self.promoted += promoted;
        self.demoted += demoted;
        let (promoted, demoted) = moved_bytes(decided, heat, been, huge);
        self.promoted_huge += promoted;
        self.demoted_huge += demoted;
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
    let mut been: HashMap<UnitId, (bool, bool)> = HashMap::new();
    let mut begun = false;
    let evaluation = Evaluation::new(options.first_epoch, options.ran_before);
    for (position, (heat, length_s)) in epochs.iter().enumerate() {
        let cue = evaluation.cue(position);
        let (mut fast, pushed) = replay.arrive(heat);
        if cue.counts && !cue.begins {
            total.moved(&pushed, heat, &been);
        }
        // A unit that was absent for an epoch is new memory.
        been.retain(|unit, _| !cue.begins && heat.unit.binary_search(unit).is_ok());
        for (unit, fast) in heat.unit.iter().zip(&fast) {
            // What comes later on is moved for as long as the program runs, and that is paid for.
            let everywhere = begun && !been.contains_key(unit);
            note(&mut been, *unit, *fast);
            if everywhere {
                been.insert(*unit, (true, true));
            }
        }
        begun |= cue.begins;
        let mut decide = |replay: &mut NaiveReplay| {
            let decided = replay.decide(heat, *length_s, cue.free_moves);
            if cue.counts {
                total.moved(&decided, heat, &been);
            }
            decided.promote.iter().for_each(|row| note(&mut been, heat.unit[*row], true));
            decided.demote.iter().for_each(|row| note(&mut been, heat.unit[*row], false));
        };
        if replay.foresees {
            decide(&mut replay);
            fast = replay.fast(heat);
        } else if position + 1 < epochs.len() {
            decide(&mut replay);
        }
        if cue.counts {
            total.epochs += 1;
            let mut served = Traffic::default();
            for (i, (row, fast)) in heat.rows().zip(&fast).enumerate() {
                let accesses = f64::from(heat.memory_rate(i)) * length_s;
                total.accesses += accesses;
                if *fast {
                    total.fast_accesses += accesses;
                    served += Hits::of(heat, i, *length_s).traffic();
                    total.fast_accessed_units += u64::from(row.flags.has(HeatFlags::ACCESSED));
                    if row.flags.has(HeatFlags::SATURATED) {
                        total.fast_saturated += accesses;
                    }
                    if row.flags.has(HeatFlags::UNSEEN) {
                        total.fast_unseen_bound += 1.0;
                    }
                }
            }
            total.by_epoch.push(served);
        }
    }
    total
}

/// Where a unit has been since it was born: in fast memory, in slow.
fn note(been: &mut HashMap<UnitId, (bool, bool)>, unit: UnitId, fast: bool) {
    let (was_fast, was_slow) = been.entry(unit).or_default();
    *was_fast |= fast;
    *was_slow |= !fast;
}

/// Bytes that a decision promotes and demotes to where they have been before, of the rows that
/// count.
fn moved_bytes(
    moves: &Chosen,
    heat: &EpochHeat,
    been: &HashMap<UnitId, (bool, bool)>,
    counts: impl Fn(usize) -> bool,
) -> (u64, u64) {
    let sum = |rows: &[usize], before: fn(&(bool, bool)) -> bool| {
        let rows = rows.iter().filter(|row| before(&been[&heat.unit[**row]]) && counts(**row));
        rows.map(|row| heat.bytes(*row).0).sum()
    };
    (sum(&moves.promote, |been| been.0), sum(&moves.demote, |been| been.1))
}
