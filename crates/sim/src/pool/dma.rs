//! Pages of a node that DMA swaps, one after the other, while others may go on: a page is where it was until its
//! turn comes. Where that is simulated each line is read and written on both sides, and takes its turn in ports
//! and banks as others do; a page takes its time at least.

use super::Ps;
use super::counts::PageId;
use super::later::{Asked, Event, Later};
use super::local::Frame;
use std::collections::VecDeque;

/// Lines of a page.
pub(super) const LINES: u32 = 64;

/// A page of the pool and the frame that it goes to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pair {
    pub(super) page: PageId,
    /// Where in the pool it is.
    pub(super) slot: u32,
    pub(super) frame: Frame,
    /// The program's page in that frame.
    pub(super) victim: Option<PageId>,
}

/// The pages that are swapped now.
#[derive(Clone, Copy, Debug)]
struct UnderWay {
    pair: Pair,
    /// Lines that are not written yet.
    left: u32,
    /// When all that is written is there; not before the page has taken its time.
    done: Ps,
}

/// See the module.
#[derive(Clone, Debug, Default)]
pub(super) struct Dma {
    /// Those to be swapped yet.
    pairs: VecDeque<Pair>,
    under_way: Option<UnderWay>,
    /// Whoever accesses what is under way waits for it.
    is_awaited: bool,
    waiting: Vec<Asked>,
}

impl Dma {
    /// Swaps pages from then on; nothing else may be under way.
    pub(super) fn swap(&mut self, pairs: Vec<Pair>, from: Ps, node: usize, later: &mut Later) {
        debug_assert!(!self.is_busy(), "one batch after the other");
        if !pairs.is_empty() {
            later.add(from, Event::Copy(node));
        }
        self.pairs.extend(pairs);
    }

    /// Some of the pages have not been swapped yet.
    pub(super) fn is_busy(&self) -> bool {
        self.under_way.is_some() || !self.pairs.is_empty()
    }

    /// What was under way is done: the requests that waited for it.
    pub(super) fn end(&mut self) -> Vec<Asked> {
        (self.under_way, self.is_awaited) = (None, false);
        std::mem::take(&mut self.waiting)
    }

    /// The next pages; none, if all are done.
    pub(super) fn next(&mut self) -> Option<Pair> {
        self.pairs.pop_front()
    }

    /// Begins with pages that are not swapped before `done`, and whether accesses to them wait.
    pub(super) fn begin(&mut self, pair: Pair, done: Ps, is_awaited: bool) {
        self.under_way = Some(UnderWay { pair, left: 2 * LINES, done });
        self.is_awaited = is_awaited;
    }

    /// Where in the pool lines are swapped.
    pub(super) fn slot(&self) -> u32 {
        self.under_way.map_or(0, |of| of.pair.slot)
    }

    /// A line is written then; when the pages are swapped, if it was the last one.
    pub(super) fn written(&mut self, done: Ps) -> Option<Ps> {
        let of = self.under_way.as_mut()?;
        of.done = of.done.max(done);
        of.left -= 1;
        (of.left == 0).then_some(of.done)
    }

    /// Keeps a request, if it is to wait.
    #[inline]
    pub(super) fn keeps(&mut self, asked: Asked) -> bool {
        if !self.is_awaited {
            return false;
        }
        let page = asked.page();
        let waits =
            self.under_way.is_some_and(|of| of.pair.page == page || of.pair.victim == Some(page));
        if waits {
            self.waiting.push(asked);
        }
        waits
    }
}
