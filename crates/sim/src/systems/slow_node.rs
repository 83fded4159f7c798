//! A slow node on which a rule for promotion is tried, fault by fault.

use super::hint_promotion::{HintFault, PromotionRule};
use crate::engine::{Fault, Pages, World, bit};
use crate::kernel::{Attempt, Kind, Lru, Nodes, Rules};
use pagetide_machine::Machine;

/// Base pages that there are.
pub(super) const PAGES: usize = 512;

/// See the module.
pub(super) struct SlowNode<R> {
    pub(super) rule: R,
    pub(super) lru: Lru,
    pub(super) world: World,
    nodes: Nodes,
}

impl<R: PromotionRule> SlowNode<R> {
    /// So many pages have come, one after the other.
    pub(super) fn with(rule: R, pages: usize) -> Self {
        let mut node = Self {
            rule,
            lru: Lru::new(2, PAGES, Rules::InactiveFirst, 1.0),
            world: World::new(
                &Machine::load("cxl").unwrap(),
                Pages::all_in(1, (PAGES as u64) << 12),
            ),
            nodes: Nodes::new(&[PAGES as u64, PAGES as u64], 10),
        };
        for page in 0..pages {
            node.lru.add_new(page, &node.world);
            node.arrive(page, false);
        }
        node
    }

    pub(super) fn arrive(&mut self, page: usize, demoted: bool) {
        self.rule.arrived(page..page + 1, demoted, &mut self.world);
    }

    /// A hint fault of a core; whether it promotes.
    pub(super) fn fault(&mut self, page: usize, core: usize) -> bool {
        let fault = Fault { tenant: 0, core, page, write: false, entry: bit::HINT, now_ns: 0.0 };
        let hint = HintFault { fault, pages: page..page + 1, latency_ns: 0.0 };
        let hot = self.rule.should_migrate(&hint, &mut self.lru, &self.nodes, &self.world);
        let attempt = if hot { Attempt::Migrated } else { Attempt::None };
        self.rule.counted(&hint, attempt);
        hot
    }

    pub(super) fn is_active(&self, page: usize) -> bool {
        self.lru.of(page) == Some((1, Kind::Active))
    }
}
