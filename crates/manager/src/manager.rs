//! One target, epoch by epoch: observe, decide, move; at first what was decided moves while the next epoch is observed.

use crate::ahead::Ahead;
use crate::assumed::Assumed;
use crate::budget::{FastNow, describe};
use crate::meanwhile;
use crate::parted;
use crate::place::Layout;
use crate::room::NodesRoom;
use crate::{Budget, EpochLine, Summary, Tiers, Tracker, Turn, Watched};
use pagetide_migrate::{
    BackOff, Background, Kernel, Mapping, Mover, Order, Refusal, Report, Round, Work,
};
use pagetide_policy::{
    Chosen, CostBenefit, Decider, Governors, Outcome, Places, PolicySpec, Room, Tenant, Watch,
};
use pagetide_scan::{End, Meanwhile, Place, ScanError};
use pagetide_trace::{EpochRecord, Unknown};
use pagetide_types::{Bytes, EpochHeat, HeatFlags, Pid, UnitId};
use std::collections::BTreeMap;

/// How a target is managed.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The policy.
    pub policy: PolicySpec,
    /// How much fast memory.
    pub budget: Budget,
    /// What moves cost and bring; none: every one is worth it.
    pub cost_benefit: Option<CostBenefit>,
    /// Decide, and move nothing.
    pub dry_run: bool,
    /// What is managed, for the summary.
    pub target: String,
}

/// Says what the tiers are now; none: as before.
pub type Follow = Box<dyn FnMut() -> Option<Tiers>>;

/// The loop of one target. Call [`Manager::epoch`] until it says that it ended.
pub struct Manager<T, K> {
    tracker: T,
    moving: Background<K>,
    /// One for each order of the last decision, and until the next one what became of it.
    ordered: Vec<Outcome>,
    /// Units that went down only for what will be born, ascending: what that brings no governor sees, so it is not
    /// to see what it costs.
    for_births: Vec<UnitId>,
    tiers: Tiers,
    follow: Option<Follow>,
    settings: Settings,
    tenant: Tenant,
    /// Units that refused to move.
    refused: BackOff<UnitId>,
    /// By unit, whether it was watched in some epoch.
    known: Vec<bool>,
    /// What was never watched, as of the last epoch.
    unknown: Bytes,
    /// Processes that are watched sparsely, ascending.
    sparse: Vec<u32>,
    assumed: Assumed,
    ahead: Ahead,
    /// Whether pages moved since it was looked where they lie.
    moved: bool,
    /// The last epoch.
    record: Option<EpochRecord>,
    /// When it ended, by its clock.
    decided_s: f64,
    summary: Summary,
}

/// Where so large a part of what may be fast is to go up that was not before, the target is not known yet or has changed:
/// it is looked at again soon. So large a part of its memory is much to be unknown, too.
const MUCH: f64 = 0.1;

/// The recorder visits so much memory together at most.
const VISITED: Bytes = Bytes::mib(2);

/// Moves, for who watches meanwhile.
struct Moves<'a, K>(&'a mut Background<K>);

impl<K: Kernel + Send + 'static> Meanwhile for Moves<'_, K> {
    fn begin(&mut self) {
        self.0.begin();
    }

    fn cpu_ns(&self) -> u64 {
        self.0.cpu_ns()
    }
}

