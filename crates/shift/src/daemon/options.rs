//! How the daemon manages.

use crate::{Machine, PressureOptions};
use pagetide_types::Bytes;
use std::{path::PathBuf, time::Duration};

/// A limit, as an amount or as a share of the pair's DRAM.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Threshold {
    /// So much.
    Bytes(Bytes),
    /// Such a part of the DRAM of the pair.
    Share(f64),
}

/// How to manage.
#[derive(Clone, Debug)]
pub struct DaemonOptions {
    /// The folder of the journal and the locks.
    pub folder: PathBuf,
    /// The machine and its boot.
    pub machine: Machine,
    /// With less free than this memory grows.
    pub threshold: Threshold,
    /// The rest of what the pressure is judged by; its threshold is not looked at.
    pub pressure: PressureOptions,
    /// Time that one give-back may take.
    pub limit: Duration,
    /// Most that is memory at any time, of all devices together.
    pub at_most: Option<Bytes>,
    /// How often memory that is in pieces is compacted; none: never.
    pub compact: Option<Duration>,
    /// Decide, and convert nothing.
    pub dry_run: bool,
}
