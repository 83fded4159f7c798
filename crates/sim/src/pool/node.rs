//! A node: its cores, its own memory, its port to the pool, and where each of its pages is.

use super::Ps;
use super::bank_queues::Module;
use super::caches::NodeCaches;
use super::core::Core;
use super::counts::PageId;
use super::dma::{Dma, Pair};
use super::filter::Seen;
use super::governor::Governed;
use super::hardware::{Times, local};
use super::kept::Nothing;
use super::local::LocalTable;
use super::lost::{Left, Lost};
use super::network::Link;
use super::places::{Place, Places};
use super::policy::NodeView;
use super::shared::Shared;
use super::traffic::Misses;
use super::translations::Translations;
use pagetide_machine::PoolMachine;

/// See the module.
#[derive(Debug)]
pub(super) struct Node<'m> {
    pub(super) cores: Vec<Core<'m>>,
    pub(super) places: Places,
    pub(super) table: LocalTable,
    pub(super) memory: Module,
    /// Lines that come, and lines that go.
    pub(super) port: [Link; 2],
    /// It stands still until then; for ever, as long as nobody knows.
    pub(super) stalled_until: Ps,
    /// Since when it has stood still for that.
    frozen_at: Option<Ps>,
    /// Caches that misses come from as they are made; else they are kept.
    pub(super) caches: Option<Caches<'m>>,
    /// What came from them last.
    misses: Misses,
    /// Pages that are swapped while it may go on.
    pub(super) dma: Dma,
    pub(super) tally: Tally,
    /// Translations that its cores keep, where these take time.
    pub(super) translations: Option<Translations>,
    /// Lines that moves took from its caches, where somebody asks.
    pub(super) lost: Option<Lost>,
    /// Says whether its pages move at all.
    pub(super) governed: Option<Governed>,
    /// What was counted when its manager looked last, and when that was.
    looked: (Tally, Ps),
    outstanding: u32,
    local_idle: Ps,
}

/// Caches in time.
#[derive(Debug)]
pub(super) enum Caches<'k> {
    /// All of them.
    All(NodeCaches),
    /// The shared one, behind what the others let through.
    Shared(Shared<'k>),
}

impl Caches<'_> {
    /// A core goes on; whether it had anything to do.
    fn advance(&mut self, core: usize, told: &mut impl FnMut(Seen)) -> bool {
        match self {
            Self::All(caches) => caches.advance(core, told, &mut Nothing),
            Self::Shared(shared) => shared.advance(core, told),
        }
    }

    /// Instructions of a core since its last line.
    fn rest(&mut self, core: usize) -> u64 {
        match self {
            Self::All(caches) => caches.rest(core),
            Self::Shared(shared) => shared.rest(core),
        }
    }

    /// A page moved: which of its lines were in the shared one.
    fn moved(&mut self, page: PageId) -> Left {
        match self {
            Self::All(caches) => caches.moved(page),
            Self::Shared(shared) => shared.moved(page),
        }
    }

    /// What is kept of what is left.
    pub(super) fn left(&self) -> u64 {
        match self {
            Self::All(_) => 0,
            Self::Shared(shared) => shared.left(),
        }
    }
}

/// What is counted of a node.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tally {
    /// Lines fetched from its own memory, and from the pool.
    pub(super) fetched: [u64; 2],
    /// Lines given back to them.
    pub(super) written: [u64; 2],
    /// Of lines fetched and of lines given back, how many more were local than if nothing had moved.
    pub(super) nearer: [i64; 2],
    /// Lines fetched again that moves had taken from the caches.
    pub(super) lost: u64,
    /// Lines that moves took from the shared cache.
    pub(super) taken: u64,
    /// What fetches took, in all.
    pub(super) delay: [u128; 2],
    pub(super) stalls: u64,
    pub(super) stalled: Ps,
    pub(super) moved_in: u64,
    pub(super) moved_out: u64,
    /// The most pages that were hot in an epoch.
    pub(super) most_hot: u64,
    /// Time of all cores in which they executed instructions.
    pub(super) executed: Ps,
}

impl<'m> Node<'m> {
    pub(super) fn new(
        machine: &PoolMachine,
        misses: &'m [Misses],
        (places, table): (Places, LocalTable),
        start: Ps,
    ) -> Self {
        let times = Times::of(machine);
        let core = |misses| Core::new(misses, (machine.core.outstanding, start), &times);
        let cores: Vec<Core<'m>> = misses.iter().map(core).collect();
        let translations = machine.tlb.as_ref().map(|tlb| Translations::new(tlb, cores.len()));
        Self {
            cores,
            places,
            table,
            memory: local(&machine.local),
            port: [0, 1].map(|_| Link::new(machine.network.bandwidth_gb_s)),
            stalled_until: start,
            frozen_at: None,
            caches: None,
            misses: Misses::default(),
            dma: Dma::default(),
            tally: Tally::default(),
            translations,
            lost: None,
            governed: None,
            looked: (Tally::default(), start),
            outstanding: machine.core.outstanding,
            local_idle: Ps::from_ns(machine.local.read_ns + machine.local.path_ns),
        }
    }