impl<T: Tracker, K: Kernel + Send + 'static> Manager<T, K> {
    /// A loop that has seen no epoch.
    pub fn new(
        tracker: T,
        mover: Mover<K>,
        tiers: Tiers,
        governors: Governors,
        settings: Settings,
    ) -> Self {
        let mut summary = Summary {
            target: settings.target.clone(),
            policy: settings.policy.to_string(),
            governor: governors.name().to_owned(),
            dry_run: settings.dry_run,
            ..Summary::default()
        };
        summary.is_of(&tiers);
        let decider = Decider::new(&settings.policy);
        Self {
            tenant: Tenant::new(decider, governors, settings.cost_benefit),
            tracker,
            moving: Background::new(mover),
            ordered: Vec::new(),
            for_births: Vec::new(),
            tiers,
            follow: None,
            settings,
            refused: BackOff::default(),
            known: Vec::new(),
            unknown: Bytes(u64::MAX),
            sparse: Vec::new(),
            assumed: Assumed::default(),
            ahead: Ahead::default(),
            moved: false,
            record: None,
            decided_s: 0.0,
            summary,
        }
    }

    /// With tiers that come and go, which are asked for after each epoch.
    #[must_use]
    pub fn following(mut self, follow: Follow) -> Self {
        self.follow = Some(follow);
        self
    }

    /// Observes for an epoch, decides at its end, and moves. As long as the target's memory is visited for the first time,
    /// what was decided moves while the next epoch is observed, and what has not moved when that ends is decided on again:
    /// other pages are visited than move. Later nothing is observed while pages move, for of a page under way the accessed bit
    /// cannot be cleared. `stop` is asked now and then whether to end early; pages under way arrive.
    ///
    /// # Errors
    /// When the machine refuses to be observed; a target that ends, and pages that refuse to move,
    /// are no errors.
    pub fn epoch(
        &mut self,
        stop: &(dyn Fn() -> bool + Sync),
    ) -> Result<(Option<EpochLine>, Option<End>), ScanError> {
        let moved = std::mem::take(&mut self.moved);
        let Self { tracker, moving, .. } = self;
        let mut watched = tracker.epoch(&|| stop(), moved, &mut Moves(moving));
        // Also where watching failed.
        let mut moves = self.moving.end().map(|round| {
            let places = watched.as_mut().map(|watched| &mut watched.places[..]);
            self.take_in(round, places.unwrap_or_default())
        });
        let Watched { record, places, end } = watched?;
        let Some(record) = record else { return Ok((None, end)) };
        let changed = self.follow_tiers();
        let layout = Layout::new(places, &record.heat, &self.tiers);
        let mut line = self.act(&record, &layout, end.is_some());
        if !self.visits_go_on(&record.heat)
            && let Some(round) = self.moving.run(stop)
        {
            let report = self.take_in(round, &mut []);
            if !report.refused(Refusal::OutOfTime).is_zero() {
                self.tracker.hurry();
            }
            moves.get_or_insert_default().add(&report);
        }
        line.moves = moves;
        line.tiers = changed.then(|| self.tiers.describe());
        self.summary.add(&line);
        self.record = Some(record);
        Ok((Some(line), end))
    }

    /// Whether much was never watched, and the last epoch watched some of that.
    fn visits_go_on(&mut self, heat: &EpochHeat) -> bool {
        let is_known = |row: &usize| self.known.get(heat.unit[*row].index()) == Some(&true);
        let unknown: Bytes =
            (0..heat.len()).filter(|row| !is_known(row)).map(|row| heat.bytes(row)).sum();
        let before = std::mem::replace(&mut self.unknown, unknown);
        unknown.as_f64() > MUCH * heat.resident().as_f64()
            && unknown.as_f64() < (1.0 - MUCH) * before.as_f64()
    }

    /// A round of moves is over. `places`: as they were before it.
    fn take_in(&mut self, round: Round, places: &mut [Place]) -> Report {
        meanwhile::put(places, &round, &self.ordered);
        self.ordered = meanwhile::outcomes(&round, std::mem::take(&mut self.ordered));
        for (outcome, order) in self.ordered.iter().zip(&round.report.orders) {
            if order.moved > 0 {
                self.refused.obeyed(&outcome.unit);
            } else if order.refused > 0 {
                self.refused.refused(outcome.unit);
            }
        }
        let for_births = |unit: &UnitId| self.for_births.binary_search(unit).is_ok();
        let booked = self.ordered.iter().filter(|outcome| !for_births(&outcome.unit));
        self.tenant.learn(booked.copied());
        self.moved = true;
        self.summary.promoted_then_demoted = self.tenant.promoted_then_demoted();
        self.summary.moves.add(&round.report);
        round.report
    }

    /// Takes the tiers as they are now; whether that is another machine than before.
    fn follow_tiers(&mut self) -> bool {
        let Some(now) = self.follow.as_mut().and_then(|follow| follow()) else { return false };
        let changed = !now.are(&self.tiers);
        if changed && !now.slow.is_empty() {
            self.summary.is_of(&now);
        }
        self.tiers = now;
        changed
    }

    /// What the last epoch saw, once.
    pub fn take_record(&mut self) -> Option<EpochRecord> {
        self.record.take()
    }

    /// What happened so far.
    #[must_use]
    pub fn summary(&self) -> &Summary {
        &self.summary
    }

    /// Adds what is to be said of how it was watched.
    pub fn note(&mut self, notes: Vec<String>) {
        self.summary.notes = notes;
    }

    /// Ends the loop, and gives the tracker back.
    pub fn into_tracker(self) -> T {
        self.tracker
    }

    /// The tracker.
    pub fn tracker(&mut self) -> &mut T {
        &mut self.tracker
    }

    /// Decides at the end of an epoch; `last`: no further epoch follows.
    fn act(&mut self, record: &EpochRecord, layout: &Layout, last: bool) -> EpochLine {
        let (heat, epoch) = (&record.heat, &record.epoch);
        self.refused.next_round();
        let room = NodesRoom::look(self.moving.mover().kernel(), &self.tiers);
        self.tenant.arrive(heat);
        let (fast, mut now) = self.placement(heat, layout, &room);
        if self.tenant.birth().is_some() {
            let passed_s = epoch.start_s + epoch.length_s - self.decided_s;
            self.ahead.add(self.tenant.born(heat), passed_s);
            now.ahead = self.ahead.room(self.settings.budget.capacity(&now));
        }
        let nowhere = self.tiers.slow.is_empty() && !self.settings.dry_run;
        let all = now.held + now.free;
        let capacity = if nowhere { all } else { self.settings.budget.capacity(&now) };
        let reserve = self.settings.budget.reserve(&now);
        self.summary.budget = describe(&self.settings.budget, now.total, reserve);
        let mut unknown = Unknown::default();
        unknown.add(epoch, heat.resident());
        let mut line = EpochLine {
            epoch: epoch.epoch.0,
            start_s: epoch.start_s,
            length_s: epoch.length_s,
            observer_s: epoch.recorder_s,
            resident: heat.resident(),
            held: now.held,
            free: now.free,
            capacity,
            birth_rate: self.tenant.birth().map(|birth| birth.rate),
            room_for_births: now.ahead,
            watched_share: epoch.watched_share,
            hot_set: heat.hot_set(),
            unknown_share: unknown.share(),
            ..EpochLine::default()
        };
        line.count_accesses(heat, |row| {
            if self.settings.dry_run {
                f64::from(u8::from(fast[row]))
            } else {
                layout.fast_part[row]
            }
        });
        let most = if nowhere { all } else { self.settings.budget.most(&now) };
        let for_births = self.settings.budget.for_births(&now);
        let mut chosen = self.decide(heat, &fast, layout, (most, for_births), &mut line);
        line.without_room += chosen.hold_back(heat, self.settings.budget.promotions(now.free));
        let bytes = |rows: &[usize]| rows.iter().map(|row| heat.bytes(*row)).sum::<Bytes>();
        (line.promote, line.demote) = (bytes(&chosen.promote), bytes(&chosen.demote));
        self.for_births = chosen.for_births.iter().map(|row| heat.unit[*row]).collect();
        self.for_births.sort_unstable();
        if self.settings.dry_run {
            self.assume(heat, &chosen);
        } else if !last {
            // Nobody is left to profit from moves after the last epoch.
            let work = self.orders(&chosen, layout, &room);
            if !work.is_empty() {
                let mut mover = self.moving.mover();
                mover.options_mut().reserve =
                    room.kept(&self.tiers, &now, capacity + chosen.beyond);
                if let Some(held) = self.tracker.held() {
                    mover.kernel().only(held);
                }
                drop(mover);
                self.order(heat, work, capacity);
            }
        }
        line
    }

    /// Has it moved, and the target looked at again soon where that is much.
    fn order(&mut self, heat: &EpochHeat, work: Work, capacity: Bytes) {
        let mut waited: Vec<UnitId> = Vec::new();
        for outcome in self.ordered.drain(..).filter(|outcome| outcome.up) {
            waited.push(outcome.unit);
        }
        waited.sort_unstable();
        let outcome = |orders: &[Order], up| -> Vec<Outcome> {
            orders.iter().map(|order| Outcome::of(heat, order.tag as usize, up)).collect()
        };
        self.ordered = outcome(&work.promote, true);
        let is_new = |outcome: &&Outcome| waited.binary_search(&outcome.unit).is_err();
        let new: Bytes =
            (self.ordered.iter().filter(is_new)).map(|outcome| heat.bytes(outcome.row)).sum();
        if new.as_f64() > MUCH * capacity.as_f64() {
            self.tracker.changed();
        }
        self.ordered.extend(outcome(&work.demote, false));
        self.moving.order(work);
    }

    /// Takes what was decided for done: a governor is to judge a dry run as it would the real one.
    fn assume(&mut self, heat: &EpochHeat, chosen: &Chosen) {
        let ups = chosen.promote.iter().map(|row| (*row, true));
        let moves: Vec<_> = ups.chain(chosen.demote.iter().map(|row| (*row, false))).collect();
        for (row, up) in &moves {
            self.assumed.moved(heat.unit[*row], *up);
        }
        let for_births = |row: &usize| self.for_births.binary_search(&heat.unit[*row]).is_ok();
        let moves = moves.into_iter().filter(|(row, _)| !for_births(row));
        let outcome = |(row, up)| Outcome { moved: heat.bytes(row), ..Outcome::of(heat, row, up) };
        self.tenant.learn(moves.map(outcome));
    }

    /// Which rows are fast, and what the fast tier has; in a dry run as the decisions so far would
    /// have left it.
    fn placement(
        &mut self,
        heat: &EpochHeat,
        layout: &Layout,
        room: &NodesRoom,
    ) -> (Vec<bool>, FastNow) {
        let found: Vec<bool> = (0..heat.len()).map(|row| layout.is_fast(row)).collect();
        let part = |row: usize| heat.bytes(row).as_f64() * layout.fast_part[row];
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "bytes")]
        let held = Bytes((0..heat.len()).map(part).sum::<f64>() as u64);
        let mut now = room.of_fast(&self.tiers, held);
        if !self.settings.dry_run {
            return (found, now);
        }
        let nowhere = self.tiers.fast.is_empty();
        if nowhere {
            // A tier of the size of the budget that nobody uses.
            let size = self.settings.budget.fast.map_or(Bytes(0), |fast| fast.of(heat.resident()));
            now = FastNow { total: size, free: size, ..FastNow::default() };
        }
        let first_touch = nowhere.then(|| self.settings.budget.capacity(&now));
        let fast = self.assumed.fast(heat, &found, first_touch);
        let held: Bytes = (0..heat.len()).filter(|row| fast[*row]).map(|row| heat.bytes(row)).sum();
        now.free = (now.free + now.held).saturating_sub(held);
        now.held = held;
        (fast, now)
    }

    fn decide(
        &mut self,
        heat: &EpochHeat,
        fast: &[bool],
        layout: &Layout,
        (most, for_births): (Bytes, Bytes),
        line: &mut EpochLine,
    ) -> Chosen {
        // What nobody has watched yet is not cold. It goes down only where the tenant has too much, or of a process
        // most of which nobody is going to watch.
        let over = line.held > most;
        let process = layout.processes();
        let units = heat.unit.last().map_or(0, |last| last.index() + 1);
        self.known.resize(units.max(self.known.len()), false);
        let may = |((unit, flags), process): ((&UnitId, &HeatFlags), &u32)| {
            let known = &mut self.known[unit.index()];
            *known |= flags.has(HeatFlags::SAMPLED);
            let waits = self.refused.waits(unit);
            line.backed_off += usize::from(waits);
            !waits && (over || *known || self.sparse.binary_search(process).is_ok())
        };
        let rows = heat.unit.iter().zip(&heat.flags).zip(&process);
        let movable: Vec<bool> = rows.map(may).collect();
        // What has to follow goes up like what is slow, and counts as such.
        let mut fast = fast.to_vec();
        let mut parts = 0.0;
        let behind = self.left_behind(heat, &fast, &movable, layout, &process);
        for row in &behind {
            fast[*row] = false;
            parts += heat.bytes(*row).as_f64() * layout.fast_part[*row];
        }
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "bytes")]
        let parts = Bytes(parts as u64);
        let places = Places { fast: Some(&fast), movable: Some(&movable), process: Some(&process) };
        let room = Room::Limited {
            capacity: line.capacity,
            most,
            used: line.held.saturating_sub(parts),
            move_budget: self.settings.budget.per_epoch(line.length_s),
            for_births,
        };
        self.tenant.watched(line.observer_s, Some(VISITED));
        // Only of what stands still it is asked whether it accesses other memory.
        for number in &self.sparse {
            let cpu = i32::try_from(*number).ok().and_then(|pid| self.tracker.cpu(Pid(pid)));
            if let Some(cpu) = cpu {
                self.tenant.ran(*number, cpu.as_secs_f64());
            }
        }
        let now_s = line.start_s + line.length_s;
        // Programs go on between epochs, too.
        let passed_s = now_s - std::mem::replace(&mut self.decided_s, now_s);
        let decision = self.tenant.decide(heat, passed_s, places, room, (false, None));
        line.turns = decision.changes.into_iter().map(|change| Turn::new(change, now_s)).collect();
        line.migrate = decision.standing_still == 0 || decision.migrating > 0;
        line.choice = self.tenant.observation().and_then(|told| told.choice);
        self.sparse = decision.sparse;
        let sparse = self.sparse.iter().filter_map(|number| i32::try_from(*number).ok());
        let sparse: Vec<Pid> = sparse.map(Pid).collect();
        self.tracker.watch_sparsely(&sparse, Watch::Sparse.budget_share());
        let mut chosen = decision.chosen;
        let free = line.capacity.as_f64() - line.held.as_f64();
        chosen.demote.extend(parted::that_make_room(&behind, &chosen, heat, layout, free));
        if let Some(birth) =
            self.tenant.birth().filter(|_| for_births.0 > 0 && !self.settings.dry_run)
        {
            let may = |row: usize| {
                let each = f64::from(heat.rate[row]) / f64::from(heat.pages[row].max(1));
                let stands = self.sparse.binary_search(&process[row]).is_ok();
                movable[row] && !stands && each < birth.rate
            };
            let parts = parted::for_births(may, (&chosen, for_births), heat, layout);
            chosen.for_births.extend(&parts);
            chosen.demote.extend(parts);
        }
        (line.unworthy, line.without_room) = (chosen.unprofitable, chosen.without_room);
        chosen
    }

    /// Rows that are fast by most of their pages, and hot enough for the others to follow: of some moves a part was
    /// refused.
    fn left_behind(
        &self,
        heat: &EpochHeat,
        fast: &[bool],
        movable: &[bool],
        layout: &Layout,
        process: &[u32],
    ) -> Vec<usize> {
        let pays_from = self.settings.cost_benefit.map_or(0.0, |terms| terms.pays_from());
        let hot = |row: usize| {
            let each = f64::from(heat.rate[row]) / f64::from(heat.pages[row].max(1));
            each > pays_from
        };
        let parted = |row: &usize| {
            !self.settings.dry_run
                && fast[*row]
                && movable[*row]
                && layout.fast_part[*row] < 1.0
                && hot(*row)
                && self.known[heat.unit[*row].index()]
                && self.sparse.binary_search(&process[*row]).is_err()
        };
        (0..heat.len()).filter(parted).collect()
    }

    fn orders(&self, chosen: &Chosen, layout: &Layout, room: &NodesRoom) -> Work {
        let tiers = &self.tiers;
        let mover = self.moving.mover();
        // Once for all units of the same 2 MiB.
        let mut known = BTreeMap::new();
        let mut sharing = |mappings: &[Mapping]| {
            let of = mappings.first().map(|mapping| (mapping.pid, mapping.start));
            *known.entry(of).or_insert_with(|| mover.kernel().sharing(mappings))
        };
        let mut room = room.above_floor();
        let mut work = Work::default();
        for row in &chosen.demote {
            layout.orders(*row, (&tiers.slow, tiers), &mut sharing, &mut room, &mut work.demote);
        }
        for row in &chosen.promote {
            layout.orders(*row, (&tiers.fast, tiers), &mut sharing, &mut room, &mut work.promote);
        }
        work
    }
}
