//! What is asked of the page-table walk, and what it answers.

use crate::walk::nodes::{MAX_NODES, NODE_BITS};
use pagetide_types::NodeId;

/// A range of user addresses, both ends multiples of 4 KiB.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Range {
    /// First byte.
    pub start: u64,
    /// One past the last byte.
    pub end: u64,
}

impl Range {
    /// The part of it that lies within another one, if any.
    pub(crate) fn within(self, other: Self) -> Option<Self> {
        let part = Self { start: self.start.max(other.start), end: self.end.min(other.end) };
        (part.start < part.end).then_some(part)
    }
}

/// What was found in the part of a request that lies in one 2 MiB region. Regions with nothing
/// present have no row. Counts are base pages inside the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// Start of that part.
    pub addr: u64,
    /// `CLOCK_MONOTONIC`, ns, when it was read.
    pub ns: u64,
    /// Index of the request.
    pub request: u32,
    /// Resident pages.
    pub present: u16,
    /// Resident pages with the accessed bit.
    pub accessed: u16,
    /// Resident pages with the dirty bit.
    pub dirty: u16,
    /// Mapped by 2 MiB or 1 GiB pages.
    pub huge: bool,
    /// Of base pages: bit n where the pages around page 64 n of the region may be of one folio.
    pub joined: u8,
    /// The node that holds most of them.
    pub node: NodeId,
    /// How many of them each node holds.
    pub spread: Spread,
}

/// Base pages by node, in the order of the walk's nodes ([`crate::Walker::nodes`]).
pub type Spread = [u16; MAX_NODES];

/// One bit per base page of a row's 2 MiB region.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RowBits {
    /// Resident.
    pub present: [u64; 8],
    /// Accessed.
    pub accessed: [u64; 8],
    /// Dirty.
    pub dirty: [u64; 8],
    /// Of base pages, the place of the node in the walk's nodes ([`crate::Walker::nodes`]), a bit each,
    /// the lowest first; 0 with one node.
    pub node: [[u64; 8]; NODE_BITS],
}
