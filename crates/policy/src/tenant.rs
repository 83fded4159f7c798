//! A tenant: what decides where its memory belongs, whoever carries it out. The live loop, a
//! simulation and the naive replay hand in the heat of an epoch, where its units are and what room
//! there is, and get the moves; then they say what really happened. Only what watches and what moves
//! differs between them.

use crate::channel::Worth;
use crate::may_bring::may_bring;
use crate::processes::Processes;
use crate::{
    Birth, Change, Chosen, CostBenefit, Decider, GovernorSpec, Governors, Limits, Moves, Now,
    Observation, PolicySpec, apply_limits,
};
use pagetide_types::{Bytes, EpochHeat, HeatFlags, MayBring, UnitId};

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
        /// Fast memory that the tenant is to have.
        capacity: Bytes,
        /// What it may have rather than give back what is worth its place.
        most: Bytes,
        /// What it has.
        used: Bytes,
        /// Bytes that may move, either way.
        move_budget: Bytes,
        /// So much is to be made free for what will be born, also of what is worth its place.
        for_births: Bytes,
    },
}

impl Room {
    fn capacity(&self) -> Bytes {
        match self {
            Self::Ledger(capacity) | Self::Limited { capacity, .. } => *capacity,
        }
    }

    /// What the tenant could still take, bytes, or has too much, where it is known what it has.
    fn left(&self) -> Option<f64> {
        match self {
            Self::Ledger(_) => None,
            Self::Limited { capacity, used, .. } => Some(capacity.as_f64() - used.as_f64()),
        }
    }
}

/// What moves, and what a summary tells of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Decision {
    /// The moves within the limits.
    pub chosen: Chosen,
    /// Processes whose pages may go up, and those that stand still.
    pub migrating: usize,
    /// See [`Self::migrating`].
    pub standing_still: usize,
    /// Processes that are to be watched sparsely from now on ([`crate::Watch`]), ascending.
    pub sparse: Vec<u32>,
    /// What the governor sees in another way than before.
    pub changes: Vec<Change>,
    /// What watching may bring; none where nobody says what accesses cost, or nothing limits fast memory.
    pub may_bring: Option<MayBring>,
    /// The heat with each access as often as it counts, where that is not once: what was decided by.
    pub weighed: Option<EpochHeat>,
}

/// Where what was visited is, and what room there is.
#[derive(Clone, Copy, Debug)]
pub struct Here<'a> {
    /// Which rows are fast.
    pub fast: &'a [bool],
    /// By row, the number of the process that it belongs to.
    pub process: &'a [u32],
    /// What the tenant could still take of fast memory, bytes, below 0 where it has too much.
    pub room: f64,
}

/// What governors say while everybody stands still.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Glance {
    /// As in [`Decision::migrating`].
    pub migrating: usize,
    /// Rows belong to processes that were not there in the last decision.
    pub strangers: bool,
    /// As in [`Decision::sparse`].
    pub sparse: Vec<u32>,
    /// As in [`Decision::changes`].
    pub changes: Vec<Change>,
}

/// What became of the order to move a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The row of the heat that was decided on.
    pub row: usize,
    /// Its unit.
    pub unit: UnitId,
    /// Whether that is a huge page.
    pub huge: bool,
    /// To fast memory.
    pub up: bool,
    /// Seen in its new place.
    pub moved: Bytes,
    /// Moved, and seen elsewhere afterwards.
    pub moved_back: Bytes,
}

impl Outcome {
    /// That of a row's order; nothing has moved yet.
    #[must_use]
    pub fn of(heat: &EpochHeat, row: usize, up: bool) -> Self {
        let (unit, huge) = (heat.unit[row], heat.flags[row].has(HeatFlags::HUGE));
        Self { row, unit, huge, up, moved: Bytes(0), moved_back: Bytes(0) }
    }
}

/// See the module.
pub struct Tenant {
    decider: Decider,
    processes: Processes,
}

impl Tenant {
    /// One that has seen no epoch. `cost_benefit`: what moves cost and bring; none: every one pays,
    /// and a governor that counts in seconds stops nothing.
    #[must_use]
    pub fn new(decider: Decider, governors: Governors, cost_benefit: Option<CostBenefit>) -> Self {
        Self { decider, processes: Processes::new(governors, cost_benefit) }
    }

    /// A policy alone: nobody stops it, and every move pays.
    #[must_use]
    pub fn of(spec: &PolicySpec) -> Self {
        Self::new(Decider::new(spec), (&GovernorSpec::default()).into(), None)
    }

    /// The governor's name with options.
    #[must_use]
    pub fn governor(&self) -> &str {
        self.processes.governor()
    }

