//! What is asked of a mover.

use pagetide_types::{Bytes, NodeId, PageSize, Pid, VirtAddr};

/// One piece of a process's memory that is to lie on another node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Order {
    /// The caller's number, to find the answer by.
    pub tag: u32,
    /// Whose memory.
    pub pid: Pid,
    /// First byte; a multiple of 4 KiB, of 2 MiB if `huge`.
    pub start: VirtAddr,
    /// One past the last byte; aligned likewise.
    pub end: VirtAddr,
    /// Mapped by pages of 2 MiB.
    pub huge: bool,
    /// Where most of it lies now, as far as the caller knows: what its move will free there.
    pub from: NodeId,
    /// Where it is to lie.
    pub to: NodeId,
    /// Other processes map it, too, and it moves all the same.
    pub shared: bool,
}

impl Order {
    /// The pages that it names, ascending.
    pub(crate) fn pages(&self) -> impl Iterator<Item = Page> + use<> {
        let huge = self.huge;
        let step = if huge { PageSize::Huge } else { PageSize::Base }.bytes().0;
        let count = self.end.0.saturating_sub(self.start.0).div_ceil(step);
        let start = self.start.0;
        (0..count).map(move |i| Page { addr: VirtAddr(start + i * step), huge })
    }

    /// Its length.
    #[must_use]
    pub fn bytes(&self) -> Bytes {
        Bytes(self.end.0.saturating_sub(self.start.0))
    }
}

/// All moves of one round, the most wanted first in each list. A page is named once at most.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// To faster memory.
    pub promote: Vec<Order>,
    /// To slower memory.
    pub demote: Vec<Order>,
}

impl Work {
    /// Whether nothing is to be moved.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.promote.is_empty() && self.demote.is_empty()
    }
}

/// A page as the page table maps it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Page {
    pub(crate) addr: VirtAddr,
    pub(crate) huge: bool,
}

/// Base pages in a huge page.
pub(crate) const BASE_PER_HUGE: u64 = 512;

impl Page {
    /// Its size.
    pub(crate) fn bytes(self) -> Bytes {
        if self.huge { PageSize::Huge } else { PageSize::Base }.bytes()
    }

    /// The base pages in it.
    pub(crate) fn base_pages(self) -> impl Iterator<Item = VirtAddr> {
        let count = if self.huge { BASE_PER_HUGE } else { 1 };
        (0..count).map(move |i| VirtAddr(self.addr.0 + i * PageSize::Base.bytes().0))
    }

    /// The last base page in it.
    pub(crate) fn last(self) -> VirtAddr {
        VirtAddr(self.addr.0 + self.bytes().0 - PageSize::Base.bytes().0)
    }
}
