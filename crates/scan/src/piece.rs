//! A piece of a process's memory: the part of one unit that one mapping holds, 2 MiB at most.

use crate::evidence::Evidence;
use crate::pages::{Mask, Pages};
use crate::refs::Kind;
use crate::shared::Sharing;
use crate::walker::{Range, Spread};
use pagetide_types::{NodeId, Pid, UnitId};
use std::mem::replace;

/// See the module.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Piece {
    /// Which of the followed processes.
    pub(crate) process: usize,
    /// Its addresses.
    pub(crate) range: Range,
    /// The unit of 2 MiB that it belongs to.
    pub(crate) unit: UnitId,
    /// Resident base pages.
    pub(crate) present: u16,
    /// Some of them are dirty.
    pub(crate) dirty: bool,
    /// Mapped by a huge page.
    pub(crate) huge: bool,
    /// Where most of them lie.
    pub(crate) node: NodeId,
    /// How many of them lie on each node.
    pub(crate) spread: Spread,
    /// Its accessed bits cannot be cleared.
    pub(crate) uncleared: bool,
    /// How `clear_refs` clears them; None of the hugetlb pool.
    pub(crate) refs: Option<Kind>,
    /// It was observed in that way.
    pub(crate) reached: bool,
    /// Which of its pages cannot be cleared although others can.
    pub(crate) sharing: Sharing,
    /// What earlier epochs have seen of it.
    pub(crate) memory: Box<Evidence>,
    /// Accesses per second of CPU time of the process, to the whole piece, as last estimated; None
    /// if never observed.
    pub(crate) rate: Option<f32>,
    /// That is a lower bound.
    pub(crate) saturated: bool,
    /// In recordings of single pages.
    pub(crate) pages: Option<Box<Pages>>,
}

impl Piece {
    /// Whether nothing is known of its heat.
    pub(crate) fn unknown(&self) -> bool {
        self.uncleared && !self.reached
    }

    /// What is counted: a huge page has one accessed bit, a base page that can be cleared its own.
    pub(crate) fn weight(&self) -> u16 {
        if self.huge { 1 } else { self.own() }
    }

    /// Resident pages that can be cleared.
    fn own(&self) -> u16 {
        self.present.saturating_sub(self.shared())
    }

    /// Pages that cannot be cleared although others can.
    pub(crate) fn shared(&self) -> u16 {
        if self.huge || self.uncleared { 0 } else { self.sharing.within(self.range) }
    }

    /// Finds out which of its pages several mappings hold; if most of them are, none is watched.
    pub(crate) fn look_up_sharing(&mut self, pid: Pid) {
        let before = replace(&mut self.sharing, Sharing::look_up(pid, self.range));
        let shared = self.sharing.within(self.range);
        if shared > 0 && self.sharing == before {
            // Its pages were told apart all along.
            return;
        }
        if shared == 0 {
            if let Some(pages) = &mut self.pages {
                pages.found_shared(&Mask::default());
            }
            return;
        }
        // What was seen is not what was accessed.
        (self.rate, self.saturated) = (None, false);
        *self.memory = Evidence::default();
        if let (Some(pages), Sharing::Some(mask)) = (&mut self.pages, &self.sharing) {
            pages.forget();
            pages.found_shared(mask);
        }
        self.uncleared = 2 * u32::from(shared) > u32::from(self.present);
    }

    /// The rate of its mean page, per second of CPU time of the process.
    pub(crate) fn mean_rate(&self) -> f32 {
        self.rate.unwrap_or(0.0) / f32::from(self.own().max(1))
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
            spread: [512, 0, 0, 0, 0, 0, 0, 0],
            uncleared: false,
            sharing: Sharing::Own,
            memory: Box::default(),
            refs: Some(Kind::Anonymous),
            reached: false,
            rate: None,
            saturated: false,
            pages: None,
        }
    }
}