    /// Watching the epoch that ends took so many CPU seconds; before [`Self::decide`]. Nothing, if
    /// nobody says so. `piece`: so much memory is watched together, so that a governor doubts what few
    /// pieces show; none: it never does.
    pub fn watched(&mut self, cpu_s: f64, piece: Option<Bytes>) {
        self.processes.watched(cpu_s, piece);
    }

    /// By the end of the epoch that ends a process has used so many CPU seconds; before [`Self::decide`], for those of which
    /// somebody says so. One that ran for less of the time than before is not taken for one that accesses less.
    pub fn ran(&mut self, process: u32, cpu_s: f64) {
        self.processes.ran(process, cpu_s);
    }

    /// What it accesses became another thing in the epoch that ends, or in what was just decided: what moves has to pay within
    /// the usual time again. Who does not say so has one that is always the same.
    pub fn changed(&mut self) {
        self.processes.changed();
    }

    /// Lives through an epoch; once for each, in order. Answers as [`Decider::arrive`].
    pub fn arrive(&mut self, heat: &EpochHeat) -> bool {
        self.decider.arrive(heat)
    }

    /// What the policy expects of memory that is born.
    #[must_use]
    pub fn birth(&self) -> Option<Birth> {
        self.decider.birth()
    }

    /// How much was born in the epoch that arrived last.
    #[must_use]
    pub fn born(&self, heat: &EpochHeat) -> Bytes {
        self.decider.born(heat)
    }

    /// Which rows of the epoch that arrived last are fast, if every decision was carried out.
    #[must_use]
    pub fn fast(&self, heat: &EpochHeat, capacity: Bytes) -> Vec<bool> {
        self.decider.fast(heat, capacity)
    }

    /// Decides at the end of the epoch that arrived last, `passed_s` seconds after the decision before
    /// it. `free_moves` and `next` are those of [`Now`], and only a replay has them.
    pub fn decide(
        &mut self,
        heat: &EpochHeat,
        passed_s: f64,
        places: Places<'_>,
        room: Room,
        (free_moves, next): (bool, Option<&EpochHeat>),
    ) -> Decision {
        let capacity = room.capacity();
        let ledger;
        let fast = match places.fast {
            Some(fast) => {
                self.decider.reconcile(fast);
                fast
            }
            None => {
                ledger = self.decider.fast(heat, capacity);
                &ledger
            }
        };
        let changes = self.processes.judge(heat, (fast, room.left()), passed_s, places.process);
        let (migrating, standing_still) = self.processes.standing();
        let may_move = |row: usize| {
            let may_go_up = || !self.processes.stands_still(row);
            places.movable.is_none_or(|movable| movable[row]) && (fast[row] || may_go_up())
        };
        let prices = self.processes.prices();
        let worth = prices.and_then(|terms| Worth::of(heat, &terms, |row| !fast[row]));
        let weighed = worth.filter(Worth::tells).map(|worth| worth.weigh(heat));
        let heat = weighed.as_ref().unwrap_or(heat);
        let free = places.movable.is_none() && standing_still == 0;
        let movable: Option<Vec<bool>> = (!free).then(|| (0..heat.len()).map(may_move).collect());
        let movable = movable.as_deref();
        let now = Now { length_s: passed_s, free_moves, capacity, fast, movable, next };
        let moves = self.decider.decide(heat, &now);
        let may_go_up = |row: usize| movable.is_none_or(|movable| movable[row]);
        let mut found = None;
        let chosen = match room {
            Room::Ledger(_) => all_of(&moves, heat),
            Room::Limited { capacity, most, used, move_budget, for_births } => {
                let cost_benefit = prices.map(|terms| self.processes.at_age(&terms));
                found = cost_benefit.map(|terms| {
                    let moving = |row| may_go_up(row).then(|| terms.pays_by(heat, row));
                    let of = may_bring(heat, fast, moving, capacity);
                    let [more_s, at_stake_s] = of.map(|accesses| terms.waits(accesses));
                    MayBring { more_s, at_stake_s }
                });
                let limits = Limits { capacity, most, used, move_budget, for_births, cost_benefit };
                let still = |row| self.processes.stands_still(row);
                apply_limits(&self.decider, &moves, heat, still, &limits)
            }
        };
        let sparse = self.processes.sparse();
        Decision { chosen, migrating, standing_still, sparse, changes, may_bring: found, weighed }
    }

    /// Asks the governors alone at the end of an epoch in which everybody stands still, and of which only what was visited has
    /// rows: nothing of it arrives, and nothing moves. What each process has beside is taken to be as it was.
    pub fn glance(&mut self, heat: &EpochHeat, passed_s: f64, here: &Here<'_>) -> Glance {
        let (changes, strangers) = self.processes.glance(heat, passed_s, here);
        let (migrating, _) = self.processes.standing();
        Glance { migrating, strangers, sparse: self.processes.sparse(), changes }
    }

