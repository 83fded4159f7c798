//! CLOCK (second chance) at given sizes: a ring of places with a mark each. A hit marks the place; the
//! hand takes marks away until it finds a place without, whose page goes. A page comes in without
//! a mark, as in libCacheSim, whose queue with reinsertion is the same.
//! From Corbato, "A paging experiment with the Multics system", 1968.
//!
//! Marks lie by place, not by page: those of a large ring fit into a CPU's cache, and the hand passes
//! up to 64 of them at a time.

use super::rows::{ABREAST, Row};

/// The place of a page that is not in a cache.
const OUT: u32 = u32::MAX;

/// One cache; places are found by page elsewhere.
struct Ring {
    size: u32,
    /// By place.
    pages: Vec<u32>,
    marks: Vec<u64>,
    hand: u32,
    misses: u64,
}

impl Ring {
    /// Pages came in in their order, those of `again` are marked.
    fn start(size: u32, seen: u32, again: &[u64]) -> Self {
        let marks = again.to_vec();
        Self { size, pages: (0..seen).collect(), marks, hand: 0, misses: seen.into() }
    }

    #[inline]
    fn mark(&mut self, place: u32) {
        self.marks[place as usize / 64] |= 1 << (place % 64);
    }

    /// Takes a page in: where, and which page left for it.
    #[inline]
    fn bring(&mut self, page: u32) -> (u32, Option<u32>) {
        self.misses += 1;
        if self.pages.len() < self.size as usize {
            let place = self.pages.len();
            if place / 64 >= self.marks.len() {
                self.marks.push(0);
            }
            self.pages.push(page);
            #[expect(clippy::cast_possible_truncation, reason = "less than the size")]
            return (place as u32, None);
        }
        let place = self.turn();
        (place, Some(std::mem::replace(&mut self.pages[place as usize], page)))
    }

    /// Turns the hand past the next place without a mark.
    #[inline]
    fn turn(&mut self) -> u32 {
        loop {
            let (word, bit) = (self.hand as usize / 64, self.hand % 64);
            let here = (64 - bit).min(self.size - self.hand);
            let marked = (self.marks[word] >> bit).trailing_ones();
            let passed = marked.min(here);
            // The lowest `passed` bits; 64 of them cannot be shifted to.
            let taken = if passed == 64 { u64::MAX } else { (1 << passed) - 1 };
            self.marks[word] &= !(taken << bit);
            let place = self.hand + passed;
            let found = marked < here;
            self.hand = place + u32::from(found);
            if self.hand == self.size {
                self.hand = 0;
            }
            if found {
                return place;
            }
        }
    }
}

/// Caches of up to `L` sizes.
pub(super) struct Rings<const L: usize> {
    /// By page, its places.
    places: Vec<[u32; L]>,
    rings: Vec<Ring>,
}

impl<const L: usize> Rings<L> {
    fn start(sizes: &[u32], seen: u32, again: &[u64]) -> Self {
        let rings = sizes.iter().map(|size| Ring::start(*size, seen, again)).collect();
        Self { places: (0..seen).map(|page| [page; L]).collect(), rings }
    }

    fn access(&mut self, pages: &[u32], seen: u32) {
        self.places.resize(seen as usize, [OUT; L]);
        for page in pages {
            let mut places = self.places[*page as usize];
            for (i, ring) in self.rings.iter_mut().enumerate() {
                if places[i] != OUT {
                    ring.mark(places[i]);
                    continue;
                }
                let (place, left) = ring.bring(*page);
                places[i] = place;
                if let Some(left) = left {
                    self.places[left as usize][i] = OUT;
                }
            }
            self.places[*page as usize] = places;
        }
    }

    fn misses(&self) -> Vec<u64> {
        self.rings.iter().map(|ring| ring.misses).collect()
    }
}

/// One cache alone takes an eighth of the memory.
pub(super) enum Clock {
    One(Rings<1>),
    More(Rings<ABREAST>),
}

impl Row for Clock {
    fn start(sizes: &[u32], seen: u32, again: &[u64]) -> Self {
        match sizes {
            [_] => Self::One(Rings::start(sizes, seen, again)),
            _ => Self::More(Rings::start(sizes, seen, again)),
        }
    }

    fn access(&mut self, pages: &[u32], seen: u32) {
        match self {
            Self::One(rings) => rings.access(pages, seen),
            Self::More(rings) => rings.access(pages, seen),
        }
    }

    fn misses(&self) -> Vec<u64> {
        match self {
            Self::One(rings) => rings.misses(),
            Self::More(rings) => rings.misses(),
        }
    }
}
