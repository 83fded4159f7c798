//! NOMAD (Xiang et al., OSDI 2024): TPP's hint faults and demotion, but a fault moves nothing. It looks
//! back at the pages that faulted before it: what was accessed again is marked accessed, and what is
//! active by then is queued. A thread of the kernel moves what is queued while it stays mapped
//! (`movers/transaction`); the old frame stays as a shadow, so that a page that is not written to is
//! demoted without a copy (`kernel/shadows`). How it looks back, the lengths of its queues and the share
//! of the fast node that is kept free are those of its published code.
//!
//! Simpler than NOMAD: huge pages are moved like base pages, where it leaves them to TPP.

use super::hint_promotion::{HintFault, HintPromotion, PromotionRule};
use super::registry::{SystemInfo, keys};
use super::setup::Given;
use super::tpp::{counted, demoting_early, poison};
use crate::engine::{Fault, System, World, bit};
use crate::kernel::{
    ActivationBatches, Attempt, HintFaultCounts, Kind, LastCpupid, Lru, Nodes, Shadows,
};
use crate::movers::{Ended, Transaction, TransactionalMover};
use pagetide_policy::SpecError;
use std::collections::VecDeque;
use std::ops::Range;

/// Faults that a fault looks back at, and pages that are queued, at most.
const LOOK_BACK: f64 = 20.0;
const QUEUE: f64 = 512.0;
/// Faults after that on a page until it can be queued: by then it is referenced, active, and found so.
const WAY_UP: usize = 3;
/// `demote_scale_factor`: parts in 10,000 of the fast node that are kept free.
const DEMOTE_SCALE: u64 = 1000;
/// While nothing is queued its thread looks that often, ns.
const LOOK_NS: f64 = 10_000.0;
/// How often it frees the shadows of pages that were written to, ns of the machine that is modelled.
const FREE_WRITTEN_NS: f64 = 1e9;

/// A page that faulted, and who did.
#[derive(Clone, Debug)]
struct Candidate {
    core: usize,
    page: Transaction,
}

/// What is to go up.
struct LookBack {
    batches: ActivationBatches,
    last: LastCpupid,
    /// Pages of the last faults, the newest first, and how many at most before one more.
    candidates: VecDeque<Candidate>,
    look_back: usize,
    queue: VecDeque<Transaction>,
    queue_most: usize,
}

impl LookBack {
    /// For so many base pages. Of a machine that is so many times larger than this one, a page is
    /// accessed as many times less often between two faults, and a queue is as many times smaller
    /// a part of the memory: both are shortened, but what is accessed must have time to be queued.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "1 to 512")]
    fn new(pages: usize, scale: f64) -> Self {
        Self {
            batches: ActivationBatches::new(scale),
            last: LastCpupid::new(pages),
            candidates: VecDeque::new(),
            look_back: ((LOOK_BACK / scale).ceil() as usize).max(WAY_UP),
            queue: VecDeque::new(),
            queue_most: (QUEUE / scale).ceil() as usize,
        }
    }

    fn look_back(&mut self, lru: &mut Lru, world: &World) {
        let Self { batches, candidates, look_back, queue, queue_most, .. } = self;
        candidates.retain(|Candidate { core, page }| {
            let first = page.pages.start;
            if world.pages.tier(first) == 0 {
                return false;
            }
            let mut pages = page.pages.clone();
            let accessed = pages.any(|page| world.pages.entry(page) & bit::ACCESSED != 0);
            match lru.of(first) {
                // It is on its way.
                None => false,
                Some((_, Kind::Active)) if accessed => {
                    if queue.len() < *queue_most && !queue.contains(page) {
                        queue.push_back(page.clone());
                    }
                    false
                }
                Some((_, Kind::Inactive)) if accessed => {
                    batches.mark_accessed(*core, first, lru);
                    true
                }
                Some(_) => true,
            }
        });
        candidates.truncate(*look_back);
    }
}

impl PromotionRule for LookBack {
    fn should_migrate(
        &mut self,
        hint: &HintFault,
        lru: &mut Lru,
        _: &Nodes,
        world: &World,
    ) -> bool {
        self.look_back(lru, world);
        let page = Transaction { tenant: hint.fault.tenant, pages: hint.pages.clone() };
        self.candidates.push_front(Candidate { core: hint.fault.core, page });
        false
    }

