//! What the movers need of a kernel, so that they can be tried on a simulated one.

use nix::errno::Errno;
use pagetide_types::{Bytes, NodeId, Pid, VirtAddr};

/// Where a page is, or why that cannot be said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spot {
    /// On this node.
    On(NodeId),
    /// Not there (ENOENT, EFAULT), or another reason.
    Not(Errno),
}

/// What a call that moves pages answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moved {
    /// Per page, in the order asked: what the kernel wrote, if it wrote anything. A page that
    /// fails can end the call before the others are reached, or before their status is written.
    pub status: Vec<Option<Spot>>,
    /// Pages that were not moved, or the error that ended the call.
    pub result: Result<u64, Errno>,
}

/// The free memory of a node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NodeRoom {
    /// Free memory.
    pub free: Bytes,
    /// Free blocks of 2 MiB in it.
    pub huge_blocks: u64,
    /// Below this the kernel begins to reclaim: never fill a node further.
    pub floor: Bytes,
}

/// Moving pages, and looking where they are.
///
/// Calls may come from several threads at once, for disjoint pages. Implementations move exactly
/// the pages named (a huge page is named by its first address), never wait for the caller, and
/// say of every page what they know.
pub trait Kernel: Sync {
    /// Where pages are.
    ///
    /// # Errors
    /// When the process is gone or may not be asked.
    fn locate(&self, pid: Pid, pages: &[VirtAddr]) -> Result<Vec<Spot>, Errno>;

    /// Moves pages to a node.
    fn relocate(&self, pid: Pid, pages: &[VirtAddr], to: NodeId) -> Moved;

    /// What a node could take now.
    fn room(&self, node: NodeId) -> NodeRoom;

    /// Huge pages of the machine that were split in order to be moved, since boot.
    fn splits(&self) -> u64;

    /// A clock that only goes forward, ns.
    fn now_ns(&self) -> u64;
}

impl<K: Kernel + ?Sized + Send> Kernel for std::sync::Arc<K> {
    fn locate(&self, pid: Pid, pages: &[VirtAddr]) -> Result<Vec<Spot>, Errno> {
        (**self).locate(pid, pages)
    }
    fn relocate(&self, pid: Pid, pages: &[VirtAddr], to: NodeId) -> Moved {
        (**self).relocate(pid, pages, to)
    }
    fn room(&self, node: NodeId) -> NodeRoom {
        (**self).room(node)
    }
    fn splits(&self) -> u64 {
        (**self).splits()
    }
    fn now_ns(&self) -> u64 {
        (**self).now_ns()
    }
}
