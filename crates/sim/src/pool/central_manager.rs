//! The central manager (section 3.2): at the end of each epoch it takes every node's hot pages and as many
//! victims, has the node's translations shot down (Figure 2), and swaps the pages by DMA meanwhile. Nodes
//! with nothing to move are left alone.

use super::Ps;
use super::controller::Controller;
use super::counts::Hot;
use super::dma::{LINES, Pair};
use super::hardware::Times;
use super::later::Later;
use super::load::Load;
use super::node::Node;
use super::payback::{MOST_DEBT, Payback};
use super::places::Place;
use super::policy::{Hottest, NodeView, SwapPolicy};
use super::pool_module::PoolModule;
use super::settings::{Chooser, Migration, SwapStall};
use std::fmt;

/// A page's number in a message, with its count.
const HOT_BYTES: u64 = 16;
/// The numbers of two pages that change places.
const PAIR_BYTES: u64 = 16;

/// What the manager did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Swapped {
    /// Epochs that ended.
    pub epochs: u64,
    /// Those at whose end something moved.
    pub with_moves: u64,
    /// Messages of shootdowns.
    pub messages: u64,
    /// Numbers of pages that were sent to and fro, bytes.
    pub metadata_bytes: u64,
}

/// See the module.
pub(super) struct Manager {
    migration: Migration,
    pub(super) policy: Box<dyn SwapPolicy>,
    /// The policy is told of accesses.
    pub(super) watches: bool,
    epoch: Ps,
    /// What swapping a page takes.
    pub(super) swap: Ps,
    /// When the epoch ends.
    pub(super) ends_at: Ps,
    pub(super) swapped: Swapped,
    hot: Vec<Hot>,
    /// Only where the policy watches, or a governor does.
    load: Option<Load>,
}

impl fmt::Debug for Manager {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Manager").field("migration", &self.migration).finish_non_exhaustive()
    }
}

impl Manager {
    /// For so many nodes.
    pub(super) fn new(migration: Migration, nodes: usize, times: &Times) -> Self {
        let probes = migration.probes;
        let policy: Box<dyn SwapPolicy> = match migration.policy {
            Chooser::Hottest => Box::new(Hottest { probes }),
            Chooser::Payback => {
                let most_debt = migration.most_debt.unwrap_or(MOST_DEBT);
                Box::new(Payback::new(nodes, probes, most_debt))
            }
        };
        let (epoch, watches) = (times.cycles(migration.epoch_cycles), policy.watches());
        let (swapped, hot) = (Swapped::default(), Vec::new());
        let load = (watches || migration.governor().is_some()).then(|| Load::new(nodes));
        let swap = Ps::from_ns(migration.swap_us * 1e3);
        Self { migration, policy, watches, epoch, swap, ends_at: epoch, swapped, hot, load }
    }

