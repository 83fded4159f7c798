//! Memory in which hardly any large block is free, as the paper's kernel-level workload leaves it (section 5.2):
//! all of it is allocated in single frames, and some are freed again, anywhere.

use super::{Buddy, Frame, MAX_ORDER, PAGEBLOCK_ORDER};
use pagetide_access::generators::{Rng, threshold};

/// What is fragmented, and how.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fragmented {
    /// Blocks of 4 MiB.
    pub blocks: usize,
    /// How many of them, at the right end, were never used; the rest is as follows.
    pub unused: usize,
    /// Part of the frames that is free.
    pub free: f64,
    /// How much pageblocks differ in what of them is free: 0, not at all; 1, from none or all to twice the distance
    /// from there to `free`, each share as likely as any other.
    pub uneven: f64,
    /// Part of the pageblocks that holds unmovable pages.
    pub unmovable_blocks: f64,
    /// How many unmovable pages each of those holds.
    pub unmovable_pages: usize,
    /// The same seed, the same memory.
    pub seed: u64,
}

impl Default for Fragmented {
    /// 4 MiB, half of it free, nothing unmovable.
    fn default() -> Self {
        Self {
            blocks: 1,
            unused: 0,
            free: 0.5,
            uneven: 0.0,
            unmovable_blocks: 0.0,
            unmovable_pages: 1,
            seed: 1,
        }
    }
}

/// Memory that is fragmented so.
#[must_use]
pub fn fragmented(how: Fragmented) -> Buddy {
    let mut memory = Buddy::new(how.blocks);
    let mut chance = Rng::new(how.seed, 0);
    let unmovable = threshold(how.unmovable_blocks);
    let most = how.uneven * how.free.min(1.0 - how.free);
    let used = how.blocks.saturating_sub(how.unused) << MAX_ORDER;
    for head in (0..used).step_by(1 << PAGEBLOCK_ORDER) {
        let fixed = if chance.word() < unmovable { how.unmovable_pages } else { 0 };
        for _ in 0..fixed {
            let at = usize::try_from(chance.below(1 << PAGEBLOCK_ORDER)).unwrap_or(0);
            memory.take(head + at, Frame::Unmovable);
        }
        let free = threshold(how.free + most * between(&mut chance));
        for at in head..head + (1 << PAGEBLOCK_ORDER) {
            if chance.word() >= free {
                memory.take(at, Frame::Movable);
            }
        }
    }
    memory
}

/// From -1 to 1.
fn between(chance: &mut Rng) -> f64 {
    const STEPS: u64 = 1 << 20;
    let of = chance.below(STEPS + 1) as f64 / STEPS as f64;
    2.0 * of - 1.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn free_of_pageblocks(memory: &Buddy) -> Vec<usize> {
        let free =
            |head| memory.block(head, 9).iter().filter(|frame| **frame == Frame::Free).count();
        (0..memory.len()).step_by(512).map(free).collect()
    }

    #[test]
    fn half_of_memory_is_free_and_no_large_block() {
        let how = Fragmented {
            blocks: 64,
            unmovable_blocks: 0.25,
            unmovable_pages: 2,
            ..Fragmented::default()
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
        let half = fragmented(Fragmented { unused: 32, ..how });
        assert_eq!(half.free_blocks(MAX_ORDER), 32);
    }

    #[test]
    fn uneven_memory_has_nearly_full_and_nearly_empty_blocks_and_as_much_free() {
        let how = Fragmented { blocks: 256, ..Fragmented::default() };
        let even = free_of_pageblocks(&fragmented(how));
        let memory = fragmented(Fragmented { uneven: 1.0, ..how });
        let uneven = free_of_pageblocks(&memory);
        let ends = |of: &[usize]| (of.iter().min().copied(), of.iter().max().copied());
        let ((least, most), (low, high)) = (ends(&even), ends(&uneven));
        assert!(least > Some(190) && most < Some(320), "{least:?} {most:?}");
        assert!(low < Some(20) && high > Some(490), "{low:?} {high:?}");
        let free = memory.free_frames() * 100 / memory.len();
        assert!((46..=54).contains(&free), "{free} %");
    }
}
