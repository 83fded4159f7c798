//! One file per workload.

pub(crate) mod hot_cold;
