//! Nodes of memory: how much they hold, and the marks of free memory between which a kernel reclaims
//! (`__setup_per_zone_wmarks` of Linux's mm/page_alloc.c).

/// Free pages of a node at which the kernel does something.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Watermarks {
    /// Below this allocations look elsewhere.
    pub min: u64,
    /// Below this the reclaim thread wakes up.
    pub low: u64,
    /// At this it goes to sleep again.
    pub high: u64,
}

impl Watermarks {
    /// Those of a node of so many pages, of a machine with so many: `min` as from `min_free_kbytes`
    /// (four times the root of the machine's kilobytes, 128 KiB to 256 MiB, by size), the
    /// others further apart by `scale` parts in 10,000 of the node (`watermark_scale_factor`),
    /// a quarter of `min` at least.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "below 2^32 pages")]
    pub fn of(pages: u64, of_machine: u64, scale: u64) -> Self {
        let kib = (16.0 * (of_machine * 4) as f64).sqrt().clamp(128.0, 262_144.0) as u64;
        let min = (kib / 4) * pages / of_machine.max(1);
        let step = (min / 4).max(pages * scale / 10_000);
        Self { min, low: min + step, high: min + 2 * step }
    }
}

/// One node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Node {
    /// Base pages.
    pub pages: u64,
    /// Of them, free ones.
    pub free: u64,
    /// See [`Watermarks`].
    pub marks: Watermarks,
}

/// All nodes, in the order in which an allocation tries them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Nodes {
    nodes: Vec<Node>,
}

impl Nodes {
    /// Empty nodes of so many pages, fastest first; `scale` as in [`Watermarks::of`].
    #[must_use]
    pub fn new(pages: &[u64], scale: u64) -> Self {
        let all = pages.iter().sum();
        let node = |pages: &u64| Node {
            pages: *pages,
            free: *pages,
            marks: Watermarks::of(*pages, all, scale),
        };
        Self { nodes: pages.iter().map(node).collect() }
    }

    /// The node that a new page of so many base pages comes from: the first one that stays above
    /// its low mark, else the first that stays above its minimum; none where memory is out.
    pub fn allocate(&mut self, pages: u64) -> Option<usize> {
        let above = |mark: fn(&Watermarks) -> u64| {
            self.nodes.iter().position(|node| node.free >= pages + mark(&node.marks))
        };
        let node = above(|marks| marks.low).or_else(|| above(|marks| marks.min))?;
        self.nodes[node].free -= pages;
        Some(node)
    }

    /// Takes pages of one node, whatever its marks; false if it has not so many.
    pub fn allocate_on(&mut self, node: usize, pages: u64) -> bool {
        let enough = self.nodes[node].free >= pages;
        if enough {
            self.nodes[node].free -= pages;
        }
        enough
    }

    /// Gives pages back.
    pub fn free(&mut self, node: usize, pages: u64) {
        self.nodes[node].free += pages;
    }

    /// Pages that a node must still reclaim until its thread may sleep; 0 while it sleeps.
    /// `awake`: it has not reached its high mark since it was woken.
    #[must_use]
    pub fn to_reclaim(&self, node: usize, awake: bool) -> u64 {
        let Node { free, marks, .. } = self.nodes[node];
        if free < marks.low || awake { marks.high.saturating_sub(free) } else { 0 }
    }

    /// A node.
    #[must_use]
    pub fn node(&self, node: usize) -> &Node {
        &self.nodes[node]
    }

    /// Sets a node's marks, as a system that demotes early raises them.
    pub fn set_marks(&mut self, node: usize, marks: Watermarks) {
        self.nodes[node].marks = marks;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GIB: u64 = 1 << 18;

    #[test]
    fn marks_are_those_of_linux() {
        // 24 GiB in one node, scale 10: min_free_kbytes = sqrt(16 x 25,165,824 KiB) = 20,066;
        // a thousandth of the node between the marks, for that is more than a quarter of min.
        let marks = Watermarks::of(24 * GIB, 24 * GIB, 10);
        assert_eq!(marks.min, 20_066 / 4);
        assert_eq!(marks.low - marks.min, 24 * GIB * 10 / 10_000);
        assert_eq!(marks.high - marks.low, marks.low - marks.min);
        // A third of the machine has a third of its minimum.
        assert_eq!(Watermarks::of(8 * GIB, 24 * GIB, 10).min, 20_066 / 4 / 3);
    }

    #[test]
    fn new_memory_is_fast_first_and_spills_before_the_fast_node_is_empty() {
        let mut nodes = Nodes::new(&[1000, 5000], 100);
        let marks = nodes.node(0).marks;
        let mut fast = 0;
        while nodes.allocate(1) == Some(0) {
            fast += 1;
        }
        assert_eq!(fast, 1000 - marks.low);
        assert_eq!(nodes.node(0).free, marks.low);
        // With both at their low marks it goes on to the minimum, of the fast node first.
        while nodes.node(1).free > nodes.node(1).marks.low {
            assert_eq!(nodes.allocate(1), Some(1));
        }
        assert_eq!(nodes.allocate(1), Some(0));
        let left =
            (nodes.node(0).free - marks.min) + (nodes.node(1).free - nodes.node(1).marks.min);
        for _ in 0..left {
            assert!(nodes.allocate(1).is_some());
        }
        assert_eq!(nodes.allocate(1), None, "out of memory");
    }

    #[test]
    fn the_reclaim_thread_works_from_the_low_mark_to_the_high_one() {
        let mut nodes = Nodes::new(&[1000], 100);
        let Watermarks { low, high, .. } = nodes.node(0).marks;
        assert!(nodes.allocate_on(0, 1000 - low));
        assert_eq!(nodes.to_reclaim(0, false), 0);
        assert!(nodes.allocate_on(0, 1));
        assert_eq!(nodes.to_reclaim(0, false), high - low + 1);
        nodes.free(0, 2);
        assert_eq!(nodes.to_reclaim(0, false), 0, "it would sleep");
        assert_eq!(nodes.to_reclaim(0, true), high - low - 1, "but it is awake");
        assert!(!nodes.allocate_on(0, 1000));
    }
}
