//! Observes which memory a program uses, on a stock kernel: an eBPF page-table scan, clearing by
//! `process_madvise`, access rates with censoring, and a recorder that follows processes.
//! Decides nothing about placement.

mod activity;
mod census;
mod counters;
mod direct_map;
mod error;
mod eyes;
mod follow;
mod heat;
mod live;
mod nodes;
mod observer;
mod pages;
mod pidfd;
mod recorder;
mod refs;
mod region;
mod row;
mod self_test;
mod shared;
#[cfg(test)]
mod simulated;
mod spinner;
mod stalls;
mod survey;
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

/// The gaps between clearing and looking of base pages at first, seconds, ascending.
#[must_use]
pub fn gaps_s() -> Vec<f64> {
    survey::ladder::gaps(None).into_iter().map(|gap| gap as f64 * 1e-9).collect()
}
