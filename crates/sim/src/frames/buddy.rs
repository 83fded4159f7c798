//! The buddy allocator (Linux, mm/page_alloc.c): free memory in aligned blocks of 2^order frames.
//!
//! The lowest block that fits is taken, as section 3.3 of the paper says of Linux; Linux itself takes the one that
//! was freed last, which after some time is anywhere.

use std::collections::BTreeSet;

/// The largest order: 4 MiB.
pub const MAX_ORDER: u32 = 10;
/// Order of a pageblock of Linux on x86-64: 2 MiB.
pub const PAGEBLOCK_ORDER: u32 = 9;

/// What a frame of 4 KiB holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Frame {
    /// Nothing.
    Free,
    /// A page that can be moved.
    Movable,
    /// A page that cannot.
    Unmovable,
}

/// No free block begins at this frame.
const NO_HEAD: u8 = u8::MAX;

/// All frames of a zone.
#[derive(Clone, Debug)]
pub struct Buddy {
    frames: Vec<Frame>,
    /// The order of the free block that begins at a frame, or [`NO_HEAD`].
    heads: Vec<u8>,
    /// Heads of free blocks, by order.
    free: Vec<BTreeSet<usize>>,
    /// Whether a pageblock is for movable pages (`MIGRATE_MOVABLE`).
    for_movable: Vec<bool>,
}

impl Buddy {
    /// A zone of so many blocks of the largest order, all free.
    #[must_use]
    pub fn new(blocks: usize) -> Self {
        let frames = blocks << MAX_ORDER;
        let mut memory = Self {
            frames: vec![Frame::Free; frames],
            heads: vec![NO_HEAD; frames],
            free: vec![BTreeSet::new(); MAX_ORDER as usize + 1],
            for_movable: vec![true; frames >> PAGEBLOCK_ORDER],
        };
        for block in 0..blocks {
            memory.add(block << MAX_ORDER, MAX_ORDER);
        }
        memory
    }

