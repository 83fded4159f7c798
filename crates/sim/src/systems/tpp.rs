//! TPP, Transparent Page Placement (Maruf et al., ASPLOS 2023): a page of the slow node that is on the
//! active list when it has a hint fault goes up, inside of the fault. A fault marks the page accessed,
//! so the first one references it, the second one has it activated, with others of its core, and the
//! third one finds it active. `kswapd` keeps 2 % of the fast node free, far above the marks of
//! allocations; what it demotes faults at its next access.

use super::governed::governed;
use super::hint_promotion::{HintFault, HintPromotion, PromotionRule};
use super::registry::{SystemInfo, keys};
use super::setup::Given;
use crate::engine::{System, World, bit};
use crate::kernel::{
    ActivationBatches, Attempt, FirstTouch, HintFaultCounts, Kind, LastCpupid, Lru, Nodes,
};
use pagetide_policy::{GovernorSpec, SpecError};
use std::ops::Range;

/// `demote_scale_factor`: parts in 10,000 of the fast node that are kept free.
const DEMOTE_SCALE: u64 = 200;

struct Tpp {
    batches: ActivationBatches,
    last: LastCpupid,
}

impl PromotionRule for Tpp {
    fn should_migrate(&mut self, hint: &HintFault, lru: &mut Lru, _: &Nodes, _: &World) -> bool {
        let first = hint.pages.start;
        let active = matches!(lru.of(first), Some((_, Kind::Active)));
        if !active {
            self.batches.mark_accessed(hint.fault.core, first, lru);
        }
        active
    }

    fn counted(&mut self, hint: &HintFault, attempt: Attempt) -> HintFaultCounts {
        counted(&mut self.last, hint, attempt)
    }

    fn arrived(&mut self, pages: Range<usize>, may_fault: bool, world: &mut World) {
        poison(pages, may_fault, world);
    }
}

/// Every fault counts, wherever the page lies: this is older than Linux's tiering mode.
pub(super) fn counted(
    last: &mut LastCpupid,
    hint: &HintFault,
    attempt: Attempt,
) -> HintFaultCounts {
    last.fault(hint.fault.core, (hint.pages.start, hint.pages.len() as u64), attempt)
}

/// What was demoted faults at its next access.
pub(super) fn poison(pages: Range<usize>, may_fault: bool, world: &mut World) {
    if may_fault {
        world.pages.set_all(pages, bit::HINT);
    }
}

/// A fast node of which so many parts in 10,000 are kept free.
pub(super) fn demoting_early(given: &Given, scale: u64) -> FirstTouch {
    let mut memory = given.shared_node();
    let node = *memory.nodes().node(0);
    memory.set_marks(0, node.marks.demoting_early(node.pages, scale));
    memory
}

/// The fast node as TPP has it.
pub(super) fn tpp_node(given: &Given) -> FirstTouch {
    demoting_early(given, DEMOTE_SCALE)
}

/// That node with a rule.
pub(super) fn with_rule(given: &Given, rule: impl PromotionRule + 'static) -> Box<dyn System> {
    governed(given, HintPromotion::new(given, tpp_node(given), rule), GovernorSpec::default())
}

#[expect(clippy::unnecessary_wraps, reason = "as other systems")]
fn build(given: &Given) -> Result<Box<dyn System>, SpecError> {
    let rule = Tpp {
        batches: ActivationBatches::new(given.period.scale),
        last: LastCpupid::new(given.base_pages()),
    };
    Ok(with_rule(given, rule))
}

pub(super) const TPP: SystemInfo = SystemInfo {
    name: "tpp",
    summary: "what faults while it is on the active list goes up inside the fault",
    source: "TPP, ASPLOS 2023",
    keys: keys::GOVERNED,
    build,
};

#[cfg(test)]
#[path = "tpp_tests.rs"]
mod tests;
