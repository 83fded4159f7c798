//! Movers: put pages where they were decided to be, by `move_pages(2)`, and check where they
//! really are. Batches keep huge pages whole, several run at once over disjoint pages, and
//! promotions and demotions overlap through what little is free, so that a full tier can be
//! exchanged (after Nimble, ASPLOS 2019, sections 3.1.2 to 3.1.4; a true exchange needs the kernel).
//!
//! Holds the unsafe system calls of moving; never chooses pages.

mod background;
mod backoff;
mod batch;
pub mod bench;
mod clocks;
mod kernel;
mod last_look;
mod live_kernel;
mod make_room;
mod move_pages;
mod mover;
mod options;
mod order;
mod own;
mod queue;
mod refusal;
mod report;
mod sharing;
#[cfg(any(test, feature = "simulated"))]
mod simulated;
mod tally;
mod workers;

pub use background::{Background, Round};
pub use backoff::BackOff;
pub use kernel::{Kernel, Made, Mapping, Moved, NodeRoom, Reads, Sharing, Spot};
pub use live_kernel::LiveKernel;
pub use mover::Mover;
pub use nix::errno::Errno;
pub use options::Options;
pub use order::{Order, Work};
pub use own::{on_node, prefer_node, prefer_nodes};
pub use refusal::Refusal;
pub use report::{Amount, Direction, OrderReport, Report};
#[cfg(any(test, feature = "simulated"))]
pub use simulated::{SimPage, SimulatedKernel};
