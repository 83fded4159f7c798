//! Compaction of a node: the kernel moves its pages together, so that blocks of 2 MiB become free that huge pages can
//! be moved to (`compact` of Documentation/ABI/stable/sysfs-devices-node). It moves them from the left end of the
//! addresses to the right one, and so off the devices that are given back first.

use crate::{Answer, Fault, Kernel, Why};
use pagetide_types::{Bytes, NodeId};
use serde::Serialize;
use std::time::Duration;

/// Size of the blocks that are counted.
pub(crate) const BLOCK: Bytes = Bytes::mib(2);
/// A node of whose free memory so large a part lies in whole blocks is left alone by the schedule.
const WHOLE: f64 = 0.9;

/// Free memory of a node, and how it lies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct FreeBlocks {
    /// All of it.
    pub free: Bytes,
    /// Whole blocks of 2 MiB in it, above the marks at which the kernel reclaims.
    pub blocks: u64,
}

impl FreeBlocks {
    /// Whether compacting could bring much.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "a number of blocks")]
    pub fn in_pieces(self) -> bool {
        (self.blocks as f64) * BLOCK.as_f64() < WHOLE * self.free.as_f64() - BLOCK.as_f64()
    }
}

/// What compacting a node brought.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Compacted {
    /// The node.
    pub node: NodeId,
    /// Its free memory before.
    pub before: FreeBlocks,
    /// And after.
    pub after: FreeBlocks,
    /// How long it took.
    pub seconds: f64,
    /// It got to its end; else its time was over.
    pub ended: bool,
}

/// Compacts a node, for so long at most. What was compacted when the time is over stays so.
///
/// # Errors
/// When there is no such node, or the kernel does not compact it.
pub fn compact(kernel: &impl Kernel, node: NodeId, limit: Duration) -> Answer<Compacted> {
    let since = kernel.now();
    let before = kernel.free_blocks(node);
    let ended = match kernel.compact(node, limit) {
        Ok(()) => true,
        Err(Fault { why: Why::TimeUp(_), .. }) => false,
        Err(fault) => return Err(fault),
    };
    let after = kernel.free_blocks(node);
    Ok(Compacted { node, before, after, seconds: (kernel.now() - since).as_secs_f64(), ended })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_lies_in_pieces_unless_nearly_all_of_it_is_whole_blocks() {
        let of = |mib, blocks| FreeBlocks { free: Bytes::mib(mib), blocks }.in_pieces();
        assert!(of(100, 0) && of(100, 40));
        assert!(!of(100, 50) && !of(100, 45), "what is left is in the pages around used ones");
        assert!(!of(0, 0) && !of(2, 0), "there is nothing to win");
    }
}
