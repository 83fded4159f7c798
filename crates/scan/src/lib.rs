//! Observes which memory a program uses, on a stock kernel: an eBPF page-table scan, clearing by
//! `process_madvise`, access rates with censoring, and a recorder that follows processes.
//! Decides nothing about placement.

mod direct_map;
mod error;
mod walker;

pub use error::ScanError;
pub use walker::{NodeRange, Range, Row, RowBits, Walker, Watch};
