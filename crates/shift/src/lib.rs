//! Storage that lies idle becomes memory, and goes back: dax devices (persistent memory, CXL memory) under
//! pressure, after PMShifter (APSys 2022).
//!
//! `pressure` and `area` decide and are pure; `convert` and `recover` change the machine through a trait, so
//! that every refusal and every kill is tried on a simulated kernel; `journal` remembers what was
//! converted. Data is never put at risk: what is not known to be empty and ours is refused.

mod alone;
mod area;
mod check;
mod compaction;
mod contents;
mod convert;
mod daemon;
mod demotion;
mod emptying;
mod entry;
mod finish;
mod give_back;
mod glance;
mod growing;
mod helper;
mod identity;
mod in_memory;
mod journal;
mod journal_error;
mod kernel;
mod live;
mod lock;
mod on_request;
mod pair;
mod prepare;
mod pressure;
mod recover;
mod refusal;
mod resident;
mod shrinking;
#[cfg(test)]
mod simulated;
#[cfg(test)]
mod simulated_calls;
mod slope;
mod worker;
mod zeroing;

pub use area::{Candidate, LEFTMOST, to_give_back, to_take};
pub use check::{Check, DaemonError, Happened, PairSeen};
pub use compaction::{Compacted, FreeBlocks, compact};
pub use convert::{Shifter, check_policies};
pub use daemon::{Daemon, DaemonOptions, Threshold};
pub use demotion::{Demotion, demotes};
pub use entry::{Entry, Event, Machine, State};
pub use give_back::{GaveBack, GiveBack};
pub use glance::GLANCE;
pub use helper::{Helper, helper};
pub use identity::Identity;
pub use in_memory::stay_in_memory;
pub use journal::Journal;
pub use journal_error::JournalError;
pub use kernel::{Answer, Driver, Fault, Kernel, Why};
pub use live::LiveKernel;
pub use lock::{Lock, LockError};
pub use on_request::{GivenBack, Opened, Request, give_back, recover};
pub use pair::dram_of;
pub use prepare::{PrepareError, Prepared, prepare};
pub use pressure::{Pressure, PressureOptions, Sample, Trigger, Verdict};
pub use recover::{Outcome, Recovered};
pub use refusal::Refusal;
pub use shrinking::usage;

#[cfg(test)]
mod convert_tests;

/// Whether we may change the machine at all.
#[must_use]
pub fn is_root() -> bool {
    nix::unistd::geteuid().is_root()
}
