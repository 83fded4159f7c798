//! Observes which memory a program uses, on a stock kernel: an eBPF page-table scan, clearing by
//! `process_madvise`, a survey by visits to regions, and a recorder that follows processes. Decides
//! nothing about placement.

mod bits;
mod error;
mod observer;
mod pages;
mod recorder;
mod self_test;
mod survey;
mod target;
mod walk;

pub use error::ScanError;
pub use observer::{Observer, self_test};
pub use recorder::{End, Meanwhile, Options, Place, Recorder, SinglePages};
pub use self_test::Finding;
pub use survey::lines::TOUCH as LINES_OF_A_TOUCH;
pub use target::activity::Activity;
pub use target::follow::Target;
pub use walk::nodes::NodeRange;
pub use walk::row::{Range, Row, RowBits, Spread};
pub use walk::walker::{Walker, Watch};

/// The gaps between clearing and looking of base pages at first, seconds, ascending.
#[must_use]
pub fn gaps_s() -> Vec<f64> {
    survey::ladder::gaps(None).into_iter().map(|gap| gap as f64 * 1e-9).collect()
}
