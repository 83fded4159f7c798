//! TPP-mod, the base of Adaptive (section 4.5, modified second chance LRU): TPP, but that a hint fault on
//! an inactive page is noted on the page at once (`PageHinted`) and does not wait for others of its
//! core. What is active or hinted is a candidate, so the second fault promotes. The note is gone once
//! the page is deactivated. A hinted page that goes up comes onto the active list, where it is
//! "semantically" [I].

use super::hint_promotion::{HintFault, PromotionRule};
use super::registry::{SystemInfo, keys};
use super::setup::Given;
use super::tpp::{counted, poison, with_rule};
use crate::engine::{System, World};
use crate::kernel::{Attempt, HintFaultCounts, Kind, LastCpupid, Lru, Nodes};
use pagetide_policy::SpecError;
use std::ops::Range;

/// See the module.
pub(super) struct TppMod {
    last: LastCpupid,
}

impl TppMod {
    /// For so many base pages.
    pub(super) fn new(pages: usize) -> Self {
        Self { last: LastCpupid::new(pages) }
    }

    /// Notes the fault; whether the page is a candidate for promotion.
    pub(super) fn candidate(hint: &HintFault, lru: &mut Lru) -> bool {
        let first = hint.pages.start;
        lru.set_hinted(first) || matches!(lru.of(first), Some((_, Kind::Active)))
    }
}

impl PromotionRule for TppMod {
    fn should_migrate(&mut self, hint: &HintFault, lru: &mut Lru, _: &Nodes, _: &World) -> bool {
        let candidate = Self::candidate(hint, lru);
        if candidate {
            lru.activate(hint.pages.start);
        }
        candidate
    }

    fn counted(&mut self, hint: &HintFault, attempt: Attempt) -> HintFaultCounts {
        counted(&mut self.last, hint, attempt)
    }

    fn arrived(&mut self, pages: Range<usize>, may_fault: bool, world: &mut World) {
        poison(pages, may_fault, world);
    }
}

#[expect(clippy::unnecessary_wraps, reason = "as other systems")]
fn build(given: &Given) -> Result<Box<dyn System>, SpecError> {
    Ok(with_rule(given, TppMod::new(given.base_pages())))
}

pub(super) const TPP_MOD: SystemInfo = SystemInfo {
    name: "tpp-mod",
    summary: "TPP whose second fault on a page promotes it, without a batch in between",
    source: "Adaptive, section 4.5",
    keys: keys::GOVERNED,
    build,
};
