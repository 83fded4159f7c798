//! Scenarios: a machine, a system and the tenants that run on it, as a TOML file says them, and what
//! came of it.

mod build;
mod error;
mod outcome;
mod pattern;
mod read;
mod spec;
#[cfg(test)]
mod tests;

pub use build::run;
pub use error::ScenarioError;
pub use outcome::{Outcome, TenantOutcome};
pub use pattern::PatternSpec;
pub use read::{load, parse};
pub use spec::{Scenario, SystemSpec, TenantSpec};

pub(crate) use error::nearest;
