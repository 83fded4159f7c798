//! A tenant: what decides where its memory belongs, whoever carries it out. The live loop, a
//! simulation and the naive replay hand in the heat of an epoch, where its units are and what room
//! there is, and get the moves; then they say what really happened. Only what watches and what moves
//! differs between them.

use crate::{
    AlwaysMigrate, Chosen, CostBenefit, Counters, Decider, Governor, Limits, Moves, Now,
    Observation, PolicySpec, Verdict, apply_limits,
};
use pagetide_types::{Bytes, EpochHeat, HeatFlags, UnitId};
use std::collections::{BTreeMap, BTreeSet};

/// Where the units of an epoch are.
#[derive(Clone, Copy, Debug, Default)]
pub struct Places<'a> {
    /// Which rows are fast; none: as if every decision had been carried out.
    pub fast: Option<&'a [bool]>,
    /// Which rows may move; none: all.
    pub movable: Option<&'a [bool]>,
    /// By row, the number of the process that it belongs to; none: all belong to one.
    pub process: Option<&'a [u32]>,
}

/// What room a decision has.
#[derive(Clone, Copy, Debug)]
pub enum Room {
    /// So much fast memory, and every move is made: a ledger.
    Ledger(Bytes),
    /// Within limits, for somebody else lives there, too.
    Limited {
        /// Fast memory that the tenant may have.
        capacity: Bytes,
        /// What it has.
        used: Bytes,
        /// Bytes that may move, either way.
        move_budget: Bytes,
    },
}

impl Room {
    fn capacity(&self) -> Bytes {
        match self {
            Self::Ledger(capacity) | Self::Limited { capacity, .. } => *capacity,
        }
    }
}

/// What moves, and what a summary tells of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Decision {
    /// The moves within the limits.
    pub chosen: Chosen,
    /// Processes whose pages may go up, and those that stand still.
    pub migrating: usize,
    /// See [`Self::migrating`].
    pub standing_still: usize,
}

/// What became of the order to move a row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// The row of the heat that was decided on.
    pub row: usize,
    /// To fast memory.
    pub up: bool,
    /// Seen in its new place.
    pub moved: Bytes,
    /// Moved, and seen elsewhere afterwards.
    pub moved_back: Bytes,
}

/// See the module.
pub struct Tenant {
    decider: Decider,
    governor: Box<dyn Governor>,
    cost_benefit: Option<CostBenefit>,
    /// By process that has memory.
    counters: BTreeMap<u32, Counters>,
    /// Units that went up and did not come down yet.
    promoted: BTreeSet<UnitId>,
    /// Of all processes so far.
    promoted_then_demoted: Bytes,
    now_s: f64,
    /// By row of the last decision; empty: all of process 0.
    process: Vec<u32>,
}

impl Tenant {
    /// One that has seen no epoch. `cost_benefit`: what moves cost and bring; none: every one pays.
    #[must_use]
    pub fn new(
        decider: Decider,
        governor: Box<dyn Governor>,
        cost_benefit: Option<CostBenefit>,
    ) -> Self {
        Self {
            decider,
            governor,
            cost_benefit,
            counters: BTreeMap::new(),
            promoted: BTreeSet::new(),
            promoted_then_demoted: Bytes(0),
            now_s: 0.0,
            process: Vec::new(),
        }
    }

    /// A policy alone: nobody stops it, and every move pays.
    #[must_use]
    pub fn of(spec: &PolicySpec) -> Self {
        Self::new(Decider::new(spec), Box::new(AlwaysMigrate), None)
    }

