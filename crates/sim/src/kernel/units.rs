//! A tenant's memory in units: what is watched, ranked and moved as one, 2 MiB or 4 KiB.

use crate::engine::{HUGE_PAGES, World, bit};
use std::ops::Range;

/// See the module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Units {
    /// Its base pages; they begin at a multiple of 512.
    pages: Range<usize>,
    /// Base pages of a unit: 512 or 1.
    size: usize,
}

impl Units {
    /// Units of 2 MiB, or of 4 KiB.
    #[must_use]
    pub fn new(pages: Range<usize>, huge: bool) -> Self {
        Self { pages, size: if huge { HUGE_PAGES } else { 1 } }
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.pages.len().div_ceil(self.size)
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.pages.is_empty()
    }

    /// The base pages of a unit.
    #[must_use]
    pub fn range(&self, unit: usize) -> Range<usize> {
        let first = self.pages.start + unit * self.size;
        first..(first + self.size).min(self.pages.end)
    }

    /// The unit of a base page.
    #[must_use]
    pub fn of(&self, page: usize) -> usize {
        (page - self.pages.start) / self.size
    }

    /// Base pages of a unit that are mapped.
    #[must_use]
    pub fn mapped(&self, unit: usize, world: &World) -> usize {
        let pages = self.range(unit);
        if world.pages.entry(pages.start) & bit::HUGE != 0 {
            return pages.len();
        }
        pages.filter(|page| world.pages.entry(*page) & bit::ABSENT == 0).count()
    }
}
