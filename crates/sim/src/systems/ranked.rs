//! Every policy that ranks units: the same [`Tenant`] that decides in a live run and in a replay, with
//! a simulated tracker before it and a simulated mover behind it. It decides in intervals; while its
//! moves are under way it waits for them, and decides late.

use super::rhythm::{Live, Rhythm};
use super::setup::{DecisionLog, Given, TenantSetup, Told, Tracking};
use crate::engine::{Fault, IN_A_ROW, LINE, System, World};
use crate::kernel::{FirstTouch, Units};
use crate::movers::{Mechanism, Mover};
use crate::trackers::{Interval, Tracker};
use pagetide_machine::{Kernel, Machine};
use pagetide_policy::{
    CostBenefit, Decider, Decision, GovernorSpec, Outcome, Places, PolicySpec, Room, SpecError,
    Tenant, Watch,
};
use pagetide_types::{Bytes, EpochHeat};

/// See the module.
pub struct Ranked {
    memory: FirstTouch,
    tenants: Vec<Managed>,
    costs: Kernel,
    rhythm: Rhythm,
    told: Told,
}

/// What decides and watches, unless the scenario names others.
pub(super) struct Parts {
    pub(super) policy: &'static str,
    /// Nobody is stopped without one.
    pub(super) governor: Option<&'static str>,
    pub(super) tracking: Tracking,
    /// Seconds in which a move must bring what it costs; 0: whatever the policy wants moves.
    pub(super) payback_s: f64,
    /// As a program does it from outside of the kernel, where it does.
    pub(super) live: Option<Live>,
}

impl Parts {
    /// A policy alone, by accessed bits.
    pub(super) const fn of(policy: &'static str) -> Self {
        let tracking = Tracking::AccessedBits;
        Self { policy, governor: None, tracking, payback_s: 0.0, live: None }
    }
}

/// Where so large a part of what may be fast goes up at once it decides again soon, as `run` does.
const MUCH: f64 = 0.1;

struct Managed {
    number: usize,
    units: Units,
    capacity: Bytes,
    tenant: Tenant,
    /// Moves must pay.
    selective: bool,
    tracker: Box<dyn Tracker>,
    /// One, or as many as there are callers.
    movers: Vec<Mover>,
    epoch: u32,
    /// When the last interval began, and when the next decision is due, ns.
    begun_ns: f64,
    due_ns: f64,
    /// Until when moves may take, if they may not take for ever; and whether to decide again soon afterwards.
    until_ns: Option<f64>,
    soon: bool,
    /// What the last decision was made on.
    heat: EpochHeat,
    outcomes: Vec<Outcome>,
}

impl Ranked {
    /// One policy for all tenants, each with its own state; the scenario may name other parts.
    pub(super) fn build(
        given: &Given,
        parts: &Parts,
        mechanism: Mechanism,
    ) -> Result<Box<dyn System>, SpecError> {
        let policy = given.policy.clone().map_or_else(|| parts.policy.parse::<PolicySpec>(), Ok)?;
        let own = parts.governor.map_or_else(|| Ok(GovernorSpec::default()), str::parse)?;
        let governor = given.governor.clone().unwrap_or(own);
        let tracking = given.tracking.unwrap_or(parts.tracking);
        let within_s = given.payback_s.unwrap_or(parts.payback_s);
        let mechanism = given.mechanism.of(mechanism);
        let costs = given.kernel();
        let whole = given.huge_pages && !mechanism.split;
        let mover = |number| {
            let mover = Mover::new(number, mechanism, costs.clone()).scaled(given.period.scale);
            let calls = parts.live.is_some() && given.mechanism.together.is_none();
            if calls { mover.calling() } else { mover }
        };
        let rhythm = Rhythm { period: given.period, live: parts.live };
        let managed = |(number, setup): (usize, &TenantSetup)| Managed {
            number,
            units: Units::new(setup.pages.clone(), whole),
            capacity: setup.fast,
            tenant: Tenant::new(
                Decider::new(&policy),
                (&governor).into(),
                Some(CostBenefit { within_s, ..prices(&given.machine, given.period.scale) }),
            ),
            selective: within_s > 0.0,
            tracker: tracking.build(given, &costs),
            movers: (0..parts.live.map_or(1, |live| live.movers)).map(|_| mover(number)).collect(),
            epoch: 0,
            begun_ns: 0.0,
            due_ns: rhythm.length_ns(0),
            until_ns: None,
            soon: false,
            heat: EpochHeat::default(),
            outcomes: Vec::new(),
        };
        Ok(Box::new(Self {
            memory: given.first_touch(),
            tenants: given.tenants.iter().enumerate().map(managed).collect(),
            costs,
            rhythm,
            told: given.told.clone(),
        }))
    }
}

