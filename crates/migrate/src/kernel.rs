//! What the movers need of a kernel, so that they can be tried on a simulated one.

use nix::errno::Errno;
use pagetide_types::{Bytes, NodeId, Pid, VirtAddr};
use std::os::fd::OwnedFd;
use std::sync::Arc;

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
    /// Below this the kernel begins to reclaim: never fill a node further but in order to have it do so.
    pub floor: Bytes,
    /// So much the kernel makes free then.
    pub full: Bytes,
    /// Page cache that it holds for least wanted and may be made to give up ([`Kernel::make_room`]).
    pub idle_cache: Bytes,
}

/// What was made free.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Made {
    /// Base pages.
    pub pages: u64,
    /// The kernel gave up less than it was to, or something else for it, or nothing in the time there was.
    pub refused: bool,
    /// Huge pages of ours that the kernel split meanwhile.
    pub splits: u64,
}

/// Pages of files of the machine since boot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reads {
    /// Read from disks, whatever for.
    pub read: u64,
    /// Needed again after they had been reclaimed.
    pub refaults: u64,
}

/// A piece of memory as one process maps it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mapping {
    /// Who.
    pub pid: Pid,
    /// First byte, page aligned.
    pub start: VirtAddr,
    /// One past the last byte.
    pub end: VirtAddr,
}

/// Who maps the pages of some mappings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sharing {
    /// Each page is in one of them, and in no other.
    Apart,
    /// Pages are in several of them, and in no other.
    Among,
    /// Somebody else maps some, or nobody can say.
    Outside,
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

    /// Moves pages to a node; `shared`: whoever else maps them.
    fn relocate(&self, pid: Pid, pages: &[VirtAddr], to: NodeId, shared: bool) -> Moved;

    /// Who maps the pages that are resident in these mappings just now.
    fn sharing(&self, mappings: &[Mapping]) -> Sharing;

    /// What a node could take now.
    fn room(&self, node: NodeId) -> NodeRoom;

    /// Has the kernel give up page cache of a node until so many base pages more are free, and compact for so many huge pages.
    /// Asked now and then whether to `stop`. What was made, be it less or more.
    fn make_room(&self, node: NodeId, pages: u64, huge: u64, stop: &dyn Fn() -> bool) -> Made {
        let _ = (node, pages, huge, stop);
        Made::default()
    }

    /// The node to whose CPUs a process is bound; none where there are several, or nobody says. `node_of`: to which node a CPU
    /// belongs.
    fn bound_to(&self, pid: Pid, node_of: &dyn Fn(u32) -> Option<NodeId>) -> Option<NodeId> {
        let _ = (pid, node_of);
        None
    }

    /// What is read; none where nobody counts that.
    fn reads(&self) -> Option<Reads> {
        None
    }

    /// Huge pages of the machine that were split in order to be moved, since boot.
    fn splits(&self) -> u64;

    /// A clock that only goes forward, ns.
    fn now_ns(&self) -> u64;

    /// From now on only these processes have memory, each as long as it lives: process numbers are
    /// reused, and another's pages are not to be touched. Calls for any other fail with ESRCH.
    fn only(&self, processes: Vec<(Pid, Arc<OwnedFd>)>) {
        drop(processes);
    }
}

impl<K: Kernel + ?Sized + Send> Kernel for std::sync::Arc<K> {
    fn locate(&self, pid: Pid, pages: &[VirtAddr]) -> Result<Vec<Spot>, Errno> {
        (**self).locate(pid, pages)
    }
    fn relocate(&self, pid: Pid, pages: &[VirtAddr], to: NodeId, shared: bool) -> Moved {
        (**self).relocate(pid, pages, to, shared)
    }
    fn sharing(&self, mappings: &[Mapping]) -> Sharing {
        (**self).sharing(mappings)
    }
    fn room(&self, node: NodeId) -> NodeRoom {
        (**self).room(node)
    }
    fn make_room(&self, node: NodeId, pages: u64, huge: u64, stop: &dyn Fn() -> bool) -> Made {
        (**self).make_room(node, pages, huge, stop)
    }
    fn bound_to(&self, pid: Pid, node_of: &dyn Fn(u32) -> Option<NodeId>) -> Option<NodeId> {
        (**self).bound_to(pid, node_of)
    }
    fn reads(&self) -> Option<Reads> {
        (**self).reads()
    }
    fn splits(&self) -> u64 {
        (**self).splits()
    }
    fn now_ns(&self) -> u64 {
        (**self).now_ns()
    }
    fn only(&self, processes: Vec<(Pid, Arc<OwnedFd>)>) {
        (**self).only(processes);
    }
}
