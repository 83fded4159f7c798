//! Adaptive's choice of hot pages (section 4.5): TPP-mod, but that of its candidates only those go up
//! whose last two hint faults are closer than those before, in movements of the slow node's lists.

use super::hint_promotion::{HintFault, PromotionRule};
use super::registry::{SystemInfo, keys};
use super::setup::Given;
use super::tpp::with_rule;
use super::tpp_mod::TppMod;
use crate::engine::{System, World};
use crate::kernel::{Attempt, HintFaultCounts, Lru, Nodes, RefaultDistances};
use pagetide_policy::SpecError;
use std::ops::Range;

/// See the module.
pub(super) struct RefaultDistance {
    base: TppMod,
    distances: RefaultDistances,
}

impl RefaultDistance {
    /// For so many base pages.
    pub(super) fn new(pages: usize) -> Self {
        Self { base: TppMod::new(pages), distances: RefaultDistances::new(pages) }
    }
}

impl PromotionRule for RefaultDistance {
    fn should_migrate(&mut self, hint: &HintFault, lru: &mut Lru, _: &Nodes, _: &World) -> bool {
        let candidate = TppMod::candidate(hint, lru);
        let closer = self.distances.fault(hint.pages.start);
        if !candidate {
            // It is hinted now, which is a movement to the active list.
            self.distances.advance(hint.pages.len() as u64);
        }
        if candidate && closer {
            lru.activate(hint.pages.start);
        }
        candidate && closer
    }

    fn counted(&mut self, hint: &HintFault, attempt: Attempt) -> HintFaultCounts {
        if attempt == Attempt::Migrated {
            self.distances.advance(hint.pages.len() as u64);
        }
        self.base.counted(hint, attempt)
    }

    fn arrived(&mut self, pages: Range<usize>, may_fault: bool, world: &mut World) {
        // Of a huge page that was split each page comes by itself.
        let mut first = pages.start;
        while first < pages.end {
            let mapped = world.pages.mapped_with(first);
            first = mapped.end;
            self.distances.arrive(mapped.start, mapped.len() as u64);
        }
        self.base.arrived(pages, may_fault, world);
    }
}

#[expect(clippy::unnecessary_wraps, reason = "as other systems")]
fn build(given: &Given) -> Result<Box<dyn System>, SpecError> {
    Ok(with_rule(given, RefaultDistance::new(given.base_pages())))
}

pub(super) const REFAULT_DISTANCE: SystemInfo = SystemInfo {
    name: "refault-distance",
    summary: "TPP-mod that promotes what faults at a shorter distance than the time before",
    source: "Adaptive, section 4.5",
    keys: keys::GOVERNED,
    build,
};

#[cfg(test)]
#[path = "refault_distance_tests.rs"]
mod tests;
