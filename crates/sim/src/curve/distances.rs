//! Stack distances, and with them LRU at every size at once: how many other pages were accessed since a
//! page's last access (Mattson et al., "Evaluation techniques for storage hierarchies", IBM Systems
//! Journal 1970). They are the bits behind that time in [`Recency`], counted by a tree of running
//! sums with sixteen children a node: to take a bit away is a few vectors' subtraction, and to
//! add the newest costs nothing until its word is full.

use super::Simulate;
use super::recency::{Recency, Time};

/// Children of a node.
const CHILDREN: usize = 16;

/// A node: bits in front of each child that stand behind the start of the node.
type Node = [u32; CHILDREN];

pub(super) struct Distances {
    recency: Recency,
    /// By level and time; a child of the lowest is a word of bits.
    levels: Vec<Vec<Node>>,
}

/// The node and the child of a time.
fn place(level: usize, time: Time) -> (usize, usize) {
    let child = time as usize >> (6 + 4 * level);
    (child / CHILDREN, child % CHILDREN)
}

impl Distances {
    pub(super) fn new() -> Self {
        let mut distances = Self { recency: Recency::new(), levels: Vec::new() };
        distances.count_all();
        distances
    }

    /// Pages that are known.
    pub(super) fn live(&self) -> u32 {
        self.recency.live
    }

    /// Makes room for pages 0 to `pages` - 1.
    pub(super) fn make_room(&mut self, pages: u32) {
        self.recency.make_room(pages);
    }

    /// Other pages accessed since the page's last access; none if this is its first.
    #[inline]
    pub(super) fn access(&mut self, page: u32) -> Option<u32> {
        if self.recency.left() == 0 {
            self.recency.compress(|_, _| {});
            self.count_all();
        }
        if self.recency.now.is_multiple_of(64) {
            self.begin_word(self.recency.now, self.recency.live);
        }
        let before = self.recency.access(page);
        if before == 0 {
            return None;
        }
        Some(self.recency.live - self.take(before) - 1)
    }

    /// Forgets a page.
    pub(super) fn forget(&mut self, page: u32) {
        if let Some(time) = self.recency.forget(page) {
            self.take(time);
        }
    }

    /// Takes the bit of a time out of all sums; the bits in front of it.
    #[inline]
    fn take(&mut self, time: Time) -> u32 {
        let in_word = self.recency.latest[time as usize / 64] & ((1 << (time % 64)) - 1);
        let mut front = in_word.count_ones();
        for (level, nodes) in self.levels.iter_mut().enumerate() {
            let (node, child) = place(level, time);
            let node = &mut nodes[node];
            front += node[child];
            for (other, sum) in node.iter_mut().enumerate() {
                *sum = sum.wrapping_sub(u32::from(other > child));
            }
        }
        front
    }

    /// Starts the sums of the word that begins with a time, which `front` bits come before.
    fn begin_word(&mut self, time: Time, mut front: u32) {
        for (level, nodes) in self.levels.iter_mut().enumerate().rev() {
            let (node, child) = place(level, time);
            if time.trailing_zeros() as usize >= 6 + 4 * level {
                nodes[node][child] = front;
            }
            front -= nodes[node][child];
        }
    }

    /// Sums anew, after times were compressed: all up to now are some page's last.
    fn count_all(&mut self) {
        self.levels.clear();
        let mut nodes = self.recency.latest.len();
        while nodes > 1 {
            nodes = nodes.div_ceil(CHILDREN);
            self.levels.push(vec![[0; CHILDREN]; nodes]);
        }
        for time in (64..=self.recency.now).step_by(64) {
            self.begin_word(time, time - 1);
        }
    }
}

/// LRU at every size.
pub(super) struct EverySize {
    distances: Distances,
    /// Accesses by distance.
    counts: Vec<u64>,
    sizes: Vec<u32>,
}

impl EverySize {
    /// `sizes`: those that [`Simulate::misses`] is about.
    pub(super) fn new(sizes: &[u32]) -> Self {
        Self { distances: Distances::new(), counts: Vec::new(), sizes: sizes.to_vec() }
    }
}

impl Simulate for EverySize {
    fn access(&mut self, pages: &[u32], seen: u32) {
        self.distances.make_room(seen);
        self.counts.resize(seen as usize, 0);
        for page in pages {
            if let Some(others) = self.distances.access(*page) {
                self.counts[others as usize] += 1;
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
