//! MEMTIS (Lee et al., SOSP 2023): hardware samples accesses, a histogram of the samples says how much may
//! be hot, and two threads of the kernel move pages, one up and one down. The program waits for neither,
//! but for the page that is under way. What ranks pages is the policy `memtis`, decided by the same
//! [`Tenant`] as a live run: cooled and adapted by its counts, which are samples here. Its periods and
//! marks are those of the published code (`htmm_migrater.c`).
//!
//! It is not `Ranked` with that policy: there one thread carries out a decision and makes the next
//! when all has moved. Here the lists of what goes up and down are new every half second, also while
//! threads work through them.
//!
//! Simpler than MEMTIS: skewed huge pages are not split, because a unit has one size here; every tenant
//! has threads of its own; within a bin what goes down first is not what is oldest; going through its
//! lists takes the kernel no time; marks have no bounds in MiB.

use super::registry::SystemInfo;
use super::setup::{DecisionLog, Given, TenantSetup, Told};
use crate::engine::{Fault, System, World, bit};
use crate::kernel::{FirstTouch, Units};
use crate::movers::{Mechanism, Mover};
use crate::trackers::{EventSampling, Interval, Tracker};
use pagetide_machine::Kernel;
use pagetide_policy::{Places, PolicySpec, Room, SpecError, Tenant};
use pagetide_types::Bytes;
use std::collections::VecDeque;
use std::ops::Range;

/// How long a thread that moves pages sleeps between two rounds, ns.
const SLEEP_NS: f64 = 0.5e9;
/// Samples between two settings of the threshold, and between two coolings.
const ADAPT: f64 = 100_000.0;
const COOL: f64 = 2_000_000.0;
/// Base pages allocated between two coolings (10 GiB).
const ALLOC: f64 = 2_621_440.0;
/// Parts in 100 of fast memory: what is free after promotion and after demotion; below what demotion
/// begins when nothing is to go up.
const FREE: u64 = 3;
const FREE_LEAST: u64 = 2;

/// See the module.
struct Memtis {
    memory: FirstTouch,
    /// By number.
    tenants: Vec<Managed>,
    told: Told,
}

/// A tenant, and the threads that work for it.
struct Managed {
    number: usize,
    units: Units,
    /// Base pages that may be fast.
    fast: u64,
    tenant: Tenant,
    sampling: EventSampling,
    epoch: u32,
    /// How long a thread sleeps, and when the lists are due to be new, ns.
    sleep_ns: f64,
    due_ns: f64,
    up: Migrator,
    down: Migrator,
}

/// A thread that moves pages one way (`kmigraterd`).
struct Migrator {
    mover: Mover,
    /// What is to move, the most wanted first.
    list: VecDeque<Range<usize>>,
    /// Base pages that may still move in this round; none while it sleeps.
    left: Option<u64>,
    /// Until when it sleeps, ns.
    until_ns: f64,
}

/// What its threads do, by number.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Work {
    Sample,
    Promote,
    Demote,
}

impl Work {
    const ALL: [Self; 3] = [Self::Sample, Self::Promote, Self::Demote];
}

/// So many parts in 100 of some pages.
fn percent(of: u64, parts: u64) -> u64 {
    of * parts / 100
}

impl System for Memtis {
    fn fault(&mut self, fault: Fault, world: &mut World) -> f64 {
        if fault.absent() { self.memory.map(&fault, world) } else { fault.now_ns }
    }

    fn wait(&mut self, fault: Fault, world: &mut World) -> Option<f64> {
        let goes_up = world.pages.tier(fault.page) > 0;
        let mover = &mut self.tenants[fault.tenant].migrator(goes_up).mover;
        mover.blocks(fault.page, fault.core, fault.now_ns)
    }

    fn daemons(&self) -> usize {
        self.tenants.len() * Work::ALL.len()
    }

    fn wake(&mut self, daemon: usize, now_ns: f64, world: &mut World) -> f64 {
        let Self { memory, tenants, told } = self;
        let managed = &mut tenants[daemon / Work::ALL.len()];
        match Work::ALL[daemon % Work::ALL.len()] {
            Work::Sample => {
                let Managed { number, units, sampling, .. } = managed;
                sampling.work(*number, units, now_ns, world)
            }
            work => managed.migrate(work == Work::Promote, now_ns, (memory, told), world),
        }
    }
}

impl Managed {
    fn new(given: &Given, number: usize, setup: &TenantSetup) -> Result<Self, SpecError> {
        let scale = given.period.scale;
        // A page has as many samples as on a machine of full size, all pages together have fewer.
        let (adapt, cool) = ((ADAPT / scale).round(), (COOL / scale).round().max(1.0));
        let alloc = (ALLOC / scale).round().max(1.0);
        let policy: PolicySpec =
            format!("memtis:sample=1,adapt={adapt:.0},cool={cool:.0},alloc={alloc:.0}").parse()?;
        let mechanism = given.mechanism.of(Mechanism::HUGE);
        // Nobody calls its threads: what a request costs before its first page falls away.
        let costs = Kernel { call_us: 0.0, ..given.kernel() };
        let migrator = || Migrator {
            mover: Mover::new(number, mechanism, costs.clone()).scaled(scale),
            list: VecDeque::new(),
            left: None,
            until_ns: 0.0,
        };
        Ok(Self {
            number,
            units: Units::new(setup.pages.clone(), given.huge_pages && !mechanism.split),
            fast: setup.fast.0 / 4096,
            tenant: Tenant::of(&policy),
            sampling: given.event_sampling(),
            epoch: 0,
            sleep_ns: SLEEP_NS / scale,
            due_ns: SLEEP_NS / scale,
            up: migrator(),
            down: migrator(),
        })
    }

