//! What all actors share: the tiers, the page tables, the cores, the system, and what was counted.

use super::barrier::{Barrier, ToBarrier};
use super::caches::Level;
use super::channel::Channel;
use super::cores::Cores;
use super::events::Events;
use super::hierarchy::{Core, Hardware};
use super::page_tables::PageTables;
use super::pages::Pages;
use super::pages::bit;
use super::system::{Fault, System};
use pagetide_machine::Machine;
use std::ops::Range;

/// See the module.
pub struct World {
    /// The tiers, fastest first.
    pub memory: Vec<Channel>,
    /// The page tables.
    pub pages: Pages,
    /// Who runs where.
    pub cores: Cores,
    system: Option<Box<dyn System>>,
    /// What each core has before memory, empty, and the cache that all share.
    core: Option<Core>,
    pub(super) shared: Option<Level>,
    pub(super) tables: PageTables,
    /// By tenant, where its threads wait for each other.
    barriers: Vec<Option<Barrier>>,
    /// By tenant, accesses that each tier served, and that caches did.
    served: Vec<[u64; 4]>,
    hits: Vec<u64>,
    /// By page, accesses that memory served, and those of pages that came in order; empty unless they are
    /// asked for.
    counts: Vec<[u32; 2]>,
    /// They are touches of pages, not accesses to lines.
    by_touch: bool,
    /// By tenant, what hardware samples; none of whom nobody asked for it.
    events: Vec<Option<Events>>,
}

impl World {
    /// An idle machine with these page tables, on which nothing faults. It has no TLB and no caches.
    #[must_use]
    pub fn new(machine: &Machine, pages: Pages) -> Self {
        let memory = machine.tiers.iter().map(Channel::new).collect();
        Self {
            memory,
            pages,
            cores: Cores::default(),
            system: None,
            core: None,
            shared: None,
            tables: PageTables::default(),
            barriers: Vec::new(),
            served: Vec::new(),
            hits: Vec::new(),
            counts: Vec::new(),
            by_touch: false,
            events: Vec::new(),
        }
    }

    /// The same with TLBs and caches, for threads that are added from now on.
    #[must_use]
    pub fn behind(self, hardware: Hardware) -> Self {
        let tables = PageTables::new(self.pages.len(), hardware.table_lines);
        Self { core: hardware.core, shared: hardware.shared, tables, ..self }
    }

    /// The same with a system on it.
    #[must_use]
    pub fn with(mut self, system: Box<dyn System>) -> Self {
        self.system = Some(system);
        self
    }

    /// Calls the system with the world around it; none without one.
    pub(super) fn with_system<T>(
        &mut self,
        call: impl FnOnce(&mut dyn System, &mut Self) -> T,
    ) -> Option<T> {
        let mut system = self.system.take()?;
        let done = call(system.as_mut(), self);
        self.system = Some(system);
        Some(done)
    }

    /// Threads of the system.
    pub(super) fn daemons(&self) -> usize {
        self.system.as_ref().map_or(0, |system| system.daemons())
    }

    /// Handles a fault; when the thread tries again, ns. On a machine that is scaled down others of its
    /// tenant take their share of that. None: it goes on at once. Without a system
    /// pages are mapped where they are said to be, for nothing.
    #[cold]
    pub(super) fn fault(&mut self, fault: Fault) -> Option<f64> {
        if fault.entry & bit::MOVING != 0 {
            let again = self.with_system(|system, world| system.wait(fault, world)).flatten();
            return again.map(|again| again.max(fault.now_ns));
        }
        let done = self.with_system(|system, world| system.fault(fault, world)).map(|done_ns| {
            let takes_ns = (done_ns - fault.now_ns).max(0.0);
            let own_ns = takes_ns / self.cores.faulting(fault.tenant);
            if own_ns < takes_ns {
                self.cores.spread(fault.tenant, takes_ns - own_ns);
            }
            fault.now_ns + own_ns
        });
        let mapped = self.pages.mapped_with(fault.page);
        if fault.entry & bit::HINT != 0 {
            self.pages.forget(mapped.clone());
        }
        self.pages.clear_all(mapped, bit::ABSENT | bit::HINT);
        Some(done.unwrap_or(fault.now_ns).max(fault.now_ns))
    }

    /// Maps a page that a tenant touches for the first time, in no time; nothing if it is there.
    pub fn first_touch(&mut self, tenant: usize, page: usize) {
        let entry = self.pages.entry(page);
        if entry & bit::ABSENT != 0 {
            self.fault(Fault { tenant, core: 0, page, write: true, entry, now_ns: 0.0 });
        }
    }

