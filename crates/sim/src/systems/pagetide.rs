//! Pagetide as `run` does it: a survey of rates, policy `rate`, a governor for each tenant, and no move
//! that does not bring what it costs.

use super::ranked::{Parts, Ranked};
use super::registry::{SystemInfo, keys};
use super::setup::Tracking;
use crate::movers::Mechanism;

/// As many huge pages under way as `run` has in a batch.
const MECHANISM: Mechanism = Mechanism { together: 8, ..Mechanism::HUGE };

pub(super) const PAGETIDE: SystemInfo = SystemInfo {
    name: "pagetide",
    summary: "as pagetide run: rates by a survey, moves that pay, a governor",
    source: "ours",
    keys: keys::RANKED,
    build: |given| {
        let tracking = Tracking::Survey;
        let parts = Parts { policy: "rate", governor: Some("gain"), tracking, payback_s: 10.0 };
        Ranked::build(given, &parts, MECHANISM)
    },
};

#[cfg(test)]
#[path = "pagetide_tests.rs"]
mod tests;
