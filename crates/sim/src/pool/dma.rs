//! Pages of a node that are swapped line by line: each line is read and written on both sides, and takes its
//! turn in ports and banks as others do. One page after the other; a page takes its time at least.

use super::Ps;
use super::counts::PageId;
use super::later::{Asked, Event, Later};
use super::local::Frame;
use std::collections::{HashMap, VecDeque};

/// Lines of a page.
pub(super) const LINES: u32 = 64;

/// A page of the pool and the frame that it goes to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pair {
    pub(super) page: PageId,
    /// The program's page in that frame.
    pub(super) victim: Option<PageId>,
    /// Where the page was in the pool.
    pub(super) slot: u32,
    pub(super) frame: Frame,
}

/// See the module.
#[derive(Clone, Debug, Default)]
pub(super) struct Dma {
    /// Those to be copied, the first of them under way, if any is.
    pairs: VecDeque<Pair>,
    under_way: bool,
    /// Lines of it that are not written yet.
    left: u32,
    /// When all that is written is there; not before the page has taken its time.
    done: Ps,
    /// Requests that wait for pages.
    waiting: HashMap<PageId, Vec<Asked>>,
}

impl Dma {
    /// Swaps pages, from then on or when those before are done.
    pub(super) fn swap(&mut self, pairs: Vec<Pair>, from: Ps, node: usize, later: &mut Later) {
        if self.pairs.is_empty() && !pairs.is_empty() {
            later.add(from, Event::Copy(node));
        }
        self.pairs.extend(pairs);
    }

    /// The next page, and those that came before it at last; none, if all are done.
    pub(super) fn next(&mut self) -> (Option<Pair>, Option<Pair>) {
        let done = if self.under_way { self.pairs.pop_front() } else { None };
        let next = self.pairs.front().copied();
        self.under_way = next.is_some();
        self.left = 2 * LINES;
        (done, next)
    }

    /// The module of the page that is under way.
    pub(super) fn module(&self, modules: u32) -> usize {
        self.pairs.front().map_or(0, |pair| (pair.slot % modules) as usize)
    }

    /// A page is not there before then.
    pub(super) fn begin(&mut self, done: Ps) {
        self.done = done;
    }

    /// A line is written then; when the page is there, if it was the last one.
    pub(super) fn written(&mut self, done: Ps) -> Option<Ps> {
        self.done = self.done.max(done);
        self.left -= 1;
        (self.left == 0).then_some(self.done)
    }

    /// Accesses to these pages wait.
    pub(super) fn awaited(&mut self, pages: impl IntoIterator<Item = PageId>) {
        pages.into_iter().for_each(|page| _ = self.waiting.entry(page).or_default());
    }

    /// Keeps a request, if it is to wait.
    pub(super) fn keeps(&mut self, asked: Asked) -> bool {
        let waiting = self.waiting.get_mut(&asked.page());
        waiting.map(|all| all.push(asked)).is_some()
    }

    /// The requests that waited for a page.
    pub(super) fn came(&mut self, page: PageId) -> Vec<Asked> {
        self.waiting.remove(&page).unwrap_or_default()
    }

    /// Whether somebody may wait for a page.
    pub(super) fn is_awaited(&self) -> bool {
        !self.waiting.is_empty()
    }
}
