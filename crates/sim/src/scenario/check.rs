//! What can be said of a scenario without running it: whether its machine, its system and its policy are
//! there.

use super::error::ScenarioError;
use super::read::machine;
use super::spec::Scenario;
use crate::systems;
use pagetide_policy::PolicySpec;

/// Looks for what a scenario names; `origin` names it in errors.
///
/// # Errors
/// A machine, a system or a policy that is not there or makes no sense.
pub fn check(scenario: &Scenario, origin: &str) -> Result<(), ScenarioError> {
    let origin = || origin.to_owned();
    machine(scenario, &origin())?;
    systems::find(&scenario.system.name)
        .map_err(|source| ScenarioError::System { origin: origin(), source })?;
    let policy = scenario.system.policy.as_deref().map(str::parse::<PolicySpec>).transpose();
    policy.map_err(|source| ScenarioError::Policy { origin: origin(), source })?;
    Ok(())
}
