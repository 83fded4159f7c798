//! Whether much memory has become free since the last check: then the next one comes early, for what nobody needs is
//! wasted until it is seen.

use crate::{Kernel, daemon::Daemon};
use pagetide_types::{Bytes, NodeId};
use std::collections::{BTreeMap, BTreeSet};

/// By DRAM that has devices as memory, what the last check since.
pub(crate) type Freed = BTreeMap<NodeId, Since>;

/// A pair of nodes after a check.
#[derive(Debug)]
pub(crate) struct Since {
    /// The nodes behind the DRAM.
    pub(crate) behind: BTreeSet<NodeId>,
    /// The smallest device that is memory.
    pub(crate) device: Bytes,
    /// What was free, once that has been looked at.
    pub(crate) free: Option<Bytes>,
}

impl<K: Kernel> Daemon<K> {
    /// Whether so much more is free since the last check that a device might go back. To be asked between checks; the
    /// first time after one it only takes in what is free.
    pub fn is_much_freer(&mut self) -> bool {
        let mut freed = std::mem::take(&mut self.freed);
        let mut much = false;
        for (dram, since) in &mut freed {
            let free = self.free_of(*dram, &since.behind);
            much |= free >= *since.free.get_or_insert(free) + since.device;
        }
        self.freed = freed;
        much
    }
}