    fn migrator(&mut self, up: bool) -> &mut Migrator {
        if up { &mut self.up } else { &mut self.down }
    }

    /// A thread moves pages; when it goes on, ns.
    fn migrate(
        &mut self,
        up: bool,
        now_ns: f64,
        (memory, told): (&mut FirstTouch, &Told),
        world: &mut World,
    ) -> f64 {
        let next = self.migrator(up).mover.step(now_ns, world);
        for moved in self.migrator(up).mover.take_moved() {
            let pages = moved.pages.len() as u64;
            memory.moved(self.number, pages, moved.up);
            told.moved(self.number, pages * 4096, moved.up);
        }
        if let Some(next) = next {
            return next;
        }
        let used = memory.share(self.number).fast;
        if now_ns >= self.due_ns {
            self.decide(now_ns, used, world, told);
        }
        let room = (self.fast - percent(self.fast, FREE)).saturating_sub(used);
        let sleep_ns = self.sleep_ns;
        let migrator = self.migrator(up);
        if migrator.left.is_none() && now_ns < migrator.until_ns {
            return migrator.until_ns;
        }
        let left = *migrator.left.get_or_insert(if up { room } else { u64::MAX });
        match migrator.next(up, left, world) {
            Some(next) => {
                migrator.left = Some(left - next.len() as u64);
                let (ups, downs) = if up { (Some(next), None) } else { (None, Some(next)) };
                migrator.mover.request([], downs, ups);
                migrator.mover.step(now_ns, world).unwrap_or(now_ns)
            }
            None => {
                migrator.left = None;
                migrator.until_ns = now_ns + sleep_ns;
                migrator.until_ns
            }
        }
    }

    /// New lists. `used`: base pages that are fast.
    fn decide(&mut self, now_ns: f64, used: u64, world: &mut World, told: &Told) {
        // An interval counts for a second, so that a rate is a number of samples.
        let length_s = 1.0;
        let interval =
            Interval { tenant: self.number, units: &self.units, epoch: self.epoch, length_s };
        let heat = self.sampling.look(&interval, world).heat;
        self.tenant.arrive(&heat);
        let fast: Vec<bool> = heat.node.iter().map(|node| node.0 == 0).collect();
        let places = Places { fast: Some(&fast), ..Places::default() };
        let room = Room::Ledger(Bytes((self.fast - percent(self.fast, FREE)) * 4096));
        let mut decision = self.tenant.decide(&heat, length_s, places, room, (false, None));
        let enough = used + percent(self.fast, FREE_LEAST) <= self.fast;
        // A round that has begun goes on to the end.
        if decision.chosen.promote.is_empty() && enough && self.down.left.is_none() {
            decision.chosen.demote.clear();
        }
        let pages = |row: &usize| self.units.range(heat.unit[*row].index());
        self.up.list = decision.chosen.promote.iter().map(pages).collect();
        self.down.list = decision.chosen.demote.iter().map(pages).collect();
        let log = DecisionLog {
            tenant: self.number,
            at_s: now_ns * 1e-9,
            observation: self.tenant.observation(),
            ..DecisionLog::of(&heat, &fast, &decision)
        };
        told.with(|all| all.decisions.push(log));
        self.epoch += 1;
        self.due_ns = now_ns + self.sleep_ns;
    }
}

impl Migrator {
    /// The next page of its list that is not where it is to go and not on its way, if it is no larger
    /// than what is left.
    fn next(&mut self, up: bool, left: u64, world: &World) -> Option<Range<usize>> {
        let moves = |pages: &Range<usize>| {
            let entry = world.pages.entry(pages.start);
            entry & bit::MOVING == 0 && (world.pages.tier(pages.start) > 0) == up
        };
        let next = std::iter::from_fn(|| self.list.pop_front()).find(moves)?;
        (next.len() as u64 <= left).then_some(next)
    }
}

fn build(given: &Given) -> Result<Box<dyn System>, SpecError> {
    let managed = |(number, setup): (usize, &TenantSetup)| Managed::new(given, number, setup);
    Ok(Box::new(Memtis {
        memory: given.first_touch(),
        tenants: given.tenants.iter().enumerate().map(managed).collect::<Result<_, _>>()?,
        told: given.told.clone(),
    }))
}

pub(super) const MEMTIS: SystemInfo = SystemInfo {
    name: "memtis",
    summary: "what a histogram of sampled events calls hot goes up; threads of the kernel move all",
    source: "MEMTIS, SOSP 2023",
    keys: &["sample_ns", "split", "threads"],
    build,
};

#[cfg(test)]
#[path = "memtis_tests.rs"]
mod tests;
