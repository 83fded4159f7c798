//! Small programs with known access patterns, to try recorders, plans and movers on: each is a
//! real process over real memory, and says exactly what it accessed (`--truth`).
//!
//! [`Workload`] holds all of them as `clap` subcommands; [`run`] runs one.

mod args;
mod drive;
mod error;
mod graph;
mod memory;
mod pace;
mod programs;
mod redis;
mod registry;
mod rng;
mod session;
mod shuffle;
mod stop;
#[cfg(test)]
mod tests;
mod truth;
mod worker;
mod zipf;

pub use args::Common;
pub use error::{Result, WorkloadError};
pub use programs::spin::{Order, Pick, Spin};
pub use registry::{Workload, run};

/// What the access loops draw from, for this crate's benchmarks; not an interface.
#[doc(hidden)]
pub mod generators {
    pub use crate::{rng::Rng, shuffle::Shuffle, zipf::Zipf};
}