    /// A tenant's threads that are added from now on wait for each other after every so many accesses
    /// of each, as at the end of a parallel loop.
    pub fn meet(&mut self, tenant: usize, every: u64) {
        if self.barriers.len() <= tenant {
            self.barriers.resize(tenant + 1, None);
        }
        self.barriers[tenant] = Some(Barrier::new(every));
    }

    pub(super) fn barrier(&mut self, tenant: usize) -> Option<&mut Barrier> {
        self.barriers.get_mut(tenant)?.as_mut()
    }

    /// One more thread of a tenant; whether it waits for others.
    pub(super) fn join(&mut self, tenant: usize) -> ToBarrier {
        self.barrier(tenant).map_or(ToBarrier::NEVER, Barrier::join)
    }

    /// A core for one more thread of a tenant; its number.
    pub(super) fn seat(&mut self, tenant: usize) -> usize {
        if self.served.len() <= tenant {
            self.served.resize(tenant + 1, [0; 4]);
            self.hits.resize(tenant + 1, 0);
        }
        self.cores.seat(tenant)
    }

    #[inline]
    pub(super) fn count(
        &mut self,
        (tenant, page, tier): (usize, usize, usize),
        write: bool,
        touches: [u32; 2],
    ) {
        self.served[tenant][tier & 3] += 1;
        if let Some(count) = self.counts.get_mut(page) {
            let more = if self.by_touch { touches } else { [1, 0] };
            *count = [count[0] + more[0], count[1] + more[1]];
        }
        if let Some(Some(events)) = self.events.get_mut(tenant) {
            events.count(page, write, false);
        }
    }

    /// A cache served an access.
    #[inline]
    pub(super) fn count_hit(&mut self, tenant: usize, page: usize, write: bool) {
        self.hits[tenant] += 1;
        if let Some(Some(events)) = self.events.get_mut(tenant) {
            events.count(page, write, true);
        }
    }

    /// Hardware samples a tenant's accesses from now on.
    pub fn sample(&mut self, tenant: usize, events: Events) {
        if self.events.len() <= tenant {
            self.events.resize(tenant + 1, None);
        }
        self.events[tenant] = Some(events);
    }

    /// What hardware samples of a tenant; none if nobody asked for it.
    pub fn events(&mut self, tenant: usize) -> Option<&mut Events> {
        self.events.get_mut(tenant)?.as_mut()
    }

    /// What a new thread's core has before memory.
    pub(super) fn core(&self) -> Option<Core> {
        self.core.clone()
    }

    /// Accesses of a tenant that caches served so far.
    #[must_use]
    pub fn hits(&self, tenant: usize) -> u64 {
        self.hits.get(tenant).copied().unwrap_or_default()
    }

    /// Accesses of a tenant that each tier served so far.
    #[must_use]
    pub fn served(&self, tenant: usize) -> [u64; 4] {
        self.served.get(tenant).copied().unwrap_or_default()
    }

    /// Counts the accesses to every page from now on, but those that caches serve.
    pub fn count_pages(&mut self) {
        self.counts = vec![[0; 2]; self.pages.len()];
    }

    /// Counts the touches of every page from now on, but those of lines that caches serve: who sees pages alone sees
    /// one however many lines of it a thread accesses without going elsewhere, or line by line on its way through memory. A
    /// touch counts as one access that is waited for, of pages that come in order as eight, as the recorder takes it.
    pub fn count_touches(&mut self) {
        self.count_pages();
        self.by_touch = true;
    }

    /// Whether somebody asked for [`Self::count_touches`].
    pub(super) fn counts_touches(&self) -> bool {
        self.by_touch
    }

    /// Accesses to pages that memory served since this was asked last.
    pub fn take_count(&mut self, pages: Range<usize>) -> u64 {
        self.take_touches(pages).iter().sum()
    }

    /// The same: touches of single lines or objects, and those of pages that came in order.
    pub fn take_touches(&mut self, pages: Range<usize>) -> [u64; 2] {
        let counts = self.counts.get_mut(pages).unwrap_or_default();
        counts
            .iter_mut()
            .map(|count| std::mem::take(count).map(u64::from))
            .fold([0; 2], |[alone, in_order], [more, in_order_too]| {
                [alone + more, in_order + in_order_too]
            })
    }
}
