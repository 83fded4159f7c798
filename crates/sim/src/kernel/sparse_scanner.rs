//! Watches a process at little cost: of every 2 MiB the accessed bit of one entry is read and cleared
//! (`krestartd` of Adaptive, section 4.3). A huge page is such an entry.
//!
//! On a machine that is scaled down an entry stands for as much less memory, down to a base page. The
//! bits are those that reclaim looks at as well, so what is cleared here looks colder to it.

use crate::engine::{HUGE_PAGES, World, bit};
use pagetide_machine::Kernel;
use std::ops::Range;

/// What was seen, base pages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SparselySeen {
    /// Those of entries that were looked at.
    pub watched: u64,
    /// Of those, accessed ones.
    pub accessed: u64,
    /// Of those, fast ones.
    pub accessed_fast: u64,
    /// What is mapped, looked at or not; of what lies between two entries it is taken to be like the
    /// first.
    pub resident: u64,
}

/// See the module.
#[derive(Clone, Debug)]
pub struct SparseScanner {
    tenant: usize,
    pages: Range<usize>,
    stride: usize,
    scan_ns: f64,
    interrupt_ns: f64,
}

impl SparseScanner {
    /// One for a tenant's pages, on a machine that is so many times smaller than what is modelled.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "1 to 512")]
    pub fn new(tenant: usize, pages: Range<usize>, scale: f64, costs: &Kernel) -> Self {
        Self {
            tenant,
            pages,
            stride: ((HUGE_PAGES as f64 / scale) as usize).max(1),
            scan_ns: costs.scan_ns,
            interrupt_ns: costs.interrupt_us * 1e3,
        }
    }

    /// Looks at all of them once. It costs an entry for every 2 MiB, and one flush.
    pub fn scan(&self, now_ns: f64, world: &mut World) -> SparselySeen {
        let mut seen = SparselySeen::default();
        let mut page = self.pages.start;
        while page < self.pages.end {
            let mapped = world.pages.mapped_with(page);
            let next = mapped.end.max(page + self.stride).min(self.pages.end);
            if world.pages.entry(page) & bit::ABSENT == 0 {
                let size = mapped.len() as u64;
                let accessed = world.pages.clear_all(mapped, bit::ACCESSED) != 0;
                seen.watched += size;
                seen.accessed += if accessed { size } else { 0 };
                let fast = accessed && world.pages.tier(page) == 0;
                seen.accessed_fast += if fast { size } else { 0 };
                seen.resident += (next - page) as u64;
            }
            page = next;
        }
        let blocks = self.pages.len().div_ceil(HUGE_PAGES);
        world.cores.kernel(now_ns, blocks as f64 * self.scan_ns);
        world.cores.interrupt(self.tenant, self.interrupt_ns);
        world.cores.flush(self.tenant);
        seen
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Pages;
    use pagetide_machine::Machine;

    /// Two blocks of base pages, the second one fast; a huge page, slow; a block of which nothing is
    /// mapped.
    fn world() -> World {
        let mut pages = Pages::absent(4 << 21);
        (0..1024).for_each(|page| pages.put(page, u8::from(page < 512)));
        pages.put_huge(1024, 1);
        World::new(&Machine::load("cxl").unwrap(), pages)
    }

    fn scan(scale: f64, world: &mut World) -> SparselySeen {
        SparseScanner::new(0, 0..2048, scale, &Kernel::default()).scan(0.0, world)
    }

    #[test]
    fn one_entry_of_every_block_is_looked_at_and_cleared() {
        let mut world = world();
        for page in [0, 1, 512, 700, 1300] {
            world.pages.set(page, bit::ACCESSED);
        }
        let seen = scan(1.0, &mut world);
        let right = SparselySeen { watched: 514, accessed: 514, accessed_fast: 1, resident: 1536 };
        assert_eq!(seen, right);
        assert_eq!(scan(1.0, &mut world), SparselySeen { accessed: 0, accessed_fast: 0, ..right });
        assert!(world.pages.entry(1) & bit::ACCESSED != 0, "it was passed over");
        // An entry for each 2 MiB, twice.
        assert!((world.cores.kernel_ns() - 2.0 * 4.0 * 60.0).abs() < 1e-6);
    }

    #[test]
    fn scaled_down_it_looks_at_as_many_entries_and_takes_the_same_share_of_the_time() {
        let mut world = world();
        world.pages.set_all(0..600, bit::ACCESSED);
        let seen = scan(128.0, &mut world);
        assert_eq!((seen.watched, seen.accessed, seen.accessed_fast), (256 + 512, 150, 22));
        let all = scan(1024.0, &mut world);
        assert_eq!((all.watched, all.resident), (1024 + 512, 1536));
        assert!((world.cores.kernel_ns() - 2.0 * 4.0 * 60.0).abs() < 1e-6);
    }
}
