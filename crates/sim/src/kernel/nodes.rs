//! Nodes of memory: how much they hold, and the marks of free memory between which a kernel reclaims
//! (`__setup_per_zone_wmarks` of Linux's mm/page_alloc.c; of its zones a node has one).

/// Free pages of a node at which the kernel does something.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Watermarks {
    /// Below this nothing is allocated.
    pub min: u64,
    /// An allocation that would go below this looks elsewhere first.
    pub low: u64,
    /// As far above `low` as that is above `min`.
    pub high: u64,
    /// Below this the reclaim thread wakes up: `low`, unless something raises it.
    pub wake: u64,
    /// At this it goes to sleep again: `high`, unless something raises it.
    pub sleep: u64,
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
        let (low, high) = (min + step, min + 2 * step);
        Self { min, low, high, wake: low, sleep: high }
    }

    /// Free memory up to which Linux promotes, as far above `high` as that is above `low`
    /// (`WMARK_PROMO`, since 5.18; in its tiering mode the reclaim thread works up to it).
    #[must_use]
    pub fn promo(&self) -> u64 {
        self.high + (self.high - self.low)
    }

    /// The same with TPP's mark for demotion: `scale` parts in 10,000 of a node of so many pages
    /// (`demote_scale_factor`), twice `high` at least. Reclaim begins and ends there; allocations
    /// still look at `low`.
    #[must_use]
    pub fn demoting_early(self, pages: u64, scale: u64) -> Self {
        let demote = (pages * scale / 10_000).max(2 * self.high);
        Self { wake: demote, sleep: demote, ..self }
    }

    /// Those of a machine that is smaller by a factor: Linux's are not linear in its size.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "below 2^32 pages")]
    pub fn scaled_down(self, by: f64) -> Self {
        let part = |pages: u64| (pages as f64 / by).round() as u64;
        let Self { min, low, high, wake, sleep } = self;
        Self {
            min: part(min),
            low: part(low),
            high: part(high),
            wake: part(wake),
            sleep: part(sleep),
        }
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
        let node = &mut self.nodes[node];
        node.free = (node.free + pages).min(node.pages);
    }

    /// Pages that a node must still reclaim until its thread may sleep; 0 while it sleeps. `asked`:
    /// pages of the largest allocation that found no room since it slept last, of which one must fit
    /// above its mark (`pgdat_balanced`); 0 if none did.
    #[must_use]
    pub fn to_reclaim(&self, node: usize, asked: u64) -> u64 {
        let Node { free, marks, .. } = self.nodes[node];
        let awake = free < marks.wake || asked > 0;
        if awake { (marks.sleep + asked.max(1) - 1).saturating_sub(free) } else { 0 }
    }

    /// Whether so many pages may be migrated to a node: it stays above its high mark
    /// (`migrate_balanced_pgdat`).
    #[must_use]
    pub fn migrate_balanced(&self, node: usize, pages: u64) -> bool {
        self.nodes[node].free >= self.nodes[node].marks.high + pages
    }

    /// Whether a node has so much free memory that promotion need not choose: a sixteenth of it, or a
    /// gibibyte of the machine that is modelled, above the mark up to which Linux promotes
    /// (`pgdat_free_space_enough`).
    #[must_use]
    pub fn free_space_enough(&self, node: usize, scale: f64) -> bool {
        let Node { pages, free, marks } = self.nodes[node];
        let gib = f64::from(1 << 18) / scale;
        free as f64 >= marks.promo() as f64 + gib.max((pages / 16) as f64)
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
        assert_eq!(nodes.to_reclaim(0, 0), 0);
        assert_eq!(nodes.to_reclaim(0, 1), high - low, "an allocation went elsewhere");
        assert_eq!(nodes.to_reclaim(0, 512), high - low + 511, "a huge one");
        assert!(nodes.allocate_on(0, 1));
        assert_eq!(nodes.to_reclaim(0, 0), high - low + 1);
        nodes.free(0, 2);
        assert_eq!(nodes.to_reclaim(0, 0), 0, "it would sleep");
        assert_eq!(nodes.to_reclaim(0, 1), high - low - 1, "but it is awake");
        assert!(!nodes.allocate_on(0, 1000));
    }

    #[test]
    fn promotion_needs_room_above_the_high_mark_and_chooses_unless_there_is_plenty() {
        let mut nodes = Nodes::new(&[32 * GIB], 10);
        let marks = nodes.node(0).marks;
        let enough = marks.promo() + 2 * GIB;
        assert!(nodes.allocate_on(0, 32 * GIB - enough));
        assert!(nodes.free_space_enough(0, 1.0), "a sixteenth is more than a gibibyte");
        assert!(nodes.allocate_on(0, 1));
        assert!(!nodes.free_space_enough(0, 1.0));
        assert!(nodes.allocate_on(0, enough - 1 - marks.high - 512));
        assert!(nodes.migrate_balanced(0, 512) && !nodes.migrate_balanced(0, 513));
        // Of a machine a hundred times as large a gibibyte is as much less here.
        let small = Nodes::new(&[GIB / 100], 10);
        assert!(!small.free_space_enough(0, 1.0) && !small.free_space_enough(0, 100.0));
        assert!(small.free_space_enough(0, 120.0));
    }

    #[test]
    fn demotion_may_begin_long_before_allocations_look_elsewhere() {
        let linux = Watermarks::of(1 << 20, 1 << 20, 10);
        assert_eq!((linux.wake, linux.sleep), (linux.low, linux.high));
        assert_eq!(linux.promo() - linux.high, linux.high - linux.low);
        // 2 % of the node; and of one so small that its marks are more, twice the high one.
        let tpp = linux.demoting_early(1 << 20, 200);
        assert_eq!((tpp.wake, tpp.sleep, tpp.low), ((1 << 20) / 50, (1 << 20) / 50, linux.low));
        let small = Watermarks::of(1000, 1000, 10).demoting_early(1000, 200);
        assert_eq!(small.sleep, (2 * small.high).max(20));
        assert!(linux.scaled_down(4.0).high.abs_diff(linux.high / 4) <= 1);
    }
}
