//! Stack distances, and with them LRU at every size at once: how many other pages were accessed since a
//! page's last access (Mattson et al., "Evaluation techniques for storage hierarchies", IBM Systems
//! Journal 1970). They are the bits behind that time in [`Recency`], counted by a tree of running
//! sums with sixteen children a node: to take a bit away is a few vectors' subtraction, and to
//! add the newest costs nothing until its word is full.

use super::Simulate;
use super::memory::{lengthen, prefetch};
use super::recency::{Recency, Time};

/// Accesses whose distances are counted together, after the places of the counts were fetched.
const TOGETHER: usize = 256;
/// Children of a node.
const CHILDREN: usize = 16;

/// A node: bits in front of each child that stand behind the start of the node.
type Node = [u32; CHILDREN];

pub(super) struct Distances {
    recency: Recency,
    sums: Sums,
    /// Pages that are known.
    live: u32,
}

/// By level and time; a child of the lowest is a word of bits.
struct Sums(Vec<Vec<Node>>);

/// The node and the child of a time.
fn place(level: usize, time: Time) -> (usize, usize) {
    let child = time as usize >> (6 + 4 * level);
    (child / CHILDREN, child % CHILDREN)
}

impl Sums {
    /// For so many words; nothing is counted.
    fn new(words: usize) -> Self {
        let mut levels = Vec::new();
        let mut nodes = words;
        while nodes > 1 {
            nodes = nodes.div_ceil(CHILDREN);
            levels.push(vec![[0; CHILDREN]; nodes]);
        }
        Self(levels)
    }

    /// Starts the word that begins with a time, which `front` bits come before.
    fn begin_word(&mut self, time: Time, mut front: u32) {
        for (level, nodes) in self.0.iter_mut().enumerate().rev() {
            let (node, child) = place(level, time);
            if time.trailing_zeros() as usize >= 6 + 4 * level {
                nodes[node][child] = front;
            }
            front -= nodes[node][child];
        }
    }

    /// Takes the bit of a time out; the bits in front of it.
    #[inline]
    fn take(&mut self, time: Time, latest: &[u64]) -> u32 {
        let in_word = latest[time as usize / 64] & ((1 << (time % 64)) - 1);
        let mut front = in_word.count_ones();
        for (level, nodes) in self.0.iter_mut().enumerate() {
            let (node, child) = place(level, time);
            let node = &mut nodes[node];
            front += node[child];
            for (other, sum) in node.iter_mut().enumerate() {
                *sum = sum.wrapping_sub(u32::from(other > child));
            }
        }
        front
    }
}

impl Distances {
    pub(super) fn new() -> Self {
        let recency = Recency::new();
        Self { sums: Sums::new(recency.latest().len()), recency, live: 0 }
    }

    /// Pages that are known.
    pub(super) fn live(&self) -> u32 {
        self.live
    }

    /// Makes room for pages 0 to `pages` - 1.
    pub(super) fn make_room(&mut self, pages: u32) {
        self.recency.make_room(pages);
    }

    /// Accesses in their order; `each` is told how many other pages were accessed since the page's last one,
    /// none if it is the first.
    #[inline]
    pub(super) fn access(&mut self, mut pages: &[u32], mut each: impl FnMut(Option<u32>)) {
        while !pages.is_empty() {
            if self.recency.left() == 0 {
                self.compress();
            }
            let time = self.recency.now();
            if time.is_multiple_of(64) {
                self.sums.begin_word(time, self.live);
            }
            let count = pages.len().min(64 - time as usize % 64);
            let Self { recency, sums, live } = self;
            let each = |before, latest: &[u64]| {
                if before == 0 {
                    *live += 1;
                    each(None);
                } else {
                    each(Some(*live - sums.take(before, latest) - 1));
                }
            };
            recency.access(pages, count, each);
            pages = &pages[count..];
        }
    }

    /// Forgets a page.
    pub(super) fn forget(&mut self, page: u32) {
        if let Some(time) = self.recency.forget(page) {
            self.sums.take(time, self.recency.latest());
            self.live -= 1;
        }
    }

    /// All times up to now are some page's last then.
    fn compress(&mut self) {
        self.recency.compress(std::iter::empty());
        self.sums = Sums::new(self.recency.latest().len());
        for time in (64..=self.recency.now()).step_by(64) {
            self.sums.begin_word(time, time - 1);
        }
    }
}

/// LRU at every size.
pub(super) struct EverySize {
    distances: Distances,
    /// Accesses by distance.
    counts: Vec<u64>,
    /// Those of some accesses, before they are counted.
    found: Vec<u32>,
    sizes: Vec<u32>,
}

impl EverySize {
    /// `sizes`: those that [`Simulate::misses`] is about.
    pub(super) fn new(sizes: &[u32]) -> Self {
        Self {
            distances: Distances::new(),
            counts: Vec::new(),
            found: Vec::new(),
            sizes: sizes.to_vec(),
        }
    }
}

impl Simulate for EverySize {
    fn access(&mut self, pages: &[u32], seen: u32) {
        self.distances.make_room(seen);
        lengthen(&mut self.counts, seen as usize, 0);
        for pages in pages.chunks(TOGETHER) {
            self.found.clear();
            self.distances.access(pages, |others| {
                if let Some(others) = others {
                    prefetch(&self.counts, others as usize);
                    self.found.push(others);
                }
            });
            for others in &self.found {
                self.counts[*others as usize] += 1;
            }
        }
    }

    fn misses(&self) -> Vec<u64> {
        let steps = self.steps().unwrap_or_default();
        let at = |size: &u32| {
            let before = steps.partition_point(|step| step.0 <= *size);
            before.checked_sub(1).map_or(0, |last| steps[last].1)
        };
        self.sizes.iter().map(at).collect()
    }

    fn steps(&self) -> Option<Vec<(u32, u64)>> {
        // A cache of n pages hits what has fewer than n others in between.
        let mut misses = u64::from(self.distances.live()) + self.counts.iter().sum::<u64>();
        let mut steps = Vec::new();
        for (size, hits) in (1..).zip(&self.counts) {
            misses -= hits;
            if *hits > 0 || size == 1 {
                steps.push((size, misses));
            }
        }
        Some(steps)
    }
}