    fn counted(&mut self, hint: &HintFault, attempt: Attempt) -> HintFaultCounts {
        counted(&mut self.last, hint, attempt)
    }

    fn arrived(&mut self, pages: Range<usize>, may_fault: bool, world: &mut World) {
        poison(pages, may_fault, world);
    }
}

struct Nomad {
    base: HintPromotion<LookBack>,
    mover: TransactionalMover,
    /// Every so many ns, and when next.
    free_written_ns: f64,
    due_ns: f64,
}

impl Nomad {
    /// The thread that moves pages; when it goes on, ns.
    fn promote(&mut self, now_ns: f64, world: &mut World) -> f64 {
        let next = self.mover.step(now_ns, world);
        if let Some(ended) = self.mover.take_ended() {
            self.put_back(&ended, world);
        }
        if let Some(next) = next {
            return next;
        }
        let Self { base, due_ns, free_written_ns, .. } = self;
        if now_ns >= *due_ns {
            base.kswapd.shadows().free_written(&mut base.memory, world);
            *due_ns = now_ns + *free_written_ns;
        }
        base.kswapd.shadows().reclaim(&mut base.memory);
        match self.next() {
            Some(page) => {
                self.mover.begin(page);
                self.mover.step(now_ns, world).unwrap_or(now_ns)
            }
            None => now_ns + LOOK_NS,
        }
    }

    /// The next page that is queued and can be moved, isolated. There must be a frame for it, but it
    /// may be one of the last (without reclaim, down to the lowest mark).
    fn next(&mut self) -> Option<Transaction> {
        let HintPromotion { memory, lru, rule, .. } = &mut self.base;
        while let Some(page) = rule.queue.pop_front() {
            let node = memory.nodes().node(0);
            let room = node.free >= node.marks.min + page.pages.len() as u64;
            let slow = matches!(lru.of(page.pages.start), Some((1, _)));
            if room && slow && lru.isolate(page.pages.start).is_some() {
                return Some(page);
            }
        }
        None
    }

    /// Puts a page where it is now, on the list of active ones.
    fn put_back(&mut self, ended: &Ended, world: &World) {
        let (Ended::Committed(page) | Ended::Aborted(page)) = ended;
        self.base.lru.add(page.pages.start, Kind::Active, world);
        if matches!(ended, Ended::Committed(_)) {
            self.base.went_up(page.tenant, page.pages.clone());
            let HintPromotion { memory, kswapd, .. } = &mut self.base;
            memory.moved(page.tenant, page.pages.len() as u64, true);
            kswapd.shadows().link(page.pages.clone(), memory);
        }
    }
}

impl System for Nomad {
    fn fault(&mut self, fault: Fault, world: &mut World) -> f64 {
        self.base.fault(fault, world)
    }

    fn wait(&mut self, fault: Fault, world: &mut World) -> Option<f64> {
        self.base.wait(fault, world)
    }

    /// Those of the base, and the thread that moves pages.
    fn daemons(&self) -> usize {
        self.base.daemons() + 1
    }

    fn wake(&mut self, daemon: usize, now_ns: f64, world: &mut World) -> f64 {
        if daemon < self.base.daemons() {
            self.base.wake(daemon, now_ns, world)
        } else {
            self.promote(now_ns, world)
        }
    }
}

#[expect(clippy::unnecessary_wraps, reason = "as other systems")]
fn build(given: &Given) -> Result<Box<dyn System>, SpecError> {
    let costs = given.kernel();
    let shadows = Shadows::new(costs.hint_fault_us * 1e3);
    let memory = demoting_early(given, DEMOTE_SCALE);
    let scale = given.period.scale;
    let rule = LookBack::new(given.base_pages(), scale);
    let mut base = HintPromotion::new(given, memory, rule);
    base.kswapd = base.kswapd.with_shadows(shadows);
    Ok(Box::new(Nomad {
        base,
        mover: TransactionalMover::new(&costs).scaled(scale),
        free_written_ns: FREE_WRITTEN_NS / scale,
        due_ns: 0.0,
    }))
}

pub(super) const NOMAD: SystemInfo = SystemInfo {
    name: "nomad",
    summary: "pages go up while they stay mapped, and leave a shadow that makes demotion free",
    source: "NOMAD, OSDI 2024",
    keys: keys::MOVING,
    build,
};

#[cfg(test)]
#[path = "nomad_tests.rs"]
mod tests;
