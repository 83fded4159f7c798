//! What goes on at a time that is known before, or once something else has happened: requests that wait for
//! their page or for its count, and lines that DMA moves. Queues are first come, first served, and so must see
//! requests when they come, not when it is known that they will.

use super::Ps;
use super::bank_scheduler::Wanted;
use super::counts::PageId;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A line that a core fetches or gives back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Asked {
    pub(super) node: usize,
    /// Of the node.
    pub(super) core: usize,
    pub(super) line: u32,
    pub(super) write: bool,
    /// When the core made it.
    pub(super) since: Ps,
}

impl Asked {
    pub(super) const fn page(self) -> PageId {
        PageId(self.line >> 6)
    }
}

/// Whose a line is that a module of the pool is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Ticket {
    /// A core's.
    Core(Asked),
    /// Counts, for a request of a page at that slot of the pool.
    Counts(Asked, u32),
    /// Counts that are stored; nobody waits.
    Spilled,
    /// DMA's of a node, which then writes that line of the node.
    Copied(usize, u64),
    /// DMA's of a node, written.
    Stored(usize),
}

/// What goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Event {
    /// The page of a request has come.
    Moved(Asked),
    /// The count of a request's page is there, at the pool's slot in which the page lies.
    Counted(Asked, u32),
    /// A node's DMA is done with a page, or begins.
    Copy(usize),
    /// A line that DMA read is written: the node, the line, and whether it goes to the pool.
    Store(usize, u64, bool),
    /// A line is asked of a module that serves out of order.
    Come(u32, Wanted),
    /// A bank of such a module is done.
    Bank(u32, usize),
}

/// See the module.
#[derive(Clone, Debug, Default)]
pub(super) struct Later {
    /// The second number is of their order, where times are equal.
    all: BinaryHeap<Reverse<(Ps, u64, Event)>>,
    added: u64,
}

impl Later {
    pub(super) fn add(&mut self, at: Ps, event: Event) {
        self.added += 1;
        self.all.push(Reverse((at, self.added, event)));
    }

    /// When the first of them goes on; never, if there is none.
    #[inline]
    pub(super) fn first(&self) -> Ps {
        self.all.peek().map_or(Ps::MAX, |Reverse((at, ..))| *at)
    }

    /// Takes the first of them.
    pub(super) fn take(&mut self) -> Option<Event> {
        self.all.pop().map(|Reverse((.., event))| event)
    }
}
