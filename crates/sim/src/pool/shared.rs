//! The shared cache of a node in time, behind what its cores' own caches let through.
//!
//! A page that moves leaves all caches: DMA, which is coherent, takes what is dirty out of them, and writes over
//! the page's frame. In the shared cache that is done. What a core's own caches did is over and kept, and so its
//! consequences are looked up ([`Touches`]): the first access to a line that they served after the page moved
//! goes to the shared cache, and a line that they give up without having written it since is not given at all.

use super::counts::PageId;
use super::filter::{Seen, What};
use super::frames::Frames;
use super::kept::Filtered;
use super::lost::Left;
use super::touches::{SLOT, Touches};
use super::traffic::{Miss, Request};
use pagetide_access::Kind;
use pagetide_access::filter::{Cache, Looked};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// What of a page is in a core's own caches although the page moved, by line.
#[derive(Clone, Copy, Debug, Default)]
struct Stale {
    /// They have nothing of it, though they had in what is kept.
    gone: u64,
    /// What they have of it is not dirty.
    clean: u64,
    /// The touch that is next to be looked at.
    next: usize,
}

/// A core on its way.
#[derive(Debug)]
struct Way<'k> {
    all: &'k [Miss],
    touches: &'k Touches,
    at: usize,
    /// Instructions up to the entry before `at`, and up to the last line that was told.
    position: u64,
    told: u64,
    /// By number of a page that moved.
    stale: Vec<Stale>,
    /// Touches that are next, each with its page's number: the first one in time is first.
    next: BinaryHeap<Reverse<(u64, usize, u32)>>,
}

impl Way<'_> {
    /// A page moved, which has this number.
    fn moved(&mut self, page: PageId, number: usize) {
        if self.stale.len() == number {
            self.stale.push(Stale::default());
        }
        self.stale[number] = Stale { gone: u64::MAX, clean: u64::MAX, next: usize::MAX };
        let first = self.touches.from(page, self.position).start;
        self.look(page, number, first);
    }

    /// Looks for the page's first touch, from one on, that changes something.
    fn look(&mut self, page: PageId, number: usize, from: usize) {
        let end = self.touches.from(page, 0).end;
        let stale = &mut self.stale[number];
        stale.next = usize::MAX;
        for at in from..end {
            let touch = self.touches.get(at);
            if touch.served & stale.gone | touch.written & stale.clean != 0 {
                stale.next = at;
                let time = u64::from(touch.slot) * SLOT;
                self.next.push(Reverse((time, at, page.0)));
                return;
            }
        }
    }
}

/// See the module.
pub(super) struct Shared<'k> {
    cache: Cache,
    frames: Frames,
    ways: Vec<Way<'k>>,
    /// By page: its number among those that moved, and one more.
    moved: Vec<u32>,
    count: u32,
}

impl std::fmt::Debug for Shared<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shared").field("moved", &self.count).finish_non_exhaustive()
    }
}

