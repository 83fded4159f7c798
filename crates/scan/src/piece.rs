//! A piece of a process's memory: the part of one unit that one mapping holds, 2 MiB at most.

use crate::walker::Range;
use pagetide_types::{NodeId, UnitId};

/// See the module.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Piece {
    /// Which of the followed processes.
    pub(crate) process: usize,
    /// Its addresses.
    pub(crate) range: Range,
    /// The unit that it belongs to.
    pub(crate) unit: UnitId,
    /// Resident base pages.
    pub(crate) present: u16,
    /// Some of them are dirty.
    pub(crate) dirty: bool,
    /// Mapped by a huge page.
    pub(crate) huge: bool,
    /// Where most of them lie.
    pub(crate) node: NodeId,
    /// Its accessed bits cannot be cleared.
    pub(crate) uncleared: bool,
    /// Accesses per second of CPU time of the process, to the whole piece, as last estimated; None
    /// if never observed.
    pub(crate) rate: Option<f32>,
    /// That is a lower bound.
    pub(crate) saturated: bool,
}

impl Piece {
    /// What is counted: a huge page has one accessed bit, a base page has its own.
    pub(crate) fn weight(&self, watched_pages: u16) -> u16 {
        if self.huge { 1 } else { watched_pages }
    }
}

#[cfg(test)]
impl Piece {
    /// For tests: a whole, resident unit of process 0 at the address of its number.
    pub(crate) fn whole(unit: u32, huge: bool) -> Self {
        let start = u64::from(unit) << 21;
        Self {
            process: 0,
            range: Range { start, end: start + (1 << 21) },
            unit: UnitId(unit),
            present: 512,
            dirty: false,
            huge,
            node: NodeId(0),
            uncleared: false,
            rate: None,
            saturated: false,
        }
    }
}
