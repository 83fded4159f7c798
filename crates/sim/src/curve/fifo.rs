//! FIFO at given sizes. A cache of n pages holds the n that came in last: a page is in it if fewer than n
//! came in since it did. So all there is of a cache is, by page, when it came in, and there is no queue.

use super::memory::{AHEAD, lengthen, prefetch};
use super::rows::{ABREAST, Row};

/// From here on times start anew; they are counted in 32 bits.
const LATEST: u32 = if cfg!(test) { 100 } else { 1 << 31 };

/// Caches of `L` sizes.
pub(super) struct Caches<const L: usize> {
    sizes: [u32; L],
    /// By page, when it came in: as many had by then, counted from the size. 0 if it never did.
    came: Vec<[u32; L]>,
    /// Pages that came in so far, counted from the size.
    count: [u32; L],
    misses: [u64; L],
}

impl<const L: usize> Caches<L> {
    fn start(sizes: [u32; L], seen: u32) -> Self {
        let came = (1..=seen).map(|page| sizes.map(|size| size + page)).collect();
        Self { sizes, came, count: sizes.map(|size| size + seen), misses: [u64::from(seen); L] }
    }

    fn access(&mut self, pages: &[u32], seen: u32) {
        lengthen(&mut self.came, seen as usize, [0; L]);
        let (sizes, mut count) = (self.sizes, self.count);
        for (i, page) in pages.iter().enumerate() {
            if let Some(soon) = pages.get(i + AHEAD) {
                prefetch(&self.came, *soon as usize);
            }
            let came = &mut self.came[*page as usize];
            for ((came, count), size) in came.iter_mut().zip(&mut count).zip(&sizes) {
                let out = *count - *came >= *size;
                *count += u32::from(out);
                *came = if out { *count } else { *came };
            }
        }
        for ((misses, count), before) in self.misses.iter_mut().zip(&count).zip(&self.count) {
            *misses += u64::from(count - before);
        }
        self.count = count;
        if count.iter().any(|count| *count > LATEST) {
            self.start_anew();
        }
    }

    /// The same caches, as if each were full for the first time.
    #[cold]
    fn start_anew(&mut self) {
        for (i, size) in self.sizes.into_iter().enumerate() {
            let less = self.count[i] - size;
            self.count[i] = size;
            for came in &mut self.came {
                came[i] = came[i].saturating_sub(less);
            }
        }
    }
}

/// One cache alone takes an eighth of the memory.
pub(super) enum Fifo {
    One(Caches<1>),
    More(Caches<ABREAST>, usize),
}

impl Row for Fifo {
    fn start(sizes: &[u32], seen: u32, _again: &[u64]) -> Self {
        if let [size] = sizes {
            return Self::One(Caches::start([*size], seen));
        }
        let mut padded = [sizes[0]; ABREAST];
        padded[..sizes.len()].copy_from_slice(sizes);
        Self::More(Caches::start(padded, seen), sizes.len())
    }

    fn access(&mut self, pages: &[u32], seen: u32) {
        match self {
            Self::One(caches) => caches.access(pages, seen),
            Self::More(caches, _) => caches.access(pages, seen),
        }
    }

    fn misses(&self) -> Vec<u64> {
        match self {
            Self::One(caches) => caches.misses.to_vec(),
            Self::More(caches, sizes) => caches.misses[..*sizes].to_vec(),
        }
    }
}
