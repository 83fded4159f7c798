//! LRU at given sizes. A cache of n pages holds the n used last: those with a bit in [`Recency`] from
//! the oldest of them on. So a cache is the time of its oldest page, which goes to the next bit when
//! a page comes in; all sizes share one bitmap, and there is no list.

use super::Simulate;
use super::recency::{Recency, Time, next};

/// One cache.
#[derive(Clone, Copy)]
struct Cache {
    /// The last access of the page that goes next.
    oldest: Time,
    /// Pages that fit before any must go.
    room: u32,
    misses: u64,
}

impl Cache {
    /// An access to a page that was accessed before at that time; false if it was behind the oldest one,
    /// and larger caches have nothing to do, either.
    #[inline]
    fn access(&mut self, before: Time, latest: &[u64]) -> bool {
        if before > self.oldest {
            return false;
        }
        self.misses += u64::from(before < self.oldest);
        if before == 0 && self.room > 0 {
            self.room -= 1;
        } else {
            self.oldest = next(latest, self.oldest);
        }
        true
    }
}

pub(super) struct Lru {
    recency: Recency,
    /// By size, the smallest first: what one holds the next one holds, too.
    caches: Vec<Cache>,
}

impl Lru {
    pub(super) fn new(sizes: &[u32]) -> Self {
        let cache = |room: &u32| Cache { oldest: 1, room: *room, misses: 0 };
        Self { recency: Recency::new(), caches: sizes.iter().map(cache).collect() }
    }

    fn compress(&mut self) {
        self.recency.compress(self.caches.iter_mut().map(|cache| &mut cache.oldest));
    }
}

impl Simulate for Lru {
    fn access(&mut self, mut pages: &[u32], seen: u32) {
        self.recency.make_room(seen);
        while !pages.is_empty() {
            if self.recency.left() == 0 {
                self.compress();
            }
            let count = pages.len().min(self.recency.left());
            if let [cache] = &mut *self.caches {
                let mut alone = *cache;
                let each = |before, latest: &[u64]| _ = alone.access(before, latest);
                self.recency.access(pages, count, each);
                *cache = alone;
            } else {
                let each = |before, latest: &[u64]| {
                    _ = self.caches.iter_mut().all(|cache| cache.access(before, latest));
                };
                self.recency.access(pages, count, each);
            }
            pages = &pages[count..];
        }
    }

    fn misses(&self) -> Vec<u64> {
        self.caches.iter().map(|cache| cache.misses).collect()
    }
}