    /// The governor's name.
    #[must_use]
    pub fn governor(&self) -> &'static str {
        self.governor.name()
    }

    /// Lives through an epoch; once for each, in order.
    pub fn arrive(&mut self, heat: &EpochHeat) {
        self.decider.arrive(heat);
    }

    /// Which rows of the epoch that arrived last are fast, if every decision was carried out.
    #[must_use]
    pub fn fast(&self, heat: &EpochHeat, capacity: Bytes) -> Vec<bool> {
        self.decider.fast(heat, capacity)
    }

    /// Decides at the end of the epoch that arrived last, `length_s` seconds long. `free_moves` and
    /// `next` are those of [`Now`], and only a replay has them.
    pub fn decide(
        &mut self,
        heat: &EpochHeat,
        length_s: f64,
        places: Places<'_>,
        room: Room,
        (free_moves, next): (bool, Option<&EpochHeat>),
    ) -> Decision {
        let capacity = room.capacity();
        let ledger;
        let fast = match places.fast {
            Some(fast) => {
                self.decider.reconcile(heat, fast);
                fast
            }
            None => {
                ledger = self.decider.fast(heat, capacity);
                &ledger
            }
        };
        let still = self.judge(heat, length_s, places.process);
        let may_move = |row: usize| {
            let stands_still = still.contains(&self.process.get(row).copied().unwrap_or(0));
            places.movable.is_none_or(|movable| movable[row]) && (fast[row] || !stands_still)
        };
        let free = places.movable.is_none() && still.is_empty();
        let movable: Option<Vec<bool>> = (!free).then(|| (0..heat.len()).map(may_move).collect());
        let movable = movable.as_deref();
        let now = Now { length_s, free_moves, capacity, fast, movable, next };
        let moves = self.decider.decide(heat, &now);
        let chosen = match room {
            Room::Ledger(_) => all_of(&moves, heat),
            Room::Limited { capacity, used, move_budget } => {
                let cost_benefit = self.cost_benefit;
                let limits = Limits { capacity, used, move_budget, cost_benefit };
                apply_limits(&self.decider, &moves, heat, &limits)
            }
        };
        Decision {
            chosen,
            migrating: self.counters.len() - still.len(),
            standing_still: still.len(),
        }
    }

    /// Takes in what became of the last decision on `heat`.
    pub fn learn(&mut self, heat: &EpochHeat, outcomes: impl Iterator<Item = Outcome>) {
        for outcome in outcomes {
            let Some(unit) = heat.unit.get(outcome.row) else { continue };
            let process = self.process.get(outcome.row).copied().unwrap_or(0);
            let counters = self.counters.entry(process).or_default();
            counters.moved_back += outcome.moved_back;
            if outcome.moved == Bytes(0) {
                continue;
            }
            if outcome.up {
                counters.promoted += outcome.moved;
                self.promoted.insert(*unit);
            } else {
                counters.demoted += outcome.moved;
                if self.promoted.remove(unit) {
                    counters.promoted_then_demoted += outcome.moved;
                    self.promoted_then_demoted += outcome.moved;
                }
            }
        }
    }

    /// Bytes that went down after they had gone up.
    #[must_use]
    pub fn promoted_then_demoted(&self) -> Bytes {
        self.promoted_then_demoted
    }

    /// What the last decision saw and chose, if the policy tells.
    #[must_use]
    pub fn observation(&self) -> Option<Observation> {
        self.decider.observation()
    }

    /// Asks the governor once for every process that has memory; which of them stand still.
    fn judge(&mut self, heat: &EpochHeat, length_s: f64, process: Option<&[u32]>) -> BTreeSet<u32> {
        self.now_s += length_s;
        self.process.clear();
        self.process.extend_from_slice(process.unwrap_or_default());
        let before = std::mem::take(&mut self.counters);
        for row in 0..heat.len() {
            let process = self.process.get(row).copied().unwrap_or(0);
            let counters = self.counters.entry(process).or_insert_with(|| Counters {
                accessed: Bytes(0),
                watched: Bytes(0),
                now_s: self.now_s,
                length_s,
                ..before.get(&process).copied().unwrap_or_default()
            });
            let (flags, bytes) = (heat.flags[row], heat.bytes(row));
            counters.accessed += if flags.has(HeatFlags::ACCESSED) { bytes } else { Bytes(0) };
            counters.watched += if flags.has(HeatFlags::SAMPLED) { bytes } else { Bytes(0) };
        }
        let judged = self.counters.iter().filter_map(|(process, counters)| {
            (self.governor.judge(*process, counters) == Verdict::StandStill).then_some(*process)
        });
        judged.collect()
    }
}

