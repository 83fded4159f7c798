//! Memory in which hardly any large block is free, as the paper's kernel-level workload leaves it (section 5.2):
//! all of it is allocated in single frames, and some are freed again, anywhere.

use super::{Buddy, Frame, PAGEBLOCK_ORDER};
use pagetide_access::generators::{Rng, threshold};

/// What is fragmented, and how.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fragmented {
    /// Blocks of 4 MiB.
    pub blocks: usize,
    /// Part of the frames that is free.
    pub free: f64,
    /// Part of the pageblocks that holds unmovable pages.
    pub unmovable_blocks: f64,
    /// How many unmovable pages each of those holds.
    pub unmovable_pages: usize,
    /// The same seed, the same memory.
    pub seed: u64,
}

/// Memory that is fragmented so.
#[must_use]
pub fn fragmented(how: Fragmented) -> Buddy {
    let mut memory = Buddy::new(how.blocks);
    let mut chance = Rng::new(how.seed, 0);
    let (free, unmovable) = (threshold(how.free), threshold(how.unmovable_blocks));
    for head in (0..memory.len()).step_by(1 << PAGEBLOCK_ORDER) {
        let fixed = if chance.word() < unmovable { how.unmovable_pages } else { 0 };
        for _ in 0..fixed {
            let at = usize::try_from(chance.below(1 << PAGEBLOCK_ORDER)).unwrap_or(0);
            memory.take(head + at, Frame::Unmovable);
        }
        for at in head..head + (1 << PAGEBLOCK_ORDER) {
            if chance.word() >= free {
                memory.take(at, Frame::Movable);
            }
        }
    }
    memory
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_memory_is_free_and_no_large_block() {
        let how = Fragmented {
            blocks: 64,
            free: 0.5,
            unmovable_blocks: 0.25,
            unmovable_pages: 2,
            seed: 1,
        };
        let memory = fragmented(how);
        assert_eq!(memory.free_pageblocks(), 0);
        let free = memory.free_frames() * 100 / memory.len();
        assert!((48..=51).contains(&free), "{free} %");
        let fixed = (0..memory.len())
            .step_by(512)
            .filter(|head| memory.block(*head, 9).contains(&Frame::Unmovable))
            .count();
        assert!((20..=44).contains(&fixed), "{fixed} of 128");
        assert_eq!(fragmented(how).free_frames(), memory.free_frames());
    }
}