impl System for Ranked {
    fn fault(&mut self, fault: Fault, world: &mut World) -> f64 {
        if fault.absent() {
            return self.memory.map(&fault, world);
        }
        let managed = &mut self.tenants[fault.tenant];
        managed.tracker.fault(managed.units.of(fault.page));
        fault.now_ns + self.costs.hint_fault_us * 1e3
    }

    fn wait(&mut self, fault: Fault, _: &mut World) -> Option<f64> {
        let movers = self.tenants[fault.tenant].movers.iter_mut();
        movers
            .filter_map(|mover| mover.blocks(fault.page, fault.core, fault.now_ns))
            .reduce(f64::max)
    }

    /// One for each tenant, and one for its tracker if that has one.
    fn daemons(&self) -> usize {
        let threads = self.tenants.iter().filter(|managed| managed.tracker.has_thread()).count();
        self.tenants.len() + threads
    }

    fn wake(&mut self, daemon: usize, now_ns: f64, world: &mut World) -> f64 {
        let Self { memory, tenants, rhythm, told, .. } = self;
        if let Some(watched) = daemon.checked_sub(tenants.len()) {
            let Managed { number, units, tracker, .. } = &mut tenants[watched];
            return tracker.work(*number, units, now_ns, world);
        }
        let managed = &mut tenants[daemon];
        if now_ns == 0.0 {
            managed.tracker.begin(world);
        }
        let next = managed.step(now_ns, world);
        managed.take_moved(memory, told);
        if let Some(next) = next {
            return next;
        }
        if managed.until_ns.take().is_some() {
            let epoch = if std::mem::take(&mut managed.soon) { 0 } else { managed.epoch };
            managed.due_ns = now_ns + rhythm.length_ns(epoch);
        }
        if now_ns < managed.due_ns {
            return managed.due_ns;
        }
        managed.decide(now_ns, *rhythm, world, told);
        managed.step(now_ns, world).unwrap_or(managed.due_ns)
    }
}

impl Managed {
    /// Moves go on; when they do next, if some are under way.
    fn step(&mut self, now_ns: f64, world: &mut World) -> Option<f64> {
        if self.until_ns.is_some_and(|until| now_ns >= until) {
            for mover in &mut self.movers {
                // What is not done yet is decided on again soon.
                self.soon |= mover.drop_rest();
            }
        }
        self.movers.iter_mut().filter_map(|mover| mover.step(now_ns, world)).reduce(f64::min)
    }

    /// The end of an interval.
    fn decide(&mut self, now_ns: f64, rhythm: Rhythm, world: &mut World, told: &Told) {
        let length_s = (now_ns - self.begun_ns) * 1e-9;
        let interval =
            Interval { tenant: self.number, units: &self.units, epoch: self.epoch, length_s };
        let looked = self.tracker.look(&interval, world);
        world.cores.kernel(now_ns, looked.cpu_ns);
        self.heat = looked.heat;
        self.tenant.learn(self.outcomes.drain(..), 0.0);
        let heat = &self.heat;
        self.tenant.arrive(heat);
        let fast: Vec<bool> = heat.node.iter().map(|node| node.0 == 0).collect();
        let places = Places { fast: Some(&fast), ..Places::default() };
        let room = self.room(&fast);
        let scale = rhythm.period.scale;
        self.tenant.watched((looked.cpu_ns + looked.thread_ns) * 1e-9 * scale, None);
        let decision = self.tenant.decide(heat, length_s * scale, places, room, (false, None));
        self.tell(now_ns, &fast, &decision, told);
        let stopped = !decision.sparse.is_empty();
        self.tracker.watch(if stopped { Watch::Sparse } else { Watch::Full });
        self.request(&decision);
        self.epoch += 1;
        self.begun_ns = now_ns;
        let moves = !self.movers.iter().all(Mover::is_idle);
        let limited = moves && rhythm.live.is_some();
        let promoted = decision.chosen.promote.iter().map(|row| self.heat.bytes(*row).as_f64());
        self.soon = limited && promoted.sum::<f64>() > MUCH * self.capacity.as_f64();
        self.until_ns = limited.then_some(now_ns + rhythm.period.interval_s * 1e9);
        self.due_ns = rhythm.next_ns(self.due_ns, now_ns, self.epoch);
    }