/// Every move, as rows of the heat.
fn all_of(moves: &Moves, heat: &EpochHeat) -> Chosen {
    let row = |unit: &UnitId| heat.unit.binary_search(unit).ok();
    let up = moves.exchange.iter().map(|(up, _)| up).chain(&moves.promote);
    let down = moves.exchange.iter().map(|(_, down)| down).chain(&moves.demote);
    Chosen {
        promote: up.filter_map(row).collect(),
        demote: down.filter_map(row).collect(),
        ..Chosen::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Policy;
    use crate::{EpochView, Needs, RankPolicy};
    use pagetide_types::{EpochId, HeatRow, NodeId};

    const PAGE: Bytes = Bytes(4096);

    fn heat(epoch: u32, rates: &[f32]) -> EpochHeat {
        let mut heat = EpochHeat::new(EpochId(epoch));
        for (unit, rate) in (0..).zip(rates) {
            let flags = HeatFlags::SAMPLED | HeatFlags::ACCESSED;
            let (unit, node) = (UnitId(unit), NodeId(0));
            heat.push(HeatRow { unit, rate: *rate, flags, pages: 1, watched: 1, touched: 1, node });
        }
        heat
    }

    /// Lets every process but one migrate, and writes down what it was shown.
    struct AllBut(u32, std::sync::Arc<std::sync::Mutex<Vec<(u32, Counters)>>>);

    impl Governor for AllBut {
        fn judge(&mut self, process: u32, counters: &Counters) -> Verdict {
            self.1.lock().unwrap().push((process, *counters));
            if process == self.0 { Verdict::StandStill } else { Verdict::Migrate }
        }
        fn name(&self) -> &'static str {
            "all but"
        }
    }

    #[test]
    fn the_governor_is_asked_once_per_process_and_stops_its_promotions_only() {
        let seen = std::sync::Arc::default();
        let governor = Box::new(AllBut(7, std::sync::Arc::clone(&seen)));
        let spec: PolicySpec = "rate:steps=256,interval=0".parse().unwrap();
        let mut tenant = Tenant::new(Decider::new(&spec), governor, None);
        // Two units of process 3, two of process 7; those in slow memory are the hot ones.
        let heat = heat(0, &[1.0, 50.0, 1.0, 90.0]);
        let (fast, process) = ([true, false, true, false], [3, 3, 7, 7]);
        let places = Places { fast: Some(&fast), movable: None, process: Some(&process) };
        tenant.arrive(&heat);
        let decided =
            tenant.decide(&heat, 2.0, places, Room::Ledger(Bytes(2 * PAGE.0)), (false, None));
        assert_eq!(decided.chosen.promote, [1], "7 stands still");
        assert_eq!(decided.chosen.demote.len(), 1);
        assert_eq!((decided.migrating, decided.standing_still), (1, 1));
        let up = Outcome { row: 1, up: true, moved: PAGE, moved_back: Bytes(0) };
        tenant.learn(&heat, [up].into_iter());
        tenant.arrive(&heat);
        tenant.decide(&heat, 2.0, places, Room::Ledger(Bytes(2 * PAGE.0)), (false, None));
        let down = Outcome { up: false, ..up };
        tenant.learn(&heat, [down, down].into_iter());
        assert_eq!(tenant.promoted_then_demoted(), PAGE, "once up, once down for nothing");
        let seen = seen.lock().unwrap();
        let asked: Vec<_> =
            seen.iter().map(|(process, c)| (*process, c.now_s, c.promoted)).collect();
        let none = Bytes(0);
        assert_eq!(asked, [(3, 2.0, none), (7, 2.0, none), (3, 4.0, PAGE), (7, 4.0, none)]);
        assert!(seen.iter().all(|(_, c)| c.watched == Bytes(2 * PAGE.0) && c.length_s == 2.0));
    }

    /// Of no registry: the last unit first.
    struct Backwards;

    impl RankPolicy for Backwards {
        fn rank(&mut self, view: &EpochView<'_>, keys: &mut [u32]) {
            let units = view.heat.unit.iter();
            keys.iter_mut().zip(units).for_each(|(key, unit)| *key = u32::MAX - unit.0);
        }
    }

    #[test]
    fn a_policy_needs_no_registry() {
        let decider = Decider::with(Policy::Rank(Box::new(Backwards)), Needs::NOTHING);
        let mut tenant = Tenant::new(decider, Box::new(AlwaysMigrate), None);
        let heat = heat(0, &[5.0, 4.0, 3.0]);
        let room = Room::Ledger(PAGE);
        tenant.arrive(&heat);
        assert_eq!(tenant.fast(&heat, PAGE), [true, false, false], "first touch");
        let decided = tenant.decide(&heat, 1.0, Places::default(), room, (false, None));
        assert_eq!((decided.chosen.promote, decided.chosen.demote), (vec![2], vec![0]));
        assert_eq!(tenant.fast(&heat, PAGE), [false, false, true]);
    }
}
