//! A unit in an order, packed into one word so that a look-up costs one cache line: its key, its
//! size, whether it is one huge page, and the first cell of capacities at which it is fast.

/// Key (32 bits), one huge page (1 bit), size in base pages (14 bits), cell (17 bits).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Place(u64);

const CELL_BITS: u32 = 17;
const CELL: u64 = (1 << CELL_BITS) - 1;
/// Largest size, in base pages.
pub(crate) const MAX_PAGES: u16 = (1 << 14) - 1;
const HUGE: u64 = 1 << 31;

impl Place {
    /// A unit of `pages`, at most [`MAX_PAGES`]; no cell and no key yet.
    pub(crate) fn new(pages: u16) -> Self {
        Self(u64::from(pages) << CELL_BITS)
    }

    /// The same, moved whole as one huge page or not.
    pub(crate) fn with_huge(self, huge: bool) -> Self {
        Self(self.0 & !HUGE | if huge { HUGE } else { 0 })
    }

    pub(crate) fn huge(self) -> bool {
        self.0 & HUGE != 0
    }

    pub(crate) fn key(self) -> u32 {
        (self.0 >> 32) as u32
    }

    pub(crate) fn set_key(&mut self, key: u32) {
        self.0 = self.0 & u64::from(u32::MAX) | u64::from(key) << 32;
    }

    #[expect(clippy::cast_possible_truncation, reason = "14 bits")]
    pub(crate) fn pages(self) -> u16 {
        (self.0 >> CELL_BITS) as u16 & MAX_PAGES
    }

    pub(crate) fn cell(self) -> u32 {
        (self.0 & CELL) as u32
    }

    /// Changes the cell, and returns the one before.
    pub(crate) fn replace_cell(&mut self, cell: u32) -> u32 {
        let old = self.cell();
        self.0 = self.0 & !CELL | u64::from(cell);
        old
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::MAX_STEPS;
    use proptest::prelude::*;

    /// Every cell has room.
    const _: () = assert!(MAX_STEPS <= CELL);

    proptest! {
        #[test]
        fn the_parts_do_not_touch_each_other(
            key in any::<[u32; 2]>(),
            pages in 0..=MAX_PAGES,
            huge in any::<bool>(),
            cell in proptest::array::uniform2(0u32..1 << CELL_BITS),
        ) {
            let mut place = Place::new(pages).with_huge(huge);
            prop_assert_eq!(place.replace_cell(cell[0]), 0);
            place.set_key(key[0]);
            prop_assert_eq!(place.replace_cell(cell[1]), cell[0]);
            prop_assert_eq!((place.key(), place.pages(), place.cell()), (key[0], pages, cell[1]));
            place.set_key(key[1]);
            prop_assert_eq!((place.key(), place.pages(), place.cell()), (key[1], pages, cell[1]));
            prop_assert_eq!(place.huge(), huge);
            prop_assert!(!place.with_huge(false).huge());
        }
    }
}
