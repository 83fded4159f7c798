//! The capacities at which a replay is evaluated.

use pagetide_types::{Bytes, UnitSize};

/// Most steps of a grid; larger footprints get coarser steps.
pub(crate) const MAX_STEPS: u64 = 1 << 16;

/// Maps the end of a unit in the order (in base pages from its start) to the first bin of
/// capacities at which the unit is fast. Bins ascend with capacity.
pub(crate) trait Cuts: Copy + Send + Sync {
    /// The first bin at which what ends after `end` pages is fast.
    fn bin(self, end: u64) -> u32;

    /// The capacity that a policy is shown which needs one.
    fn capacity(self) -> Bytes;
}

/// All capacities from 0 to the footprint in equal steps: the unit size, doubled until at most
/// [`MAX_STEPS`] remain. Bin `i` is the capacity `i x step`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Grid {
    /// log2 of the step in base pages.
    shift: u32,
    /// Capacities.
    pub(crate) len: usize,
}

impl Grid {
    pub(crate) fn new(unit: UnitSize, footprint: Bytes) -> Self {
        let pages = footprint.0.div_ceil(4096);
        let mut shift = unit.shift() - 12;
        while pages.div_ceil(1 << shift) > MAX_STEPS {
            shift += 1;
        }
        let steps = usize::try_from(pages.div_ceil(1 << shift)).unwrap_or(usize::MAX - 1);
        Self { shift, len: steps + 1 }
    }

    pub(crate) fn step(self) -> Bytes {
        Bytes(4096 << self.shift)
    }
}

impl Cuts for Grid {
    #[expect(clippy::cast_possible_truncation, reason = "at most MAX_STEPS")]
    fn bin(self, end: u64) -> u32 {
        ((end + (1 << self.shift) - 1) >> self.shift) as u32
    }

    /// The largest.
    fn capacity(self) -> Bytes {
        Bytes(self.step().0 * (self.len as u64 - 1))
    }
}

/// One capacity; bin 0 is fast, bin 1 is slow.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OneCut {
    /// The capacity in base pages.
    pub(crate) pages: u64,
}

impl Cuts for OneCut {
    fn bin(self, end: u64) -> u32 {
        u32::from(end > self.pages)
    }

    fn capacity(self) -> Bytes {
        Bytes(self.pages << 12)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_step_is_the_unit_until_there_are_too_many() {
        let grid = Grid::new(UnitSize::Huge, Bytes::gib(128));
        assert_eq!((grid.step(), grid.len), (Bytes::mib(2), 65_537));
        let grid = Grid::new(UnitSize::Huge, Bytes(Bytes::gib(128).0 + 1));
        assert_eq!((grid.step(), grid.len), (Bytes::mib(4), 32_770));
        let grid = Grid::new(UnitSize::Base, Bytes::kib(12));
        assert_eq!((grid.step(), grid.len), (Bytes::kib(4), 4));
        assert_eq!(Grid::new(UnitSize::Huge, Bytes(0)).len, 1);
    }

    #[test]
    fn a_unit_is_fast_from_the_first_capacity_that_holds_its_end() {
        let grid = Grid::new(UnitSize::Huge, Bytes::gib(1));
        assert_eq!([1, 512, 513, 1024].map(|end| grid.bin(end)), [1, 1, 2, 2]);
        let one = OneCut { pages: 10 };
        assert_eq!([9, 10, 11].map(|end| one.bin(end)), [0, 0, 1]);
    }
}
