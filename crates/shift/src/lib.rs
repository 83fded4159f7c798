//! Storage that lies idle becomes memory, and goes back: dax devices (persistent memory, CXL memory) under
//! pressure, after PMShifter (APSys 2022).
//!
//! Data is never put at risk: what is not known to be empty and ours is refused.
//!
//! # Where is what
//!
//! | question | module |
//! |---|---|
//! | When does memory grow or shrink? (pure) | `pressure`, with `slope` for how fast it is used up |
//! | Which device is taken, or goes back? | `which_device` (pure), `used_pages` for what of them is used, `pair` for the DRAM they belong to |
//! | A device from storage to memory | `convert` |
//! | A device from memory to storage: its blocks go offline | `give_back`, block by block: `release`; in a process of its own `offlining`, and before that `emptying` moves programs' pages off them |
//! | Who places programs' memory is told before it leaves | `leaving`, by a `notice` |
//! | Then it is zeroed, read, and storage, or memory again | `zero_device`; the bytes: `zero_bytes`, `first_nonzero`; who has it open: `users`, and meanwhile: `alone`; while the next one leaves: `beside` |
//! | What a crash left is made right | `recover` |
//! | The daemon: one check after the other | `daemon`, with `growing`, `shrinking`, `zeroing` between checks, `glance` for a check before its time |
//! | On request: `give-back`, `recover`, `prepare` | `on_request`, `prepare`, `unlabelled` for what is on a region that nobody laid out, `tool` for ndctl(1) |
//! | What was converted, over crashes | `journal` (`journal_lines`, `entry`, `identity`), under a `lock`, in a `new_folder` that goes again where all was refused |
//! | The kernel, behind a trait | `kernel`; the one that runs: `live`; the simulated one, in which every refusal and every kill is tried: `simulated` |
//! | Processes of their own, for what may hang | `helper`, `worker` for one that stays, `staying` for the two of `live` |
//! | Why not, with the remedy | `refusal` |

mod alone;
mod beside;
mod compaction;
mod convert;
mod daemon;
mod demotion;
mod emptying;
mod entry;
mod first_nonzero;
mod give_back;
mod helper;
mod identity;
mod in_memory;
mod journal;
mod journal_error;
mod journal_lines;
mod kernel;
mod leaving;
mod live;
mod lock;
mod new_folder;
mod notice;
mod offlining;
mod on_request;
mod pair;
mod prepare;
mod pressure;
mod recover;
mod refusal;
mod release;
mod resident;
#[cfg(test)]
mod shell_helper;
#[cfg(test)]
mod simulated;
#[cfg(test)]
mod simulated_calls;
mod slope;
mod staying;
mod tool;
mod unlabelled;
mod used_pages;
mod users;
mod which_device;
mod worker;
mod zero_bytes;
mod zero_device;

pub use compaction::{Compacted, FreeBlocks, compact};
pub use convert::{Shifter, can_run};
pub use daemon::{
    Check, Daemon, DaemonError, DaemonOptions, GLANCE, Happened, PairSeen, Threshold,
};
pub use demotion::Demotion;
pub use entry::{Entry, Event, Machine, State};
pub use give_back::{GaveBack, GiveBack};
pub use helper::{Helper, helper};
pub use identity::Identity;
pub use in_memory::stay_in_memory;
pub use journal::Journal;
pub use journal_error::JournalError;
pub use kernel::{Answer, Driver, Fault, Kernel, Why};
pub use leaving::{Heeding, Heeds, Leaving, leaving};
pub use live::LiveKernel;
pub use lock::{Lock, LockError};
pub use new_folder::NewFolder;
pub use on_request::{GivenBack, Opened, Request, give_back, recover};
pub use pair::dram_of;
pub use prepare::{PrepareError, Prepared, prepare};
pub use pressure::{Pressure, PressureOptions, Sample, Trigger, Verdict};
pub use recover::{Outcome, Recovered};
pub use refusal::Refusal;
pub use used_pages::usage;
pub use which_device::{Candidate, LEFTMOST, to_give_back, to_take};

#[cfg(test)]
mod convert_tests;

/// Whether we may change the machine at all.
#[must_use]
pub fn is_root() -> bool {
    nix::unistd::geteuid().is_root()
}
