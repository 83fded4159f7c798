//! First touch: new memory is fast while the node has some above its low mark and the tenant may have
//! more, otherwise slow; nothing is evicted for it (Nimble, section 3.2). Memory may come in huge
//! pages, as Linux gives them where a whole block of 2 MiB is free.

use super::{Nodes, Watermarks};
use crate::engine::{Fault, HUGE_PAGES, World};
use pagetide_machine::Kernel;
use std::ops::Range;

/// A tenant's memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Share {
    /// Its base pages.
    pub pages: Range<usize>,
    /// Those of them that may be fast at a time.
    pub capacity: u64,
    /// Those that are.
    pub fast: u64,
    /// Blocks that lie wholly within come in huge pages.
    pub huge: bool,
}

/// See the module.
#[derive(Clone, Debug)]
pub struct FirstTouch {
    nodes: Nodes,
    shares: Vec<Share>,
    costs: Kernel,
}

impl FirstTouch {
    /// On these nodes, the fast one first; the tenants' pages in order of their numbers.
    #[must_use]
    pub fn new(nodes: Nodes, shares: Vec<Share>, costs: Kernel) -> Self {
        Self { nodes, shares, costs }
    }

    /// A tenant's memory.
    #[must_use]
    pub fn share(&self, tenant: usize) -> &Share {
        &self.shares[tenant]
    }

    /// The tenant whose page it is.
    #[must_use]
    pub fn owner(&self, page: usize) -> usize {
        self.shares.partition_point(|share| share.pages.start <= page).saturating_sub(1)
    }

    /// The nodes.
    #[must_use]
    pub fn nodes(&self) -> &Nodes {
        &self.nodes
    }

    /// The same, to take and give memory that is no tenant's.
    pub fn nodes_mut(&mut self) -> &mut Nodes {
        &mut self.nodes
    }

    /// Sets a node's marks.
    pub fn set_marks(&mut self, node: usize, marks: Watermarks) {
        self.nodes.set_marks(node, marks);
    }

    /// Maps what a fault found absent, in the fast tier if there is room; when its thread goes on,
    /// ns.
    pub fn map(&mut self, fault: &Fault, world: &mut World) -> f64 {
        let pages = if self.is_huge(fault, world) { HUGE_PAGES as u64 } else { 1 };
        let share = &self.shares[fault.tenant];
        let fast = if share.fast + pages <= share.capacity {
            self.nodes.allocate(pages) == Some(0)
        } else {
            self.nodes.allocate_on(1, pages);
            false
        };
        self.map_in(fault, u8::from(!fast), world)
    }

    /// Maps it in a tier, whatever the tenant may have.
    pub fn map_in(&mut self, fault: &Fault, tier: u8, world: &mut World) -> f64 {
        let huge = self.is_huge(fault, world);
        let share = &mut self.shares[fault.tenant];
        share.fast += if tier > 0 {
            0
        } else if huge {
            HUGE_PAGES as u64
        } else {
            1
        };
        let us = if huge {
            world.pages.put_huge(fault.page, tier);
            self.costs.first_touch_2m_us
        } else {
            world.pages.put(fault.page, tier);
            self.costs.first_touch_4k_us
        };
        fault.now_ns + us * 1e3
    }

    fn is_huge(&self, fault: &Fault, world: &World) -> bool {
        let share = &self.shares[fault.tenant];
        let block = world.pages.block(fault.page);
        share.huge
            && block.len() == HUGE_PAGES
            && share.pages.start <= block.start
            && block.end <= share.pages.end
    }

    /// Takes note of what was moved.
    pub fn moved(&mut self, tenant: usize, pages: u64, up: bool) {
        let share = &mut self.shares[tenant];
        if up {
            share.fast += pages;
            self.nodes.allocate_on(0, pages);
            self.nodes.free(1, pages);
        } else {
            share.fast = share.fast.saturating_sub(pages);
            self.nodes.free(0, pages);
            self.nodes.allocate_on(1, pages);
        }
    }
}
