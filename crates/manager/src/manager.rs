//! One target, epoch by epoch: observe, decide, move.

use crate::budget::{FastNow, describe};
use crate::place::{Assumed, Layout};
use crate::{Budget, Counters, EpochLine, Governor, Summary, Tiers, Tracker, Verdict};
use pagetide_migrate::{BackOff, Kernel, Mover, NodeRoom, Report, Work};
use pagetide_policy::{Chosen, Decider, Limits, Now, PolicySpec, Worth, within};
use pagetide_scan::{End, ScanError};
use pagetide_trace::EpochRecord;
use pagetide_types::{Bytes, EpochHeat, HeatFlags, NodeId, UnitId};
use std::collections::{BTreeMap, BTreeSet};

/// How a target is managed.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The policy.
    pub policy: PolicySpec,
    /// How much fast memory.
    pub budget: Budget,
    /// What moves cost and bring; none: every one is worth it.
    pub worth: Option<Worth>,
    /// Decide, and move nothing.
    pub dry_run: bool,
    /// What is managed, for the summary.
    pub target: String,
}

/// The loop of one target. Call [`Manager::epoch`] until it says that it ended.
pub struct Manager<T, K> {
    tracker: T,
    mover: Mover<K>,
    tiers: Tiers,
    settings: Settings,
    decider: Decider,
    governor: Box<dyn Governor>,
    refused: BackOff<UnitId>,
    /// Units that went up and did not come down yet.
    promoted: BTreeSet<UnitId>,
    counters: Counters,
    assumed: Assumed,
    moved: bool,
    summary: Summary,
}

impl<T: Tracker, K: Kernel> Manager<T, K> {
    /// A loop that has seen no epoch.
    pub fn new(
        tracker: T,
        mover: Mover<K>,
        tiers: Tiers,
        governor: Box<dyn Governor>,
        settings: Settings,
    ) -> Self {
        let numbers = |nodes: &[NodeId]| nodes.iter().map(|node| node.0).collect();
        let summary = Summary {
            target: settings.target.clone(),
            policy: settings.policy.to_string(),
            governor: governor.name().to_owned(),
            fast_nodes: numbers(&tiers.fast),
            slow_nodes: numbers(&tiers.slow),
            tiers_from: tiers.source.clone(),
            dry_run: settings.dry_run,
            ..Summary::default()
        };
        Self {
            decider: Decider::new(&settings.policy),
            tracker,
            mover,
            tiers,
            settings,
            governor,
            refused: BackOff::default(),
            promoted: BTreeSet::new(),
            counters: Counters::default(),
            assumed: Assumed::default(),
            moved: false,
            summary,
        }
    }

    /// Observes for an epoch, decides at its end, and moves. `stop` is asked now and then whether to
    /// end early; pages under way arrive.
    ///
    /// # Errors
    /// When the machine refuses to be observed; a target that ends, and pages that refuse to move,
    /// are no errors.
    pub fn epoch(
        &mut self,
        stop: &(dyn Fn() -> bool + Sync),
    ) -> Result<(Option<EpochLine>, Option<End>), ScanError> {
        let moved = std::mem::take(&mut self.moved);
        let watched = self.tracker.epoch(&|| stop(), moved)?;
        let Some(record) = watched.record else { return Ok((None, watched.end)) };
        let layout = Layout::new(watched.places, &record.heat, &self.tiers);
        let line = self.act(&record, &layout, watched.end.is_some(), stop);
        self.summary.add(&line);
        Ok((Some(line), watched.end))
    }

    /// What happened so far.
    #[must_use]
    pub fn summary(&self) -> &Summary {
        &self.summary
    }

    /// Ends the loop, and gives the tracker back.
    pub fn into_tracker(self) -> T {
        self.tracker
    }

    /// The tracker.
    pub fn tracker(&mut self) -> &mut T {
        &mut self.tracker
    }

    /// The kernel that pages are moved on.
    pub fn kernel(&self) -> &K {
        self.mover.kernel()
    }

