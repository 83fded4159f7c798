//! What can be said of a scenario without running it: whether its machine, its system and its policy are
//! there.

use super::error::ScenarioError;
use super::read::machine;
use super::spec::{Scenario, TenantSpec};
use crate::systems::{self, SystemInfo};
use pagetide_machine::Machine;
use pagetide_policy::{GOVERNORS, GovernorSpec, PolicySpec};
use pagetide_types::Bytes;

/// Looks for what a scenario names; `origin` names it in errors.
///
/// # Errors
/// A machine, a system or a policy that is not there or makes no sense.
pub fn check(scenario: &Scenario, origin: &str) -> Result<(), ScenarioError> {
    let origin = || origin.to_owned();
    let machine = machine(scenario, &origin())?;
    let patterns = scenario.tenants.iter().filter(|tenant| tenant.pattern.is_some());
    fits(patterns.map(|tenant| sizes(tenant, tenant.memory.unwrap_or_default())), &machine)
        .map_err(|problem| ScenarioError::Value { origin: origin(), problem })?;
    let info = systems::find(&scenario.system.name)
        .map_err(|source| ScenarioError::System { origin: origin(), source })?;
    decides(scenario, info)
        .map_err(|problem| ScenarioError::Value { origin: origin(), problem })?;
    let policy = scenario.system.policy.as_deref().map(str::parse::<PolicySpec>).transpose();
    policy.map_err(|source| ScenarioError::Policy { origin: origin(), source })?;
    Ok(())
}

/// Whether a system comes to a decision before a scenario ends, if it decides in intervals at all.
pub(super) fn decides(scenario: &Scenario, info: &SystemInfo) -> Result<(), String> {
    let Scenario { seconds, system, .. } = scenario;
    match info.decides_after_s(system.interval) {
        Some(first) if *seconds <= first => Err(format!(
            "seconds = {seconds}: system '{}' decides for the first time after {first} s; give more \
             seconds, or a shorter system.interval (it is {})",
            info.name, system.interval
        )),
        _ => Ok(()),
    }
}

/// Whether the system that a scenario names listens to all keys that it gives.
///
/// # Errors
/// A system that is not there, a key that says nothing to it.
pub fn listens(scenario: &Scenario, origin: &str) -> Result<(), ScenarioError> {
    let info = systems::find(&scenario.system.name)
        .map_err(|source| ScenarioError::System { origin: origin.to_owned(), source })?;
    let value = |problem| ScenarioError::Value { origin: origin.to_owned(), problem };
    if let Some(governor) = scenario.system.governor.as_deref().and_then(|text| text.parse().ok()) {
        governs(&governor, info).map_err(value)?;
    }
    let deaf = scenario.system.given().find(|key| !info.keys.contains(key));
    deaf.map_or(Ok(()), |key| {
        let listened = match info.keys {
            [] => "leave it out".to_owned(),
            keys => format!("leave it out; it listens to {}", keys.join(", ")),
        };
        let problem = format!("system.{key} says nothing to system '{}': {listened}", info.name);
        Err(value(problem))
    })
}

/// Whether a system can tell a governor what that judges by. What promotes by hint faults does not count accesses.
pub(super) fn governs(governor: &GovernorSpec, info: &SystemInfo) -> Result<(), String> {
    let counts = info.keys.contains(&"tracker") || !info.keys.contains(&"governor");
    let name = governor.info().name;
    if counts || !governor.info().needs_balance {
        return Ok(());
    }
    let others = GOVERNORS.iter().filter(|info| !info.needs_balance).map(|info| info.name);
    Err(format!(
        "system.governor = \"{name}\" judges by accesses that system '{}' does not count: give one of {}, or \
         a system that has a tracker",
        info.name,
        others.collect::<Vec<_>>().join(", ")
    ))
}

/// Fast memory that a tenant with so much of it may have, whether or not it has as much, and all of it, on the machine
/// that is modelled.
pub(super) fn sizes(tenant: &TenantSpec, memory: Bytes) -> [f64; 2] {
    [tenant.fast_of(memory, 1.0), memory.as_f64()]
}

/// What of the tenants' memory does not fit into the machine's tiers.
pub(super) fn fits(
    tenants: impl Iterator<Item = [f64; 2]>,
    machine: &Machine,
) -> Result<(), String> {
    let add = |[may, fast, all]: [f64; 3], [one, memory]: [f64; 2]| {
        [may + one, fast + one.min(memory), all + memory]
    };
    let [may, fast, all] = tenants.fold([0.0; 3], add);
    // On a node that tenants share others have what one may have beyond its own memory.
    let tiers = machine.tiers.iter().zip([("fast", may.min(all)), ("slow", all - fast)]);
    for (number, (tier, (what, needed))) in tiers.enumerate() {
        let Some(capacity) = tier.capacity.filter(|capacity| needed > capacity.as_f64()) else {
            continue;
        };
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "bytes")]
        let needed = Bytes(needed as u64);
        return Err(format!(
            "the tenants may have {needed} of {what} memory together, and tier '{}' holds {capacity}: \
             change `memory` and `fast`, or machine.tier.{number}.capacity",
            tier.name
        ));
    }
    Ok(())
}
