//! Pagetide as `run` does it: a survey of rates, policy `rate`, a governor for each tenant, and no move
//! that does not bring what it costs.

use super::ranked::{Parts, Ranked};
use super::registry::{SystemInfo, keys};
use super::rhythm::Live;
use super::setup::Tracking;
use crate::movers::{Exchange, Mechanism};

/// Its defaults; demotions and promotions overlap.
pub(super) const LIVE: Live = Live { movers: 2, opening_s: 1.0 };
const MECHANISM: Mechanism = Mechanism { exchange: Exchange::Paired, ..Mechanism::HUGE };

pub(super) const PAGETIDE: SystemInfo = SystemInfo {
    name: "pagetide",
    summary: "as pagetide run: rates by a survey, moves that pay, a governor",
    source: "ours",
    keys: keys::RANKED,
    build: |given| {
        let tracking = Tracking::Survey;
        let parts = Parts {
            governor: Some("gain"),
            tracking,
            payback_s: 30.0,
            live: Some(LIVE),
            ..Parts::of("rate")
        };
        Ranked::build(given, &parts, MECHANISM)
    },
};

#[cfg(test)]
#[path = "pagetide_tests.rs"]
mod tests;
