//! Whether a check is due before its time. Where much memory has become free, what nobody needs is wasted until it is
//! seen. And where free memory falls, a device has to be begun the earlier, the later that is looked at: what is begun
//! too early may turn out not to be needed.

use super::Daemon;
use crate::Kernel;
use pagetide_types::{Bytes, NodeId};
use std::{collections::BTreeSet, time::Duration};

/// How often it is to be asked between checks whether one is due.
pub const GLANCE: Duration = Duration::from_millis(100);

/// What a check says of the time until the next one.
#[derive(Debug)]
pub(crate) struct Since {
    /// The nodes behind the DRAM.
    pub(crate) behind: BTreeSet<NodeId>,
    /// The smallest device that is memory.
    pub(crate) device: Option<Bytes>,
    /// What was free, once that has been looked at.
    pub(crate) free: Option<Bytes>,
    /// With less free than this a device has to be begun.
    pub(crate) short: Option<Bytes>,
}

impl<K: Kernel> Daemon<K> {
    /// Whether so much more is free since the last check that a device might go back, or so little that one has to be
    /// begun. The first time after a check it only takes in what more could be free than.
    pub fn is_due(&mut self) -> bool {
        let mut all = std::mem::take(&mut self.since);
        let mut due = false;
        for (dram, since) in &mut all {
            let free = self.free_of(*dram, &since.behind);
            let before = *since.free.get_or_insert(free);
            due |= since.device.is_some_and(|device| free >= before + device);
            due |= since.short.is_some_and(|short| free < short);
        }
        self.since = all;
        due
    }
}