    /// What its counters say since this was asked before.
    pub(super) fn view(&mut self, now: Ps) -> NodeView {
        let (before, at) = std::mem::replace(&mut self.looked, (self.tally, now));
        let delay = |of: usize| {
            let count = self.tally.fetched[of] - before.fetched[of];
            let all = self.tally.delay[of] - before.delay[of];
            let mean = all.checked_div(u128::from(count))?;
            Some(Ps(u64::try_from(mean).unwrap_or(u64::MAX)))
        };
        let cores = self.cores.len() as u64;
        let stalled = self.tally.stalled.minus(before.stalled);
        let time = now.minus(at).minus(stalled).times(cores);
        let executed = self.tally.executed.minus(before.executed);
        NodeView {
            cores: u32::try_from(cores).unwrap_or(u32::MAX),
            outstanding: self.outstanding,
            pool_delay: delay(1),
            local_delay: delay(0),
            nearer_fetches: self.tally.nearer[0] - before.nearer[0],
            nearer_write_backs: self.tally.nearer[1] - before.nearer[1],
            lost_fetches: self.tally.lost - before.lost,
            written_back: self.tally.written[1] - before.written[1],
            write_share: {
                let [fetched, written] = [
                    self.tally.fetched[1] - before.fetched[1],
                    self.tally.written[1] - before.written[1],
                ];
                written as f64 / ((fetched + written) as f64).max(1.0)
            },
            local_idle: self.local_idle,
            stalled,
            waited: (1.0 - executed.ns() / time.ns().max(1e-3)).clamp(0.0, 1.0),
            ..NodeView::default()
        }
    }

    /// A page of the pool and one of its own change places.
    pub(super) fn swap(&mut self, pair: Pair, now: Ps) {
        if let Some(victim) = pair.victim {
            self.places.set(victim, Place::Pool(pair.slot));
        }
        self.places.set(pair.page, Place::Local(pair.frame));
        self.tally.moved_in += 1;
        self.tally.moved_out += u64::from(pair.victim.is_some());
        for (page, came_in) in [(Some(pair.page), true), (pair.victim, false)] {
            let Some(page) = page else { continue };
            let left = self.caches.as_mut().map_or_else(Left::default, |of| of.moved(page));
            if let Some(governed) = &mut self.governed {
                governed.moved(page, (came_in, left), now);
            }
            self.tally.taken += u64::from(left.lines.count_ones());
            if let Some(lost) = &mut self.lost {
                lost.moved(page, left.lines, self.tally.fetched.iter().sum());
                // Without moves they would be given back to where the page was at first.
                if self.places.nearer(page) == i64::from(came_in) {
                    self.tally.nearer[1] += i64::from(left.dirty.count_ones());
                }
            }
        }
    }

    /// Its cores execute nothing from `from` to `to`.
    pub(super) fn stall(&mut self, from: Ps, to: Ps) {
        self.cores.iter_mut().for_each(|core| core.stall(from, to));
        self.stalled_until = to;
        self.tally.stalls += 1;
        self.tally.stalled += to - from;
    }

    /// Its cores execute nothing from `from` until it is resumed.
    pub(super) fn freeze(&mut self, from: Ps) {
        self.cores.iter_mut().for_each(Core::freeze);
        (self.stalled_until, self.frozen_at) = (Ps::MAX, Some(from));
    }

    /// They go on, if they were frozen.
    pub(super) fn resume(&mut self, to: Ps) {
        if let Some(from) = self.frozen_at.take() {
            self.stall(from, to);
        }
    }

    /// Gives a core that has made all of its misses the next ones that its caches let through.
    pub(super) fn refill(&mut self, number: usize, now: Ps, times: &Times) {
        let Some(caches) = &mut self.caches else { return };
        let misses = &mut self.misses;
        misses.clear();
        while misses.all().is_empty() && caches.advance(number, &mut |seen| misses.add(&seen)) {}
        if misses.all().is_empty() {
            misses.compute(caches.rest(number));
        }
        if !misses.all().is_empty() {
            self.cores[number].refill(misses, now, times);
        }
    }

    /// Whether a core of it has something to do.
    pub(super) fn runs(&self) -> bool {
        self.cores.iter().any(|core| core.done_at().is_none())
    }
}
