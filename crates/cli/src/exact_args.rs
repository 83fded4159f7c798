//! Options of exact recordings.

use crate::values::{at_least_1, count};
use clap::Args;
use pagetide_types::Bytes;
use std::path::PathBuf;

#[derive(Args, Debug, Clone, Default)]
pub(crate) struct ExactOptions {
    /// Count every access, in place of sampling: the command runs in QEMU (needs qemu-user and gcc,
    /// no root) and takes 5 to 10 times its CPU time, an interpreter more than 20 times. Times are
    /// the program's own (docs/exact.md).
    #[arg(long, requires = "command", conflicts_with_all = ["pids", "cgroup", "budget", "clear_shared", "range"])]
    pub(crate) exact: bool,
    /// Exact: the CPU cache of each thread, past which accesses are counted as traffic; 0: there
    /// is none, and every access counts (default: the machine's cache_per_core, or 2M).
    #[arg(long, value_name = "SIZE", requires = "exact", value_parser = cache)]
    pub(crate) cache: Option<Bytes>,
    /// Exact: ways of that cache, 1 to 64.
    #[arg(long, value_name = "NUMBER", requires = "exact", default_value = "16",
        value_parser = count::<u64>)]
    pub(crate) ways: u64,
    /// Exact: how many times longer the program takes to compute in QEMU (default: that of a small
    /// program, measured first; docs/exact.md says how to measure that of yours).
    #[arg(long, value_name = "TIMES", requires = "exact", value_parser = at_least_1)]
    pub(crate) dilation: Option<f64>,
    /// Exact: also write the accesses past the caches themselves to this file, which must not
    /// exist yet (docs/access-stream.md).
    #[arg(long, value_name = "FILE", requires = "exact")]
    pub(crate) stream: Option<PathBuf>,
}

/// An amount of memory with its unit, or 0.
fn cache(text: &str) -> Result<Bytes, String> {
    if text.trim() == "0" { Ok(Bytes(0)) } else { Bytes::with_unit(text) }
}
