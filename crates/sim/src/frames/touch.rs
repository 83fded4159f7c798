//! A program that touches new memory: a huge page where a block of 2 MiB is free, else base pages.

use super::{Buddy, Frame, PAGEBLOCK_ORDER};

/// What was touched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Touched {
    /// Huge pages.
    pub large: usize,
    /// Base pages.
    pub small: usize,
    /// How often a free block was halved.
    pub halved: usize,
}

/// Touches so many regions of 2 MiB, less where memory is full.
pub fn touch(memory: &mut Buddy, regions: usize) -> Touched {
    let mut touched = Touched::default();
    let mut take = |order: u32, count: &mut usize| {
        let taken = memory.allocate_block(order, Frame::Movable);
        *count += usize::from(taken.is_some());
        touched.halved += taken.map_or(0, |(_, halved)| halved as usize);
        taken.is_some()
    };
    let (mut large, mut small) = (0, 0);
    for _ in 0..regions {
        if !take(PAGEBLOCK_ORDER, &mut large) {
            for _ in 0..1 << PAGEBLOCK_ORDER {
                take(0, &mut small);
            }
        }
    }
    Touched { large, small, ..touched }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn huge_pages_as_long_as_blocks_are_free_then_base_pages() {
        let mut memory = Buddy::new(2);
        // The first 2 MiB cannot be a huge page any more.
        memory.take(7, Frame::Unmovable);
        let touched = touch(&mut memory, 4);
        // The block of 4 MiB is halved once; the rest of the first 2 MiB is 7 frames below and 504 above frame 7.
        assert_eq!((touched.large, touched.small), (3, 511));
        assert_eq!(memory.free_frames(), 0);
        assert!(touched.halved > 1);
        assert_eq!(touch(&mut memory, 1), Touched::default());
    }
}
