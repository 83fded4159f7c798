//! Scenarios of pools: a machine, how pages move, and what runs on the nodes, as a TOML file says them;
//! one of them at many points; and what came of it.

mod paced;
mod payback_keys;
mod plan;
mod program;
mod read;
mod resolved;
mod run;
mod spec;
mod traces;

pub use plan::{PoolNow, PoolPlan, PoolPoint, columns, is_pool, model_of, model_of_program};
pub use program::{ProgramSpec, Threads};
pub use read::parse;
pub use run::run;
pub use spec::PoolScenario;
pub use traces::{Traced, Traces};
