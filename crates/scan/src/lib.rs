//! Observes which memory a program uses, on a stock kernel: an eBPF page-table scan, clearing by
//! `process_madvise`, access rates with censoring, and a recorder that follows processes.
//! Decides nothing about placement.

mod budget;
mod burst;
mod census;
mod direct_map;
mod error;
mod evidence;
mod eyes;
mod follow;
mod heat;
mod live;
mod piece;
mod recorder;
mod shared;
mod units;
mod walker;

pub use error::ScanError;
pub use follow::Target;
pub use recorder::{End, Options, Recorder};
pub use walker::{NodeRange, Range, Row, RowBits, Walker, Watch};
