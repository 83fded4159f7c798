//! A unit in an order, packed into one word, so that all that is known of it travels with it when
//! the order changes: its row, its size, whether it is one huge page, and the first bin of
//! capacities at which it is fast. Or a hole that a unit left.

/// Row (28 bits), bin (17 bits), size in base pages (14 bits), whether it moves whole as one huge
/// page (1 bit); or the top bit and the pages of a hole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Entry(u64);

const ROW_BITS: u32 = 28;
const BIN_BITS: u32 = 17;
const PAGES_BITS: u32 = 14;
const BIN: u64 = ((1 << BIN_BITS) - 1) << ROW_BITS;
const HUGE: u64 = 1 << (ROW_BITS + BIN_BITS + PAGES_BITS);
const HOLE: u64 = 1 << 63;
/// Most units that can be told apart.
pub(crate) const MAX_UNITS: usize = 1 << ROW_BITS;
/// Largest size, in base pages.
pub(crate) const MAX_PAGES: u16 = (1 << PAGES_BITS) - 1;

impl Entry {
    /// The largest bin.
    pub(crate) const LAST_BIN: u32 = (1 << BIN_BITS) - 1;

    /// The unit of a row below [`MAX_UNITS`] with at most [`MAX_PAGES`], moved whole as one `huge`
    /// page or not; no bin yet.
    pub(crate) fn unit(row: u32, pages: u16, huge: bool) -> Self {
        let size = u64::from(pages) << (ROW_BITS + BIN_BITS);
        Self(u64::from(row) | size | if huge { HUGE } else { 0 })
    }

    /// A hole of so many base pages.
    pub(crate) fn hole(pages: u64) -> Self {
        Self(HOLE | pages)
    }

    #[inline]
    pub(crate) fn is_hole(self) -> bool {
        self.0 & HOLE != 0
    }

    /// Of a unit.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "28 bits")]
    pub(crate) fn row(self) -> u32 {
        self.0 as u32 & ((1 << ROW_BITS) - 1)
    }

    /// Of a unit or a hole.
    #[inline]
    pub(crate) fn pages(self) -> u64 {
        if self.is_hole() { self.0 & !HOLE } else { (self.0 & !HUGE) >> (ROW_BITS + BIN_BITS) }
    }

    /// Of a unit.
    #[inline]
    pub(crate) fn huge(self) -> bool {
        self.0 & HUGE != 0
    }

    /// Of a unit.
    #[inline]
    pub(crate) fn bin(self) -> u32 {
        ((self.0 & BIN) >> ROW_BITS) as u32
    }

    /// Changes the bin of a unit, and returns the one before.
    #[inline]
    pub(crate) fn replace_bin(&mut self, bin: u32) -> u32 {
        let old = self.bin();
        self.0 = self.0 & !BIN | u64::from(bin) << ROW_BITS;
        old
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::curves::grid::MAX_STEPS;
    use proptest::prelude::*;

    /// Every bin has room, and the parts leave the top bit free.
    const _: () = assert!(MAX_STEPS < Entry::LAST_BIN as u64);
    const _: () = assert!(ROW_BITS + BIN_BITS + PAGES_BITS + 1 < 64);

    proptest! {
        #[test]
        fn the_parts_do_not_touch_each_other(
            row in 0u32..1 << ROW_BITS,
            pages in 0..=MAX_PAGES,
            huge in any::<bool>(),
            bins in proptest::array::uniform2(0u32..1 << BIN_BITS),
            room in 0u64..1 << 40,
        ) {
            let mut unit = Entry::unit(row, pages, huge);
            prop_assert_eq!(unit.replace_bin(bins[0]), 0);
            prop_assert_eq!(unit.replace_bin(bins[1]), bins[0]);
            let parts = (unit.row(), unit.pages(), unit.bin(), unit.is_hole());
            prop_assert_eq!(parts, (row, u64::from(pages), bins[1], false));
            prop_assert_eq!(unit.huge(), huge);
            prop_assert!(Entry::hole(room).is_hole());
            prop_assert_eq!(Entry::hole(room).pages(), room);
        }
    }
}
