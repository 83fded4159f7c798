//! LRU at given sizes. A cache of n pages holds the n used last: those with a bit in [`Recency`] from
//! the oldest of them on. So a cache is the time of its oldest page, which goes to the next bit when
//! a page comes in; all sizes share one bitmap, and there is no list.

use super::Simulate;
use super::recency::{Recency, Time};

/// One cache.
struct Cache {
    /// The last access of the page that goes next.
    oldest: Time,
    /// Pages that fit before any must go.
    room: u32,
    misses: u64,
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
        let mut caches = self.caches.iter_mut().rev().peekable();
        self.recency.compress(|from, to| {
            while let Some(cache) = caches.next_if(|cache| cache.oldest == from) {
                cache.oldest = to;
            }
        });
    }
}

impl Simulate for Lru {
    fn access(&mut self, mut pages: &[u32], seen: u32) {
        self.recency.make_room(seen);
        while !pages.is_empty() {
            if self.recency.left() == 0 {
                self.compress();
            }
            let (now, later) = pages.split_at(pages.len().min(self.recency.left()));
            pages = later;
            for page in now {
                let before = self.recency.access(*page);
                for cache in &mut self.caches {
                    if before > cache.oldest {
                        break;
                    }
                    cache.misses += u64::from(before < cache.oldest);
                    if before == 0 && cache.room > 0 {
                        cache.room -= 1;
                    } else {
                        cache.oldest = self.recency.next(cache.oldest);
                    }
                }
            }
        }
    }

    fn misses(&self) -> Vec<u64> {
        self.caches.iter().map(|cache| cache.misses).collect()
    }
}
