//! Scenarios: a machine, a system and the tenants that run on it, as a TOML file says them, and what
//! came of it.

mod build;
mod check;
mod error;
mod hardware;
mod layout;
mod outcome;
mod pattern;
mod read;
mod spec;
mod stream;
#[cfg(test)]
mod tests;

pub use build::{run, run_watched};
pub use check::{check, listens};
pub use error::ScenarioError;
pub(crate) use error::{OF_POOLS, hint, shorter};
pub(crate) use layout::INSTRUCTION_NS;
pub use outcome::{Outcome, TenantOutcome, Turn};
pub use pattern::PatternSpec;
pub use read::parse;
pub use spec::{Input, Repeat, Scenario, SystemSpec, TenantSpec};
pub use stream::StreamProblem;
pub(crate) use stream::{Failure, Streamed, Thread, Wanted};