    /// Room for what is to be fast, of which the tenant has some.
    fn room(&self, fast: &[bool]) -> Room {
        let capacity = self.capacity;
        if !self.selective {
            return Room::Ledger(capacity);
        }
        let heat = &self.heat;
        let of = |row: usize| heat.bytes(row).0;
        let used = Bytes((0..heat.len()).filter(|row| fast[*row]).map(of).sum());
        Room::Limited {
            capacity,
            most: capacity,
            used,
            move_budget: Bytes(u64::MAX),
            for_births: Bytes(0),
        }
    }

    /// Orders the moves: of equal sizes in pairs, the most wanted with the least.
    fn request(&mut self, decision: &Decision) {
        let heat = &self.heat;
        let pages = |row: &usize| self.units.range(heat.unit[*row].index());
        let (ups, downs) = (&decision.chosen.promote, &decision.chosen.demote);
        let both = ups.len().min(downs.len());
        let same = |at: usize| heat.pages[ups[at]] == heat.pages[downs[at]];
        let pairs = (0..both).take_while(|at| same(*at)).count();
        let all = self.movers.len();
        for (first, mover) in self.movers.iter_mut().enumerate() {
            mover.request(
                (first..pairs).step_by(all).map(|at| (pages(&ups[at]), pages(&downs[at]))),
                downs[pairs..].iter().skip(first).step_by(all).map(pages),
                ups[pairs..].iter().skip(first).step_by(all).map(pages),
            );
        }
    }

    fn take_moved(&mut self, memory: &mut FirstTouch, told: &Told) {
        for moved in self.movers.iter_mut().flat_map(Mover::take_moved) {
            let pages = moved.pages.len() as u64;
            memory.moved(self.number, pages, moved.up);
            told.moved(self.number, pages * 4096, moved.up);
            let unit = self.units.of(moved.pages.start);
            let row = self.heat.unit.binary_search_by_key(&unit, |unit| unit.index());
            let Ok(row) = row else { continue };
            let outcome = Outcome::of(&self.heat, row, moved.up);
            self.outcomes.push(Outcome { moved: Bytes(pages * 4096), ..outcome });
        }
    }

    fn tell(&self, now_ns: f64, fast: &[bool], decision: &Decision, told: &Told) {
        let log = DecisionLog {
            tenant: self.number,
            at_s: now_ns * 1e-9,
            observation: self.tenant.observation(),
            turn: decision.changes.first().cloned(),
            ..DecisionLog::of(&self.heat, fast, decision)
        };
        told.with(|all| all.decisions.push(log));
    }
}

/// What accesses and moves take, in the time that the governor is told. Of `scale` pages one is
/// simulated, which moves once for all of them.
fn prices(machine: &Machine, scale: f64) -> CostBenefit {
    CostBenefit {
        gain_ns: machine.slow().read_latency_ns - machine.fast().read_latency_ns,
        fast_ns: machine.fast().read_latency_ns,
        channel_ns: f64::from(IN_A_ROW) * LINE / machine.slow().read_bandwidth_gb_s,
        in_order: 1.0,
        base_us: machine.migration.page_4k_us * scale,
        huge_us: machine.migration.page_2m_us * scale,
        within_s: 0.0,
    }
}

#[cfg(test)]
#[path = "ranked_tests.rs"]
mod tests;