    fn act(
        &mut self,
        record: &EpochRecord,
        layout: &Layout,
        last: bool,
        stop: &(dyn Fn() -> bool + Sync),
    ) -> EpochLine {
        let (heat, epoch) = (&record.heat, &record.epoch);
        self.refused.next_round();
        let rooms = self.rooms();
        let found: Vec<bool> = (0..heat.len()).map(|row| layout.is_fast(row)).collect();
        let (fast, held, now) = self.placement(heat, layout, &found, &rooms);
        let capacity = self.settings.budget.capacity(&now);
        let reserve = self.settings.budget.reserve(now.total, now.floor);
        self.summary.budget = describe(&self.settings.budget, now.total, reserve);
        self.decider.arrive(heat);
        self.decider.settle(heat, &fast);
        let mut line = EpochLine {
            epoch: epoch.epoch.0,
            start_s: epoch.start_s,
            length_s: epoch.length_s,
            observer_s: epoch.recorder_s,
            resident: heat.resident(),
            held,
            free: now.free,
            capacity,
            watched_share: epoch.watched_share,
            migrate: true,
            ..EpochLine::default()
        };
        count_accesses(&mut line, heat, |row| {
            if self.settings.dry_run {
                f64::from(u8::from(fast[row]))
            } else {
                layout.fast_part[row]
            }
        });
        let chosen = self.decide(heat, &fast, &mut line);
        let bytes = |rows: &[usize]| rows.iter().map(|row| heat.bytes(*row)).sum::<Bytes>();
        (line.promote, line.demote) = (bytes(&chosen.promote), bytes(&chosen.demote));
        if self.settings.dry_run {
            chosen.promote.iter().for_each(|row| self.assumed.moved(heat.unit[*row], true));
            chosen.demote.iter().for_each(|row| self.assumed.moved(heat.unit[*row], false));
        } else if !last {
            // Nobody is left to profit from moves after the last epoch.
            let work = self.orders(&chosen, layout, &rooms);
            if !work.is_empty() {
                self.mover.options_mut().reserve = self.kept(&rooms, &now, capacity);
                let report = self.mover.run(&work, stop);
                self.learn(heat, &work, &report);
                self.moved = true;
                line.moves = Some(report);
            }
        }
        line
    }

    /// What must stay free of each fast node so that the target never holds more than it may, also
    /// if demotions fail: all that is free now, but for what it may still get.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a part of u64")]
    fn kept(
        &self,
        rooms: &BTreeMap<NodeId, NodeRoom>,
        now: &FastNow,
        capacity: Bytes,
    ) -> BTreeMap<NodeId, Bytes> {
        let kept = (now.free + now.held).saturating_sub(capacity).as_f64();
        let nodes = self.tiers.fast.iter().filter_map(|node| Some((*node, rooms.get(node)?)));
        nodes
            .map(|(node, room)| {
                let share = match now.free {
                    Bytes(0) => 1.0 / self.tiers.fast.len() as f64,
                    free => room.free.as_f64() / free.as_f64(),
                };
                (node, Bytes((kept * share).ceil() as u64))
            })
            .collect()
    }

    fn rooms(&self) -> BTreeMap<NodeId, NodeRoom> {
        let nodes = self.tiers.fast.iter().chain(&self.tiers.slow);
        nodes.map(|node| (*node, self.mover.kernel().room(*node))).collect()
    }