    /// How many frames there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.frames.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.frames.is_empty()
    }

    /// What a frame holds.
    ///
    /// # Panics
    /// Beyond the last frame.
    #[must_use]
    pub fn frame(&self, at: usize) -> Frame {
        self.frames[at]
    }

    /// The frames of an aligned block.
    ///
    /// # Panics
    /// Beyond the last frame.
    #[must_use]
    pub fn block(&self, head: usize, order: u32) -> &[Frame] {
        &self.frames[head..head + (1 << order)]
    }

    /// Free blocks of an order, as `/proc/buddyinfo` counts them.
    #[must_use]
    pub fn free_blocks(&self, order: u32) -> usize {
        self.free[order as usize].len()
    }

    /// Free memory in pieces of 2 MiB at least, in pieces of 2 MiB (section 5.2).
    #[must_use]
    pub fn free_pageblocks(&self) -> usize {
        (PAGEBLOCK_ORDER..=MAX_ORDER)
            .map(|order| self.free_blocks(order) << (order - PAGEBLOCK_ORDER))
            .sum()
    }

    /// Free frames.
    #[must_use]
    pub fn free_frames(&self) -> usize {
        (0..=MAX_ORDER).map(|order| self.free_blocks(order) << order).sum()
    }

    /// The order of the free block that a frame is in; none for a frame in use.
    #[must_use]
    pub fn free_order(&self, at: usize) -> Option<u32> {
        self.head_of(at).map(|(_, order)| order)
    }

    /// The order of the free block that begins at a frame; none if none does.
    #[must_use]
    pub fn free_head(&self, at: usize) -> Option<u32> {
        self.heads.get(at).filter(|order| **order != NO_HEAD).map(|order| u32::from(*order))
    }

    /// Whether a pageblock, by number, is for movable pages; all are at first.
    ///
    /// # Panics
    /// Beyond the last.
    #[must_use]
    pub fn is_for_movable(&self, pageblock: usize) -> bool {
        self.for_movable[pageblock]
    }

    /// Says whether a pageblock is for movable pages.
    ///
    /// # Panics
    /// Beyond the last.
    pub fn set_for_movable(&mut self, pageblock: usize, is: bool) {
        self.for_movable[pageblock] = is;
    }

    /// Takes the lowest free frame; none where memory is full.
    pub fn allocate(&mut self, what: Frame) -> Option<usize> {
        let lowest = self.free.iter().filter_map(|heads| heads.first()).min();
        let at = *lowest?;
        self.take(at, what);
        Some(at)
    }

    /// Takes a whole block of an order, the lowest of the smallest that fits: its head, and how often a larger one had
    /// to be halved. None: there is no such block.
    pub fn allocate_block(&mut self, order: u32, what: Frame) -> Option<(usize, u32)> {
        let found = (order..=MAX_ORDER).find(|order| self.free_blocks(*order) > 0)?;
        let head = *self.free[found as usize].first()?;
        self.remove(head, found);
        for smaller in (order..found).rev() {
            self.add(head + (1 << smaller), smaller);
        }
        self.frames[head..head + (1 << order)].fill(what);
        Some((head, found - order))
    }

    /// Takes a free frame; whether it was free.
    pub fn take(&mut self, at: usize, what: Frame) -> bool {
        let Some((mut head, mut order)) = self.head_of(at) else { return false };
        self.remove(head, order);
        // The halves without the frame stay free.
        while order > 0 {
            order -= 1;
            let upper = head + (1 << order);
            let other = if at >= upper { head } else { upper };
            self.add(other, order);
            head = if at >= upper { upper } else { head };
        }
        self.frames[at] = what;
        true
    }

    /// Gives a frame back; free neighbours become one block.
    pub fn release(&mut self, at: usize) {
        if self.frames[at] == Frame::Free {
            return;
        }
        self.frames[at] = Frame::Free;
        let (mut head, mut order) = (at, 0);
        while order < MAX_ORDER && self.free_head(head ^ (1 << order)) == Some(order) {
            self.remove(head ^ (1 << order), order);
            head &= !(1 << order);
            order += 1;
        }
        self.add(head, order);
    }

    fn add(&mut self, head: usize, order: u32) {
        // Orders are 10 at most.
        self.heads[head] = u8::try_from(order).unwrap_or(NO_HEAD);
        self.free[order as usize].insert(head);
    }

    fn remove(&mut self, head: usize, order: u32) {
        self.heads[head] = NO_HEAD;
        self.free[order as usize].remove(&head);
    }

    fn head_of(&self, at: usize) -> Option<(usize, u32)> {
        if self.frames.get(at) != Some(&Frame::Free) {
            return None;
        }
        (0..=MAX_ORDER)
            .map(|order| (at & !((1 << order) - 1), order))
            .find(|(head, order)| self.free_head(*head) == Some(*order))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn one_frame_splits_a_block_and_its_return_makes_it_whole() {
        let mut memory = Buddy::new(2);
        assert_eq!((memory.free_pageblocks(), memory.free_frames()), (4, 2048));
        assert_eq!(memory.allocate(Frame::Movable), Some(0));
        // One block of each order below is left of the first 4 MiB.
        for order in 0..MAX_ORDER {
            assert_eq!(memory.free_blocks(order), 1, "{order}");
        }
        assert_eq!((memory.free_pageblocks(), memory.free_frames()), (3, 2047));
        assert_eq!((memory.free_order(1), memory.free_order(0)), (Some(0), None));
        memory.release(0);
        assert_eq!((memory.free_pageblocks(), memory.free_blocks(MAX_ORDER)), (4, 2));
    }

    #[test]
    fn a_block_is_taken_whole_and_what_is_left_of_a_larger_one_stays_free() {
        let mut memory = Buddy::new(1);
        assert_eq!(memory.allocate_block(PAGEBLOCK_ORDER, Frame::Movable), Some((0, 1)));
        assert_eq!((memory.free_pageblocks(), memory.free_head(512)), (1, Some(9)));
        assert_eq!(memory.allocate_block(8, Frame::Movable), Some((512, 1)));
        assert_eq!(memory.allocate_block(PAGEBLOCK_ORDER, Frame::Movable), None);
        (0..768).for_each(|at| memory.release(at));
        assert_eq!(memory.free_blocks(MAX_ORDER), 1);
    }

    proptest! {
        /// However frames come and go: none is lost, none is free twice, and no two free buddies stay apart.
        #[test]
        fn every_frame_is_free_once_or_in_use(changes in prop::collection::vec((any::<bool>(), 0_usize..3072), 1..400)) {
            let mut memory = Buddy::new(3);
            for (take, at) in changes {
                if take {
                    let was = memory.frame(at) == Frame::Free;
                    prop_assert_eq!(memory.take(at, Frame::Movable), was);
                } else {
                    memory.release(at);
                }
            }
            let mut seen = vec![0; memory.len()];
            for order in 0..=MAX_ORDER {
                for head in &memory.free[order as usize] {
                    prop_assert_eq!(head % (1 << order), 0);
                    let buddy = head ^ (1 << order);
                    prop_assert!(order == MAX_ORDER || !memory.free[order as usize].contains(&buddy));
                    seen[*head..head + (1 << order)].iter_mut().for_each(|times| *times += 1);
                }
            }
            for (at, times) in seen.into_iter().enumerate() {
                prop_assert_eq!(times, usize::from(memory.frame(at) == Frame::Free));
            }
        }
    }
}
