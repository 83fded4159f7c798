//! Linux's memory tiering (`numa_balancing=2`, since 5.18, with `demotion_enabled`): a page of the slow
//! node that faults soon after it was marked goes up, inside of the fault; how soon adapts to the rate
//! of promotion that is allowed. `kswapd` demotes up to the mark for promotion.
//!
//! What faults without going up does not count for the period of the scans, and what goes up counts
//! as remote and private: so the period doubles with every walk, up to a minute (`task_numa_fault`,
//! `update_task_scan_period`).

use super::governed::governed;
use super::hint_promotion::{HintFault, HintPromotion, PromotionRule};
use super::registry::{SystemInfo, keys};
use super::setup::Given;
use crate::engine::{System, World};
use crate::kernel::{
    Attempt, HintFaultCounts, HotThreshold, Lru, Nodes, PROMOTE_RATE_LIMIT, Watermarks,
};
use pagetide_policy::{GovernorSpec, SpecError};

struct Tiering {
    hot: HotThreshold,
    scale: f64,
}

impl PromotionRule for Tiering {
    fn should_migrate(&mut self, hint: &HintFault, _: &mut Lru, nodes: &Nodes, _: &World) -> bool {
        if nodes.free_space_enough(0, self.scale) {
            self.hot.reset();
            return true;
        }
        self.hot.promotes(hint.latency_ns, hint.pages.len() as u64, hint.fault.now_ns)
    }

    fn counted(&mut self, hint: &HintFault, attempt: Attempt) -> HintFaultCounts {
        let pages = if attempt == Attempt::Migrated { hint.pages.len() as u64 } else { 0 };
        HintFaultCounts { remote: pages, private: pages, ..HintFaultCounts::default() }
    }
}

#[expect(clippy::unnecessary_wraps, reason = "as other systems")]
fn build(given: &Given) -> Result<Box<dyn System>, SpecError> {
    let scale = given.period.scale;
    let mut memory = given.shared_node();
    let marks = memory.nodes().node(0).marks;
    memory.set_marks(0, Watermarks { sleep: marks.promo(), ..marks });
    let limit = given.promote_rate_limit.unwrap_or(PROMOTE_RATE_LIMIT);
    let rule = Tiering { hot: HotThreshold::new(limit, scale), scale };
    Ok(governed(given, HintPromotion::new(given, memory, rule), GovernorSpec::default()))
}

pub(super) const LINUX_TIERING: SystemInfo = SystemInfo {
    name: "linux-tiering",
    summary: "what faults soon after a scan goes up inside the fault, up to a rate",
    source: "Linux, numa_balancing=2 (since 5.18)",
    keys: keys::LIMITED,
    build,
};

#[cfg(test)]
#[path = "linux_tiering_tests.rs"]
mod tests;