    /// The rows of the heat that was decided on last, the most wanted in fast memory first, whatever their moves cost and
    /// bring.
    #[must_use]
    pub fn order(&self, heat: &EpochHeat) -> Vec<usize> {
        let row = |unit: UnitId| heat.unit.binary_search(&unit).ok();
        self.decider.units().filter_map(row).collect()
    }

    /// What moves cost and bring: as was said at first, and as they turned out since.
    #[must_use]
    pub fn prices(&self) -> Option<CostBenefit> {
        self.processes.prices()
    }

    /// Moving so many pages of either size took so many CPU seconds together; before [`Self::learn`]. Who does not say so has
    /// moves that cost what was said at first.
    pub fn moves_took(&mut self, base_pages: u64, huge_pages: u64, cpu_s: f64) {
        self.processes.moves_took(base_pages, huge_pages, cpu_s);
    }

    /// Takes in what became of the last decision. `room_s`: CPU seconds that making room in fast memory took, for each byte that
    /// went up, which bears it.
    pub fn learn(&mut self, outcomes: impl Iterator<Item = Outcome>, room_s: f64) {
        outcomes.for_each(|outcome| self.processes.learn(&outcome, room_s));
    }

    /// Bytes that went down after they had gone up.
    #[must_use]
    pub fn promoted_then_demoted(&self) -> Bytes {
        self.processes.promoted_then_demoted()
    }