impl<'k> Shared<'k> {
    /// As it is after the warm-up.
    pub(super) fn new(filtered: &'k Filtered) -> Self {
        let way = |through: &'k super::kept::Through| Way {
            all: through.misses.all(),
            touches: &through.touches,
            at: 0,
            position: 0,
            told: 0,
            stale: Vec::new(),
            next: BinaryHeap::new(),
        };
        Self {
            cache: filtered.shared.clone(),
            moved: vec![0; filtered.frames.pages()],
            frames: filtered.frames.clone(),
            ways: filtered.through.iter().map(way).collect(),
            count: 0,
        }
    }

    /// Entries that are left.
    pub(super) fn left(&self) -> u64 {
        self.ways.iter().map(|way| (way.all.len() - way.at) as u64).sum()
    }

    /// A page moved: which of its lines were in the shared cache.
    pub(super) fn moved(&mut self, page: PageId) -> Left {
        let mut left = Left::default();
        for line in self.frames.renew(page.0) {
            left.lines |= u64::from(self.cache.holds(line)) << (line & 63);
            left.dirty |= u64::from(self.cache.invalidate(line)) << (line & 63);
        }
        let number = &mut self.moved[page.0 as usize];
        if *number == 0 {
            self.count += 1;
            *number = self.count;
        }
        let number = *number as usize - 1;
        self.ways.iter_mut().for_each(|way| way.moved(page, number));
        left
    }

    /// The number of a line's page, if that has moved.
    #[inline]
    fn number(&self, line: u32) -> Option<usize> {
        (self.moved[(line >> 6) as usize] as usize).checked_sub(1)
    }

    /// A core goes on with its next entry, one at a time as [`NodeCaches`](super::NodeCaches) do in time; whether
    /// it had any.
    pub(super) fn advance(&mut self, core: usize, told: &mut impl FnMut(Seen)) -> bool {
        let way = &self.ways[core];
        let Some(miss) = way.all.get(way.at).copied() else { return false };
        let position = way.position + u64::from(miss.instructions());
        self.touch(core, position, told);
        let (line, bit) = (miss.line(), 1 << (miss.line() & 63));
        let number = self.number(line);
        let way = &mut self.ways[core];
        (way.position, way.at) = (position, way.at + 1);
        match miss.request() {
            Request::Nothing => {}
            Request::Translation => {
                let what = What::Translation { walk: line & 1 == 1 };
                told(Seen { core, line, what, instructions: since(way, position) });
            }
            Request::Fetch => {
                if let Some(number) = number {
                    way.stale[number].gone &= !bit;
                }
                self.ask((core, position), line, false, told);
            }
            Request::WriteBack => {
                if number.is_none_or(|number| way.stale[number].clean & bit == 0) {
                    self.ask((core, position), line, true, told);
                }
            }
        }
        true
    }

    /// Looks at what a core's own caches served before an instruction, of pages that moved.
    #[inline]
    fn touch(&mut self, core: usize, before: u64, told: &mut impl FnMut(Seen)) {
        while let Some(Reverse((time, at, page))) = self.ways[core].next.peek().copied()
            && time <= before
        {
            self.ways[core].next.pop();
            self.missed((core, time), at, PageId(page), told);
        }
    }

    /// Lines of a page that a core's own caches served, and do no longer, are fetched.
    fn missed(
        &mut self,
        (core, time): (usize, u64),
        at: usize,
        page: PageId,
        told: &mut impl FnMut(Seen),
    ) {
        let Some(number) = self.number(page.0 << 6) else { return };
        let way = &mut self.ways[core];
        let touch = way.touches.get(at);
        let stale = &mut way.stale[number];
        if stale.next != at {
            // It moved again.
            return;
        }
        let mut lines = touch.served & stale.gone;
        stale.gone &= !lines;
        stale.clean &= !touch.written;
        way.look(page, number, at + 1);
        while lines != 0 {
            let line = page.0 << 6 | lines.trailing_zeros();
            lines &= lines - 1;
            self.ask((core, time), line, false, told);
        }
    }

    /// The shared cache is asked for a line, or given one.
    #[inline]
    fn ask(
        &mut self,
        (core, position): (usize, u64),
        line: u32,
        write: bool,
        told: &mut impl FnMut(Seen),
    ) {
        let Looked::Miss(evicted) = self.cache.access(self.frames.of_line(line), write) else {
            return;
        };
        let way = &mut self.ways[core];
        if !write {
            let what = What::Line(Kind::Read);
            told(Seen { core, line, what, instructions: since(way, position) });
        }
        if let Some(evicted) = evicted.filter(|evicted| evicted.dirty) {
            let (line, what) = (self.frames.back(evicted.line), What::Line(Kind::WriteBack));
            told(Seen { core, line, what, instructions: since(way, position) });
        }
    }

    /// Instructions of a core since its last line.
    pub(super) fn rest(&mut self, core: usize) -> u64 {
        let way = &mut self.ways[core];
        since(way, way.position)
    }
}

/// Instructions since the last line that was told.
#[inline]
fn since(way: &mut Way<'_>, position: u64) -> u64 {
    let since = position.saturating_sub(way.told);
    way.told += since;
    since
}
