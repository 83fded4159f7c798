//! The thread that reclaims a node's memory, by demotion: `kswapd` of Linux's mm/vmscan.c with
//! `demotion_enabled` (`demote_folio_list`). It is woken by an allocation that went elsewhere
//! (`wakeup_kswapd`), or by free memory below a mark, and demotes what is at the inactive list's tail, in
//! batches, until the node has as much free memory as its marks say.
//!
//! Simpler than Linux: it is always there when an allocation spills to the slow node, where Linux wakes
//! it only when no node has room above its low mark; it stops at the mark, where Linux goes on for what
//! it has begun; every batch takes as much from either list, where Linux takes more the less it finds;
//! there is no swap, so that a full slow node ends it.

use super::{FirstTouch, Kind, Lru, Shadows};
use crate::engine::{LOOK_AGAIN_NS, World};
use crate::movers::{Mechanism, Mover};
use pagetide_machine::Kernel;
use std::ops::Range;

/// Pages that are looked at, and demoted, together.
pub const SWAP_CLUSTER_MAX: u64 = 32;
/// While it sleeps it looks that often whether it was woken, ns.
const LOOK_NS: f64 = 10_000.0;
/// The node that it works for, and the one that takes what it demotes.
const NODE: usize = 0;
const TARGET: usize = 1;

/// A page that was demoted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Demoted {
    /// Whose.
    pub tenant: usize,
    /// Its base pages.
    pub pages: Range<usize>,
}

/// See the module.
#[derive(Clone, Debug)]
pub struct Kswapd {
    /// By tenant: whose pages are moved decides who is interrupted. One works at a time.
    movers: Vec<Mover>,
    scan_ns: f64,
    /// Pages of the largest allocation that woke it; 0 while it sleeps.
    asked: u64,
    /// Entries that it looked at, in all and since it found a page to demote.
    looked: u64,
    in_vain: u64,
    /// What need not be copied, where promotion leaves something behind.
    shadows: Shadows,
    demoted: Vec<Demoted>,
}

impl Kswapd {
    /// One for a node that so many tenants share. A batch is moved together, as Linux does since
    /// 6.3, unless the mechanism says otherwise: [`Self::TOGETHER`].
    #[must_use]
    pub fn new(tenants: usize, mechanism: Mechanism, costs: &Kernel) -> Self {
        // Nobody calls it: what a request costs before its first page falls away.
        let costs = Kernel { call_us: 0.0, ..costs.clone() };
        let mover = |tenant| Mover::new(tenant, mechanism, costs.clone()).reclaiming();
        Self {
            movers: (0..tenants).map(mover).collect(),
            scan_ns: costs.scan_ns,
            asked: 0,
            looked: 0,
            in_vain: 0,
            shadows: Shadows::default(),
            demoted: Vec::new(),
        }
    }

    /// The same where memory is so many times smaller than what is modelled: see [`Mover::scaled`].
    #[must_use]
    pub fn scaled(mut self, scale: f64) -> Self {
        self.movers = self.movers.into_iter().map(|mover| mover.scaled(scale)).collect();
        self
    }

    /// The same where pages that were promoted may have shadows.
    #[must_use]
    pub fn with_shadows(self, shadows: Shadows) -> Self {
        Self { shadows, ..self }
    }

    /// The shadows of promoted pages.
    pub fn shadows(&mut self) -> &mut Shadows {
        &mut self.shadows
    }

    /// One thread, huge pages whole, all pages of a batch at a time.
    pub const TOGETHER: Mechanism = Mechanism { together: 0, ..Mechanism::HUGE };

    /// An allocation of so many pages found no room on the node (`wakeup_kswapd`).
    pub fn wake_up(&mut self, pages: u64) {
        self.asked = self.asked.max(pages);
    }

    /// Whether it has something to do.
    #[must_use]
    pub fn is_awake(&self) -> bool {
        self.asked > 0
    }

    /// Entries that it looked at so far.
    #[must_use]
    pub fn looked(&self) -> u64 {
        self.looked
    }

    /// What was demoted since this was asked last.
    pub fn take_demoted(&mut self) -> Vec<Demoted> {
        std::mem::take(&mut self.demoted)
    }

    /// Whether a page that it is moving blocks who meets it on a core: see [`Mover::blocks`].
    pub fn blocks(&mut self, page: usize, core: usize, now_ns: f64) -> Option<f64> {
        let busy = self.movers.iter_mut().find(|mover| !mover.is_idle());
        busy.map_or(Some(now_ns + LOOK_AGAIN_NS), |mover| mover.blocks(page, core, now_ns))
    }

    /// Works at `now_ns`; when it goes on, ns.
    pub fn wake(
        &mut self,
        now_ns: f64,
        memory: &mut FirstTouch,
        lru: &mut Lru,
        world: &mut World,
    ) -> f64 {
        let next = self.movers.iter_mut().find_map(|mover| mover.step(now_ns, world));
        self.arrive(memory, lru, world);
        if let Some(next) = next {
            return next;
        }
        let need = memory.nodes().to_reclaim(NODE, self.asked);
        if need == 0 {
            self.asked = 0;
            return now_ns + LOOK_NS;
        }
        self.wake_up(1);
        let target = memory.nodes().node(TARGET);
        let room = target.free.saturating_sub(target.marks.min);
        let batch = need.min(SWAP_CLUSTER_MAX).min(room);
        let looked = self.shrink(batch, memory, lru, world);
        let all = lru.pages(NODE, Kind::Active) + lru.pages(NODE, Kind::Inactive);
        if looked == 0 || self.in_vain > 4 * all {
            // It gives up (`MAX_RECLAIM_RETRIES`), until somebody asks again.
            (self.asked, self.in_vain) = (0, 0);
            return now_ns + LOOK_NS;
        }
        let takes_ns = looked as f64 * self.scan_ns;
        world.cores.kernel(now_ns, takes_ns);
        now_ns + takes_ns
    }

    /// Looks at a batch of each list, and has what it finds moved; entries that it looked at.
    fn shrink(
        &mut self,
        batch: u64,
        memory: &mut FirstTouch,
        lru: &mut Lru,
        world: &mut World,
    ) -> u64 {
        let aged = match batch {
            0 => 0,
            _ if lru.inactive_is_low(NODE) => lru.shrink_active(NODE, SWAP_CLUSTER_MAX, world),
            _ => 0,
        };
        let shrunk = lru.shrink_inactive(NODE, batch, world);
        let looked = aged + shrunk.entries;
        self.looked += looked;
        self.in_vain = if shrunk.candidates.is_empty() { self.in_vain + looked } else { 0 };
        for pages in shrunk.candidates {
            let mover = &mut self.movers[memory.owner(pages.start)];
            if self.shadows.take(pages.start, memory, world) {
                mover.request_remap(pages);
            } else {
                mover.request([], [pages], []);
            }
        }
        looked
    }

    /// Puts what has moved onto the slow node's list.
    fn arrive(&mut self, memory: &mut FirstTouch, lru: &mut Lru, world: &mut World) {
        for (tenant, mover) in self.movers.iter_mut().enumerate() {
            for moved in mover.take_moved() {
                let mut page = moved.pages.start;
                while page < moved.pages.end {
                    // A huge page that was split is 512 entries now.
                    lru.add(page, Kind::Inactive, world);
                    page = world.pages.mapped_with(page).end;
                }
                memory.moved(tenant, moved.pages.len() as u64, moved.up);
                self.demoted.push(Demoted { tenant, pages: moved.pages });
            }
        }
    }
}

#[cfg(test)]
#[path = "reclaim_tests.rs"]
mod tests;