    /// Ends an epoch of all nodes.
    pub(super) fn end(
        &mut self,
        nodes: &mut [Node<'_>],
        (pool, later): (&[PoolModule], &mut Later),
        controller: &mut Controller,
    ) {
        let now = self.ends_at;
        let mut moved = false;
        if let Some(load) = &mut self.load {
            load.look(now, nodes, pool);
        }
        // What a node's stall costs depends on who stands still already; so each is the first in turn.
        let turn = self.swapped.epochs % nodes.len() as u64;
        let first = self.load.as_ref().map_or(0, |_| usize::try_from(turn).unwrap_or(0));
        for number in (first..nodes.len()).chain(0..first) {
            let node = &mut nodes[number];
            // Its pages are still being swapped; what it accessed since is for the next epoch.
            if node.stalled_until > now || node.dma.is_busy() {
                continue;
            }
            controller.end(number, &mut self.hot);
            node.tally.most_hot = node.tally.most_hot.max(self.hot.len() as u64);
            let most = self.migration.most as usize;
            let idle = self.hot.is_empty() || most == 0 || !node.runs();
            if idle && node.governed.is_none() {
                continue;
            }
            let own = node.view(now);
            let view = NodeView {
                node: number,
                now,
                prices: self
                    .load
                    .as_ref()
                    .map_or_else(Default::default, |load| load.prices(number, pool)),
                write_share: if self.migration.count_writes { own.write_share } else { 0.0 },
                shootdown: Ps::from_ns(self.migration.shootdown_us * 1e3),
                swap: if self.migration.swap_stall == SwapStall::Node {
                    self.swap
                } else {
                    Ps::ZERO
                },
                swap_lines: if self.migration.dma_in_banks { LINES } else { 0 },
                ..own
            };
            let Node { governed, tally, .. } = &mut *node;
            let may = governed.as_mut().is_none_or(|of| of.may_move(now, &view, tally));
            if idle || !may {
                continue;
            }
            self.policy.choose(&view, &mut self.hot, most);
            if self.hot.is_empty() {
                continue;
            }
            moved = true;
            if let Some(load) = &mut self.load {
                load.stall(number);
            }
            self.swap_hot(now, (number, node), later, controller);
        }
        controller.clear();
        self.swapped.epochs += 1;
        self.swapped.with_moves += u64::from(moved);
        let stalled = nodes.iter().map(|node| node.stalled_until).max().unwrap_or_default();
        let from = if self.migration.tick_in_stall { now } else { now.max(stalled) };
        self.ends_at = from + self.epoch;
    }

    /// A node goes on that stood still without knowing until when: epochs that wait for that do, too.
    pub(super) fn resumed(&mut self, nodes: &[Node<'_>]) {
        let stalled = nodes.iter().map(|node| node.stalled_until).max().unwrap_or_default();
        if self.ends_at == Ps::MAX && stalled < Ps::MAX {
            self.ends_at = stalled + self.epoch;
        }
    }

    /// Pages are swapped while their node may go on, and whoever accesses one of those under way waits.
    pub(super) fn waits_for_page(&self) -> bool {
        self.migration.swap_stall == SwapStall::Page
    }

    /// Lines that are swapped take their turn in ports and banks.
    pub(super) const fn swaps_in_banks(&self) -> bool {
        self.migration.dma_in_banks
    }

    /// Swaps the hot pages of a node, or has them swapped.
    fn swap_hot(
        &mut self,
        now: Ps,
        (number, node): (usize, &mut Node<'_>),
        later: &mut Later,
        controller: &mut Controller,
    ) {
        let shot_down = now + Ps::from_ns(self.migration.shootdown_us * 1e3);
        let one_by_one = self.swaps_in_banks() || self.waits_for_page();
        let mut there = shot_down;
        let mut pairs = Vec::new();
        if let Some(translations) = &mut node.translations {
            translations.shot_down(self.hot.iter().map(|hot| hot.page));
        }
        for hot in &self.hot {
            let Place::Pool(slot) = node.places.of(hot.page) else { continue };
            let frame = self.policy.victim(&mut node.table);
            let victim = node.table.put(frame, hot.page);
            if let (Some(translations), Some(victim)) = (&mut node.translations, victim) {
                translations.shot_down_too(victim);
            }
            let pair = Pair { page: hot.page, slot, frame, victim };
            there += self.swap;
            if one_by_one {
                pairs.push(pair);
            } else {
                node.swap(pair, now);
                controller.forget(number, hot.page);
            }
        }
        match self.migration.swap_stall {
            SwapStall::Node if !pairs.is_empty() => node.freeze(now),
            SwapStall::Node => node.stall(now, there),
            SwapStall::None | SwapStall::Page => node.stall(now, shot_down),
        }
        node.dma.swap(pairs, shot_down, number, later);
        let pages = self.hot.len() as u64;
        let bytes = pages * (HOT_BYTES + PAIR_BYTES);
        node.port[0].occupy(now, pages * PAIR_BYTES);
        self.swapped.metadata_bytes += bytes;
        // Request, stall, acknowledgement, resumption: each core but the first twice, which begins.
        self.swapped.messages += 2 * node.cores.len() as u64;
    }
}
