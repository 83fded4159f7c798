//! Small programs with known access patterns, to try recorders, plans and movers on: each is a
//! real process over real memory, and says exactly what it accessed (`--truth`).
//!
//! [`Workload`] holds all of them as `clap` subcommands; [`run`] runs one.

mod args;
mod drive;
mod error;
mod graph;
mod live;
mod memory;
mod pace;
mod programs;
mod redis;
mod registry;
mod session;
mod stop;
#[cfg(test)]
mod tests;
mod truth;
mod worker;

pub use args::Common;
pub use error::{Result, WorkloadError};
pub use pagetide_access::patterns::{Order, Pick};
pub use programs::spin::Spin;
pub use registry::{Workload, run};
