//! NOMAD's shadows (OSDI 2024, page shadowing): the old frame of a page that was promoted stays on the
//! slow node as long as the page is not written to, so that demoting it takes no copy.
//!
//! Simpler than NOMAD, where the page is write-protected and the first write faults and frees its
//! shadow: here the write shows by the dirty bit, later. The fault that it would have been takes time
//! from one of the tenant's threads then.

use super::FirstTouch;
use crate::engine::{World, bit};
use std::collections::BTreeMap;
use std::ops::Range;

/// The node that they are on.
const SLOW: usize = 1;

/// See the module.
#[derive(Clone, Debug, Default)]
pub struct Shadows {
    /// By the first of the promoted base pages, how many there are.
    linked: BTreeMap<usize, usize>,
    write_fault_ns: f64,
}

impl Shadows {
    /// None yet; the first write to a page that has one takes so long.
    #[must_use]
    pub fn new(write_fault_ns: f64) -> Self {
        Self { linked: BTreeMap::new(), write_fault_ns }
    }

    /// A page was promoted, and is clean: its old frame stays.
    pub fn link(&mut self, pages: Range<usize>, memory: &mut FirstTouch) {
        if memory.nodes_mut().allocate_on(SLOW, pages.len() as u64) {
            self.linked.insert(pages.start, pages.len());
        }
    }

    /// A page is to be demoted: whether its contents are on the slow node already. Its shadow is none
    /// any more.
    pub fn take(&mut self, first: usize, memory: &mut FirstTouch, world: &mut World) -> bool {
        let Some(pages) = self.linked.remove(&first) else { return false };
        memory.nodes_mut().free(SLOW, pages as u64);
        let written = is_written(first..first + pages, world);
        if written {
            world.cores.task_work(memory.owner(first), self.write_fault_ns);
        }
        !written
    }

    /// Frees those of pages that were written to since they were promoted.
    pub fn free_written(&mut self, memory: &mut FirstTouch, world: &mut World) {
        let written = |(first, pages): (&usize, &usize)| {
            is_written(*first..first + pages, world).then_some(*first)
        };
        let written: Vec<usize> = self.linked.iter().filter_map(written).collect();
        for first in written {
            self.take(first, memory, world);
        }
    }

    /// Frees some while the slow node has less free memory than its high mark, if it has fallen below
    /// its low one.
    pub fn reclaim(&mut self, memory: &mut FirstTouch) {
        let node = memory.nodes().node(SLOW);
        if node.free >= node.marks.low {
            return;
        }
        while memory.nodes().node(SLOW).free < memory.nodes().node(SLOW).marks.high
            && let Some((_, pages)) = self.linked.pop_first()
        {
            memory.nodes_mut().free(SLOW, pages as u64);
        }
    }

    /// Pages that have one.
    #[must_use]
    pub fn len(&self) -> usize {
        self.linked.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.linked.is_empty()
    }
}

fn is_written(mut pages: Range<usize>, world: &World) -> bool {
    pages.any(|page| world.pages.entry(page) & bit::DIRTY != 0)
}

#[cfg(test)]
mod tests {
    use super::super::{Nodes, Share};
    use super::*;
    use crate::engine::Pages;
    use pagetide_machine::{Kernel, Machine};

    /// So many fast pages with shadows on a slow node of a thousand.
    fn linked(count: usize) -> (Shadows, FirstTouch, World) {
        let share = Share { pages: 0..512, capacity: 512, fast: 512, huge: false };
        let mut memory =
            FirstTouch::new(Nodes::new(&[512, 1000], 10), vec![share], Kernel::default());
        let world = World::new(&Machine::load("cxl").unwrap(), Pages::all_in(0, 512 << 12));
        let mut shadows = Shadows::new(4_500.0);
        (0..count).for_each(|page| shadows.link(page..page + 1, &mut memory));
        (shadows, memory, world)
    }

    fn free(memory: &FirstTouch) -> u64 {
        memory.nodes().node(SLOW).free
    }

    #[test]
    fn a_shadow_takes_slow_memory_until_its_page_is_demoted_or_written_to() {
        let (mut shadows, mut memory, mut world) = linked(10);
        let core = world.cores.seat(0);
        assert_eq!((shadows.len(), free(&memory)), (10, 990));
        assert!(shadows.take(3, &mut memory, &mut world), "as it was");
        assert!(!shadows.take(3, &mut memory, &mut world), "once");
        world.pages.set(4, bit::DIRTY);
        assert!(!shadows.take(4, &mut memory, &mut world), "it is out of date");
        world.pages.set(5, bit::DIRTY);
        world.pages.set(300, bit::DIRTY);
        shadows.free_written(&mut memory, &mut world);
        assert_eq!((shadows.len(), free(&memory)), (7, 993));
        // Two first writes have faulted.
        assert_eq!((core, world.cores.stolen_ns()), (0, 9_000.0));
    }

    #[test]
    fn shadows_go_first_when_the_slow_node_runs_short() {
        let (mut shadows, mut memory, _) = linked(200);
        let marks = memory.nodes().node(SLOW).marks;
        shadows.reclaim(&mut memory);
        assert_eq!(shadows.len(), 200, "there is room");
        assert!(memory.nodes_mut().allocate_on(SLOW, 800 - marks.low + 1));
        shadows.reclaim(&mut memory);
        assert_eq!(free(&memory), marks.high);
        assert_eq!(shadows.len() as u64, 200 - (marks.high - marks.low + 1));
    }
}
