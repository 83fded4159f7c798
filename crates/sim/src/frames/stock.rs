//! The compactor of Linux (section 2.2 of the paper, mm/compaction.c): a migrate scanner from the left, a free
//! scanner from the right, until they meet.

use super::{Buddy, Compactor, Frame, Moved, PAGEBLOCK_ORDER, Rules};
use std::collections::VecDeque;

const PAGEBLOCK: usize = 1 << PAGEBLOCK_ORDER;
/// Pages that Linux isolates before it moves them (`COMPACT_CLUSTER_MAX`).
pub(super) const CLUSTER: usize = 32;

/// The stock compactor under some [`Rules`].
#[derive(Clone, Debug)]
pub struct Stock {
    rules: Rules,
    /// The frame that the migrate scanner looks at next (`migrate_pfn`).
    left: usize,
    /// The frame from which on the free scanner goes through a block, rightwards (`free_pfn`); blocks it takes
    /// leftwards.
    right: usize,
    skip: Vec<bool>,
}

impl Stock {
    /// A compactor that has not begun yet.
    #[must_use]
    pub fn new(memory: &Buddy, rules: Rules) -> Self {
        let blocks = memory.len() / PAGEBLOCK;
        let right = memory.len().saturating_sub(PAGEBLOCK);
        Self { rules, left: 0, right, skip: vec![false; blocks] }
    }

    /// Whether the scanners have met: the next round begins at the ends.
    #[must_use]
    pub fn met(&self) -> bool {
        self.right / PAGEBLOCK <= self.left / PAGEBLOCK
    }

    /// One round, as [`Compactor::round`]; after each list of pages it is told how things are, free frames that are
    /// set aside not counted as free.
    pub fn watched(
        &mut self,
        memory: &mut Buddy,
        budget: usize,
        see: &mut dyn FnMut(&Buddy, &Moved),
    ) -> Moved {
        let mut done = Moved::default();
        if self.rules.anew || self.met() {
            (self.left, self.right) = (0, memory.len().saturating_sub(PAGEBLOCK));
        }
        // Free frames that are set aside; to the allocator they are in use.
        let mut aside = VecDeque::new();
        while !self.met() && self.used(&done) < budget {
            let block = self.left / PAGEBLOCK;
            let pages = self.isolate(memory, &mut done);
            if pages.is_empty() {
                continue;
            }
            done.lists += 1;
            let failed = done.failed;
            for page in &pages {
                if aside.is_empty() {
                    self.set_aside(memory, pages.len(), &mut aside, &mut done);
                }
                // The target is marked as holding a movable page since it was set aside.
                if aside.pop_front().is_some() {
                    memory.release(*page);
                    done.moved += 1;
                } else {
                    done.failed += 1;
                }
            }
            if done.failed > failed {
                self.skip[block] = true;
            }
            see(memory, &done);
        }
        self.give_back(memory, &aside);
        done
    }

    fn used(&self, done: &Moved) -> usize {
        if self.rules.scanned_counts { done.scanned } else { done.moved }
    }

    /// Up to a cluster of movable pages of the block that is looked at (`isolate_migratepages_block`).
    fn isolate(&mut self, memory: &Buddy, done: &mut Moved) -> Vec<usize> {
        let block = self.left / PAGEBLOCK;
        let end = (block + 1) * PAGEBLOCK;
        let begins = self.left.is_multiple_of(PAGEBLOCK);
        done.blocks += usize::from(begins);
        let mut pages = Vec::new();
        if begins && self.rules.skip_state && self.skip[block] {
            self.left = end;
            return pages;
        }
        while self.left < end && pages.len() < CLUSTER {
            let order = memory.free_head(self.left).unwrap_or(0);
            done.scanned += 1 << order;
            match memory.frame(self.left) {
                Frame::Movable => pages.push(self.left),
                Frame::Unmovable if self.rules.give_up => {
                    done.released += pages.len();
                    self.skip[block] = true;
                    self.left = end;
                    return Vec::new();
                }
                Frame::Unmovable | Frame::Free => {}
            }
            self.left += 1 << order;
        }
        // A free block of 4 MiB reaches into the next pageblock.
        self.left = self.left.min(end);
        pages
    }

    /// Takes free blocks off the lists, whole, until there are frames for `needed` pages (`isolate_freepages`).
    fn set_aside(
        &mut self,
        memory: &mut Buddy,
        needed: usize,
        aside: &mut VecDeque<usize>,
        done: &mut Moved,
    ) {
        let lowest = (self.left / PAGEBLOCK + 1) * PAGEBLOCK;
        loop {
            let head = self.right - self.right % PAGEBLOCK;
            if head < lowest {
                return;
            }
            done.blocks += 1;
            if self.is_target(memory, head, needed - aside.len()) {
                let end = head + PAGEBLOCK;
                let from = self.right;
                self.right = self.take_free(memory, (from, end), needed, aside);
                done.free_scanned += self.right - from;
                if aside.len() >= needed {
                    if self.right >= end {
                        self.right = head.saturating_sub(PAGEBLOCK);
                    }
                    return;
                }
            }
            if head == 0 {
                return;
            }
            self.right = head - PAGEBLOCK;
        }
    }

    /// Takes free blocks of a range until there are enough frames; where it stopped (`isolate_freepages_block`).
    fn take_free(
        &self,
        memory: &mut Buddy,
        (from, end): (usize, usize),
        needed: usize,
        aside: &mut VecDeque<usize>,
    ) -> usize {
        let mut at = from;
        while at < end && aside.len() < needed {
            let Some(order) = memory.free_head(at) else {
                at += 1;
                continue;
            };
            // A larger one is taken only where it is not kept, and then no more of it than is needed.
            let whole = order < PAGEBLOCK_ORDER;
            let size = if whole { 1 << order } else { (1 << order).min(needed - aside.len()) };
            for frame in at..(at + size).min(end) {
                memory.take(frame, Frame::Movable);
                aside.push_back(frame);
            }
            at += size;
        }
        at.min(end)
    }

    /// Whether the free scanner takes a block (`suitable_migration_target`).
    fn is_target(&self, memory: &Buddy, head: usize, needed: usize) -> bool {
        let Rules { keep_large, movable_targets, all_or_nothing, skip_state, .. } = self.rules;
        let block = head / PAGEBLOCK;
        let large = || memory.free_order(head).is_some_and(|order| order >= PAGEBLOCK_ORDER);
        let free = || {
            let frames = memory.block(head, PAGEBLOCK_ORDER);
            frames.iter().filter(|frame| **frame == Frame::Free).count()
        };
        !(skip_state && self.skip[block]
            || movable_targets && !memory.is_for_movable(block)
            || keep_large && large()
            || all_or_nothing && free() < needed)
    }

    /// What was set aside and not used is free again, and the free scanner goes back for it.
    fn give_back(&mut self, memory: &mut Buddy, aside: &VecDeque<usize>) {
        for frame in aside {
            memory.release(*frame);
        }
        if let Some(highest) = aside.iter().max().filter(|_| !self.met()) {
            self.right = self.right.max(highest - highest % PAGEBLOCK);
        }
    }
}

impl Compactor for Stock {
    fn round(&mut self, memory: &mut Buddy, budget: usize) -> Moved {
        self.watched(memory, budget, &mut |_, _| {})
    }
}
