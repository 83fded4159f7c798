//! Adaptive (Adaptive Migration Decision for Multi-Tenant Memory Systems): TPP-mod, refault distance, and a
//! governor for each tenant that stops its migration and lets it go on. With `governor = "none"` it is
//! `refault-distance`; `tpp-mod` with `governor = "adaptive"` is it without refault distance.

use super::governed::governed;
use super::hint_promotion::HintPromotion;
use super::refault_distance::RefaultDistance;
use super::registry::{SystemInfo, keys};
use super::setup::Given;
use super::tpp::tpp_node;
use crate::engine::System;
use pagetide_policy::{GovernorSpec, SpecError};

/// Algorithms 1 and 2.
const GOVERNOR: &str = "adaptive";

fn build(given: &Given) -> Result<Box<dyn System>, SpecError> {
    let own: GovernorSpec = GOVERNOR.parse()?;
    let rule = RefaultDistance::new(given.base_pages());
    let base = HintPromotion::new(given, tpp_node(given), rule);
    Ok(governed(given, base, own))
}

pub(super) const ADAPTIVE: SystemInfo = SystemInfo {
    name: "adaptive",
    summary: "TPP-mod with refault distance, which stops where migration is of no use",
    source: "Adaptive, sections 4.2 to 4.5",
    keys: keys::GOVERNED,
    build,
};

#[cfg(test)]
#[path = "adaptive_tests.rs"]
mod tests;
