//! CLOCK (second chance) at given sizes: a ring of pages with a mark each. A hit marks the page; the
//! hand takes marks away until it finds a page without, which goes. A page comes in without a mark, as
//! in libCacheSim, whose queue with reinsertion is the same.
//! From Corbato, "A paging experiment with the Multics system", 1968.
//!
//! Two bytes of a page say in which of eight caches it is, and in which it is marked: an access that
//! hits in all of them is one to two bytes, whatever the sizes.

use super::memory::{AHEAD, lengthen, prefetch};
use super::rows::{ABREAST, Row};

/// How far ahead of the hand pages are fetched.
const BEFORE_HAND: usize = 16;

/// A page in eight caches, a bit for each.
#[derive(Clone, Copy, Default)]
struct Page {
    inside: u8,
    marked: u8,
}

/// A ring of pages.
struct Ring {
    size: u32,
    pages: Vec<u32>,
    hand: usize,
    misses: u64,
}

impl Ring {
    /// Takes a page in, in place of another if there is no room.
    #[inline]
    fn bring(&mut self, page: u32, bit: u8, all: &mut [Page]) {
        self.misses += 1;
        if self.pages.len() < self.size as usize {
            self.pages.push(page);
            return;
        }
        loop {
            if let Some(soon) = self.pages.get(self.hand + BEFORE_HAND) {
                prefetch(all, *soon as usize);
            }
            let at = self.hand;
            self.hand = if at + 1 == self.pages.len() { 0 } else { at + 1 };
            let there = &mut all[self.pages[at] as usize];
            if there.marked & bit == 0 {
                there.inside &= !bit;
                self.pages[at] = page;
                return;
            }
            there.marked &= !bit;
        }
    }
}

pub(super) struct Clock {
    pages: Vec<Page>,
    rings: Vec<Ring>,
    /// The bits of all rings.
    all: u8,
}

impl Row for Clock {
    fn start(sizes: &[u32], seen: u32, again: &[u64]) -> Self {
        let ring = |size: &u32| Ring {
            size: *size,
            pages: (0..seen).collect(),
            hand: 0,
            misses: seen.into(),
        };
        let rings: Vec<Ring> = sizes.iter().map(ring).collect();
        let all = u8::MAX >> (ABREAST - rings.len());
        let page = |page: u32| {
            let marked = again[page as usize / 64] >> (page % 64) & 1 == 1;
            Page { inside: all, marked: if marked { all } else { 0 } }
        };
        Self { pages: (0..seen).map(page).collect(), rings, all }
    }

    fn access(&mut self, pages: &[u32], seen: u32) {
        lengthen(&mut self.pages, seen as usize, Page::default());
        for (i, page) in pages.iter().enumerate() {
            if let Some(soon) = pages.get(i + AHEAD) {
                prefetch(&self.pages, *soon as usize);
            }
            let there = &mut self.pages[*page as usize];
            there.marked |= there.inside;
            let mut out = self.all & !there.inside;
            there.inside = self.all;
            while out != 0 {
                let ring = &mut self.rings[out.trailing_zeros() as usize];
                ring.bring(*page, out & out.wrapping_neg(), &mut self.pages);
                out &= out - 1;
            }
        }
    }

    fn misses(&self) -> Vec<u64> {
        self.rings.iter().map(|ring| ring.misses).collect()
    }
}