    /// Which rows are fast, how much that is, and what the fast tier has.
    fn placement(
        &mut self,
        heat: &EpochHeat,
        layout: &Layout,
        found: &[bool],
        rooms: &BTreeMap<NodeId, NodeRoom>,
    ) -> (Vec<bool>, Bytes, FastNow) {
        let sum = |what: fn(&NodeRoom) -> Bytes| {
            self.tiers.fast.iter().filter_map(|node| rooms.get(node)).map(what).sum::<Bytes>()
        };
        let part = |row: usize| heat.bytes(row).as_f64() * layout.fast_part[row];
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "bytes")]
        let really = Bytes((0..heat.len()).map(part).sum::<f64>() as u64);
        let mut now = FastNow {
            total: self.tiers.fast_total(),
            free: sum(|room| room.free),
            floor: sum(|room| room.floor),
            held: really,
        };
        if !self.settings.dry_run {
            return (found.to_vec(), really, now);
        }
        let nowhere = self.tiers.fast.is_empty();
        if nowhere {
            // A tier of the size of the budget, all of it the target's.
            let size = self.settings.budget.fast.map_or(Bytes(0), |fast| fast.of(heat.resident()));
            now = FastNow { total: size, free: size, floor: Bytes(0), held: Bytes(0) };
        }
        let first_touch = nowhere.then(|| self.settings.budget.capacity(&now));
        let fast = self.assumed.fast(heat, found, first_touch);
        let held: Bytes = (0..heat.len()).filter(|row| fast[*row]).map(|row| heat.bytes(row)).sum();
        // What the decisions so far would have changed.
        now.free = (now.free + now.held).saturating_sub(held);
        now.held = held;
        (fast, held, now)
    }

    fn decide(&mut self, heat: &EpochHeat, fast: &[bool], line: &mut EpochLine) -> Chosen {
        self.count(heat, line);
        line.migrate = self.governor.judge(&self.counters) == Verdict::Migrate;
        let mut movable: Vec<bool> =
            heat.unit.iter().map(|unit| !self.refused.waits(unit)).collect();
        line.backed_off = movable.iter().filter(|movable| !**movable).count();
        if !line.migrate {
            for (movable, fast) in movable.iter_mut().zip(fast) {
                *movable &= *fast;
            }
        }
        let now = Now {
            length_s: line.length_s,
            settling: false,
            capacity: line.capacity,
            fast,
            movable: Some(&movable),
            next: None,
        };
        let moves = self.decider.decide(heat, &now);
        line.choice = self.decider.observation().and_then(|told| told.choice);
        let limits = Limits {
            capacity: line.capacity,
            held: line.held,
            most: self.settings.budget.per_epoch(line.length_s),
            worth: self.settings.worth,
        };
        let chosen = within(&self.decider, &moves, heat, &limits);
        (line.unworthy, line.without_room) = (chosen.unworthy, chosen.without_room);
        chosen
    }

    /// What the governor is shown.
    fn count(&mut self, heat: &EpochHeat, line: &EpochLine) {
        let with = |flag: HeatFlags| {
            (0..heat.len()).filter(move |row| heat.flags[*row].has(flag)).map(|row| heat.bytes(row))
        };
        self.counters.epoch = line.epoch;
        self.counters.length_s = line.length_s;
        self.counters.accessed = with(HeatFlags::ACCESSED).sum();
        self.counters.watched = with(HeatFlags::SAMPLED).sum();
    }

    fn orders(&self, chosen: &Chosen, layout: &Layout, rooms: &BTreeMap<NodeId, NodeRoom>) -> Work {
        let mut room: BTreeMap<NodeId, Bytes> = rooms
            .iter()
            .map(|(node, room)| (*node, room.free.saturating_sub(room.floor)))
            .collect();
        let mut work = Work::default();
        for row in &chosen.demote {
            layout.orders(*row, &self.tiers.slow, &self.tiers, &mut room, &mut work.demote);
        }
        for row in &chosen.promote {
            layout.orders(*row, &self.tiers.fast, &self.tiers, &mut room, &mut work.promote);
        }
        work
    }

    /// Remembers who refused, and what went up and down.
    fn learn(&mut self, heat: &EpochHeat, work: &Work, report: &Report) {
        for (i, order) in report.orders.iter().enumerate() {
            let Some(unit) = heat.unit.get(order.tag as usize) else { continue };
            if order.moved > 0 {
                self.refused.obeyed(unit);
            } else if order.refused > 0 {
                self.refused.refused(*unit);
            }
            let up = i < work.promote.len();
            if up && order.moved > 0 {
                self.promoted.insert(*unit);
            } else if !up && order.moved > 0 && self.promoted.remove(unit) {
                let again = Bytes(order.moved << 12);
                self.summary.promoted_then_demoted += again;
                self.counters.promoted_then_demoted += again;
            }
        }
        self.counters.promoted += report.promoted.bytes();
        self.counters.demoted += report.demoted.bytes();
        self.counters.moved_back += report.moved_back.bytes();
    }
}

/// Accesses, and the part of them that fast memory served.
fn count_accesses(line: &mut EpochLine, heat: &EpochHeat, fast_part: impl Fn(usize) -> f64) {
    let rate = |row: usize| f64::from(heat.memory_rate(row));
    line.accesses_per_s = (0..heat.len()).map(rate).sum();
    if line.accesses_per_s > 0.0 {
        let served: f64 = (0..heat.len()).map(|row| rate(row) * fast_part(row)).sum();
        line.fast_share = Some(served / line.accesses_per_s);
    }
}
