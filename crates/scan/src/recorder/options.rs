//! How a target is recorded.

use crate::walk::row::Range;
use pagetide_privilege::Account;
use pagetide_types::{Bytes, UnitSize};
use std::time::Duration;

/// How to record.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Length of an epoch.
    pub epoch: Duration,
    /// For who wants a first answer soon: the first two epochs are so long, each next one twice as long, up
    /// to `epoch`; and what was never visited comes first, with few looks: an epoch in which the budget
    /// reaches for all that is left of it is no longer than that takes. None: all epochs are alike.
    pub opening: Option<Duration>,
    /// What gets a rate of its own.
    pub unit: UnitSize,
    /// With units of 4 KiB: base pages have rows of their own up to a limit; where there are more, those that differ in
    /// heat do. A huge page, and the base pages of 2 MiB that are alike or too many, have one row together. None: every
    /// page has a row.
    pub single_pages: Option<SinglePages>,
    /// Share of one core that clearing and scanning may use; an epoch may also use that of the time since
    /// the last one, up to as much again.
    pub budget: f64,
    /// The budget is a share of each core that the target kept busy in the last epoch; of one at least, and half a
    /// core at most.
    pub by_busy_cores: bool,
    /// Watching takes no more of the budget than it may bring ([`super::Recorder::may_bring`]).
    pub thrifty: bool,
    /// Ends the recording; else it goes on until the target ends.
    pub limit: Option<Duration>,
    /// As whom a command is started; none: as we run.
    pub account: Option<Account>,
    /// What a command prints goes to standard error, for standard output carries an answer.
    pub output_aside: bool,
    /// Also watches memory that `MADV_COLD` cannot clear, by `clear_refs`, for which page faults
    /// of the target must wait.
    pub clear_shared: bool,
    /// The CPU cache of a core: traffic is what goes past it.
    pub cache_per_core: Bytes,
    /// Only memory at these addresses is recorded.
    pub within: Range,
    /// Shared memory that no process of the target maps is recorded, too: it has units of its own, which lie nowhere.
    pub unmapped: bool,
}

/// Which base pages have rows of their own.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SinglePages {
    /// So many of them at most.
    pub at_most: u64,
    /// How often a page is accessed, per second of CPU time, for which it may be worth a move of its own, where there
    /// are more.
    pub matters: f64,
}

/// All addresses.
const EVERYWHERE: Range = Range { start: 0, end: u64::MAX };

impl Default for Options {
    fn default() -> Self {
        Self {
            epoch: Duration::from_secs(5),
            opening: None,
            unit: UnitSize::default(),
            single_pages: None,
            budget: 0.01,
            by_busy_cores: false,
            thrifty: false,
            limit: None,
            account: None,
            output_aside: false,
            clear_shared: false,
            cache_per_core: Bytes::mib(2),
            within: EVERYWHERE,
            unmapped: true,
        }
    }
}