    /// What the last decision saw and chose, if the policy tells.
    #[must_use]
    pub fn observation(&self) -> Option<Observation> {
        self.decider.observation()
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
    use crate::{
        Counters, EpochView, Governor, GovernorSpec, Needs, Policy, RankPolicy, Verdict, Watch,
    };
    use pagetide_types::{EpochId, HeatFlags, HeatRow, NodeId};
    use std::sync::{Arc, Mutex};

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

    /// Lets every process but 7 migrate, and writes down what it was shown.
    struct AllButSeven(u32, Arc<Mutex<Vec<(u32, Counters)>>>);

    impl Governor for AllButSeven {
        fn judge(&mut self, counters: &Counters) -> Verdict {
            self.1.lock().unwrap().push((self.0, *counters));
            if self.0 == 7 { Verdict::StandStill } else { Verdict::Migrate }
        }
        fn reason(&self) -> String {
            format!("it is {}", self.0)
        }
    }

    #[test]
    fn the_governor_is_asked_once_per_process_and_stops_its_promotions_only() {
        let seen = Arc::default();
        let told = Arc::clone(&seen);
        let governors =
            Governors::with("all but 7", move |of| Box::new(AllButSeven(of, Arc::clone(&told))));
        let spec: PolicySpec = "rate:steps=256,interval=0".parse().unwrap();
        let mut tenant = Tenant::new(Decider::new(&spec), governors, None);
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
        assert_eq!(decided.sparse, [7], "and need not be ranked");
        let change = Change {
            process: 7,
            at_s: 2.0,
            verdict: Verdict::StandStill,
            reason: "it is 7".to_owned(),
        };
        assert_eq!(decided.changes, [change]);
        let up = Outcome { moved: PAGE, ..Outcome::of(&heat, 1, true) };
        tenant.learn([up].into_iter(), 0.0);
        tenant.arrive(&heat);
        let again =
            tenant.decide(&heat, 2.0, places, Room::Ledger(Bytes(2 * PAGE.0)), (false, None));
        assert_eq!((again.standing_still, again.changes), (1, vec![]), "that is nothing new");
        let down = Outcome { up: false, ..up };
        tenant.learn([down, down].into_iter(), 0.0);
        assert_eq!(tenant.promoted_then_demoted(), PAGE, "once up, once down for nothing");
        let seen = seen.lock().unwrap();
        let asked: Vec<_> =
            seen.iter().map(|(process, c)| (*process, c.now_s, c.promoted)).collect();
        let none = Bytes(0);
        assert_eq!(asked, [(3, 2.0, none), (7, 2.0, none), (3, 4.0, PAGE), (7, 4.0, none)]);
        assert!(seen.iter().all(|(_, c)| c.watched == Bytes(2 * PAGE.0) && c.length_s == 2.0));
        let watch: Vec<_> = seen.iter().map(|(_, c)| c.watch).collect();
        assert_eq!(watch, [Watch::Full, Watch::Full, Watch::Full, Watch::Sparse]);
    }

    #[test]
    fn a_glance_tells_of_rows_that_belong_to_nobody_who_was_there() {
        let seen = Arc::default();
        let told = Arc::clone(&seen);
        let governors =
            Governors::with("all but 7", move |of| Box::new(AllButSeven(of, Arc::clone(&told))));
        let decider = Decider::new(&"rate:steps=256,interval=0".parse().unwrap());
        let mut tenant = Tenant::new(decider, governors, None);
        let all = heat(0, &[1.0, 50.0, 1.0]);
        let process = [7, 7, 7];
        let places =
            Places { fast: Some(&[true, false, false]), movable: None, process: Some(&process) };
        tenant.arrive(&all);
        tenant.decide(&all, 5.0, places, Room::Ledger(PAGE), (false, None));
        let some = heat(1, &[1.0]);
        let mut strangers = |process: u32| {
            let here = Here { fast: &[true], process: &[process], room: 0.0 };
            let Glance { strangers, migrating, sparse, .. } = tenant.glance(&some, 5.0, &here);
            assert_eq!((migrating, sparse), (0, vec![7]));
            strangers
        };
        assert_eq!([7, 8].map(&mut strangers), [false, true]);
        let seen = seen.lock().unwrap();
        let shown = |at: usize| {
            let (_, Counters { now_s, resident, watched, watched_fast, .. }) = seen[at];
            (now_s, [resident, watched, watched_fast].map(|bytes| bytes.0 / PAGE.0))
        };
        assert_eq!([0, 1, 2].map(shown), [(5.0, [3, 3, 1]), (10.0, [3, 1, 1]), (15.0, [3, 0, 0])]);
    }

    /// Stops in its third judgement, goes on in its fifth, and writes down what recent moves bring.
    struct StopsOnce(u32, Arc<Mutex<Vec<f64>>>);

    impl Governor for StopsOnce {
        fn judge(&mut self, counters: &Counters) -> Verdict {
            self.0 += 1;
            self.1.lock().unwrap().push(counters.balance.unwrap().gained);
            if (3..5).contains(&self.0) { Verdict::StandStill } else { Verdict::Migrate }
        }
        fn reason(&self) -> String {
            String::new()
        }
        fn recent_s(&self) -> f64 {
            60.0
        }
    }

    #[test]
    fn what_moved_before_a_stop_brings_nothing_for_the_books_of_a_restart() {
        let seen = Arc::default();
        let told = Arc::clone(&seen);
        let governors =
            Governors::with("stops once", move |_| Box::new(StopsOnce(0, Arc::clone(&told))));
        let prices = CostBenefit {
            gain_ns: 100.0,
            fast_ns: 0.0,
            channel_ns: 0.0,
            in_order: 1.0,
            base_us: 1.0,
            huge_us: 100.0,
            within_s: 0.0,
        };
        let decider = Decider::new(&"rate:steps=256,interval=0".parse().unwrap());
        let mut tenant = Tenant::new(decider, governors, Some(prices));
        let mut fast = [true, false];
        for epoch in 0..7 {
            // The hot one of two goes up at once, and again after the restart, in which they change places.
            let heat = heat(epoch, if epoch < 5 { &[1.0, 1001.0] } else { &[1001.0, 1.0] });
            let places = Places { fast: Some(&fast), ..Places::default() };
            tenant.arrive(&heat);
            let decided = tenant.decide(&heat, 1.0, places, Room::Ledger(PAGE), (false, None));
            let outcome = |row: &usize, up| Outcome { moved: PAGE, ..Outcome::of(&heat, *row, up) };
            let ups = decided.chosen.promote.iter().map(|row| outcome(row, true));
            let outcomes: Vec<Outcome> =
                ups.chain(decided.chosen.demote.iter().map(|row| outcome(row, false))).collect();
            outcomes.iter().for_each(|outcome| fast[outcome.row] = outcome.up);
            tenant.learn(outcomes.into_iter(), 0.0);
        }
        let us: Vec<f64> = seen.lock().unwrap().iter().map(|s: &f64| (s * 1e6).round()).collect();
        assert_eq!(us, [0.0, 100.0, 100.0, 100.0, 100.0, 0.0, 100.0]);
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
        let mut tenant = Tenant::new(decider, (&GovernorSpec::default()).into(), None);
        let heat = heat(0, &[5.0, 4.0, 3.0]);
        let room = Room::Ledger(PAGE);
        tenant.arrive(&heat);
        assert_eq!(tenant.fast(&heat, PAGE), [true, false, false], "first touch");
        let decided = tenant.decide(&heat, 1.0, Places::default(), room, (false, None));
        assert_eq!((decided.chosen.promote, decided.chosen.demote), (vec![2], vec![0]));
        assert_eq!(tenant.fast(&heat, PAGE), [false, false, true]);
    }
}
