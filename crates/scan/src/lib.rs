//! Observes which memory a program uses, on a stock kernel: an eBPF page-table scan, clearing by
//! `process_madvise`, access rates with censoring, and a recorder that follows processes.
//! Decides nothing about placement.

mod activity;
mod batch;
mod budget;
mod burst;
mod census;
mod costs;
mod counters;
mod direct_map;
mod error;
mod evidence;
mod eyes;
mod follow;
mod heat;
mod live;
mod nodes;
mod observer;
mod pacing;
mod pages;
mod pidfd;
mod piece;
mod recorder;
mod refs;
mod row;
mod sample;
mod self_test;
mod shared;
#[cfg(test)]
mod simulated;
mod spinner;
mod stalls;
mod units;
mod walker;

pub use activity::Activity;
pub use error::ScanError;
pub use follow::Target;
pub use nodes::NodeRange;
pub use observer::{Observer, self_test};
pub use recorder::{End, Options, Place, Recorder};
pub use self_test::Finding;
pub use walker::{Range, Row, RowBits, Spread, Walker, Watch};

/// The gaps between clearing and looking, seconds, ascending.
#[must_use]
pub fn gaps_s() -> Vec<f64> {
    (0..evidence::RUNGS).map(|rung| evidence::gap_ns(rung) as f64 * 1e-9).collect()
}
