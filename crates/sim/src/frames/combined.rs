//! Compaction and promotion: one after the other, as Linux has it, and as one list (section 4.1.3).

use super::paper_compactor::relocate;
use super::{Buddy, Compactor, Costs, Frame, MAX_ORDER, Moved, Rules, Stock};

const BLOCK: usize = 1 << MAX_ORDER;
/// So many times what is to be moved must be free (section 4.1.2).
const ROOM: usize = 3;

/// What was asked for, and what came of it, in pages.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Migration {
    /// Pages that were to be moved.
    pub asked: usize,
    /// Moved within DRAM.
    pub compacted: usize,
    /// Moved up from persistent memory.
    pub promoted: usize,
    /// What it took.
    pub seconds: f64,
}

impl Migration {
    /// Part of the pages that were asked for and not moved.
    #[must_use]
    pub fn failed(&self) -> f64 {
        let moved = self.compacted + self.promoted;
        ratio(self.asked.saturating_sub(moved), self.asked)
    }

    /// Pages moved in a second.
    #[must_use]
    pub fn pages_per_s(&self) -> f64 {
        ratio(self.compacted + self.promoted, 1) / self.seconds
    }
}

/// Compacts up to `half` pages, then promotes as many, `at_once` of them in a request; targets of the latter come from
/// the allocator, the lowest first (section 3.3).
pub fn one_after_the_other(
    memory: &mut Buddy,
    rules: Rules,
    half: usize,
    at_once: usize,
    costs: &Costs,
) -> Migration {
    let done = Stock::new(memory, rules).round(memory, half);
    let promoted = (0..half).map_while(|_| memory.allocate(Frame::Movable)).count();
    let requests = promoted.div_ceil(at_once.max(1));
    Migration {
        asked: 2 * half,
        compacted: done.moved.min(half),
        promoted,
        seconds: costs.compaction_s(&done) + costs.promotion_s(promoted, requests, true),
    }
}

/// Moves `half` pages of the emptiest blocks and `half` pages of persistent memory in one list to the right end of
/// memory. Nothing is promoted unless three times all that is free.
pub fn combined(memory: &mut Buddy, half: usize, costs: &Costs) -> Migration {
    let promote = if memory.free_frames() >= ROOM * 2 * half { half } else { 0 };
    let mut done = Moved::default();
    let targets = free_from_the_right(memory, half + promote, &mut done);
    let left = targets.last().copied().unwrap_or(0);
    let pages = of_the_emptiest(memory, left, half, &mut done);
    let (within, up) = targets.split_at(pages.len().min(targets.len()));
    relocate(memory, &pages, within);
    done.moved = within.len();
    done.failed = pages.len() - within.len();
    done.lists = 1;
    let up = &up[..up.len().min(promote)];
    for target in up {
        memory.take(*target, Frame::Movable);
    }
    Migration {
        asked: 2 * half,
        compacted: within.len(),
        promoted: up.len(),
        seconds: costs.compaction_s(&done) + costs.promotion_s(up.len(), 0, false),
    }
}

/// So many free frames, from the right end on.
fn free_from_the_right(memory: &Buddy, needed: usize, done: &mut Moved) -> Vec<usize> {
    let mut targets = Vec::with_capacity(needed);
    for at in (0..memory.len()).rev() {
        if targets.len() == needed {
            break;
        }
        done.free_scanned += 1;
        if memory.frame(at) == Frame::Free {
            targets.push(at);
        }
    }
    targets
}

/// So many pages of blocks left of `left`, the emptiest first; blocks with unmovable pages are passed over.
fn of_the_emptiest(memory: &Buddy, left: usize, needed: usize, done: &mut Moved) -> Vec<usize> {
    let mut blocks: Vec<(usize, usize)> = Vec::new();
    for head in (0..left / BLOCK * BLOCK).step_by(BLOCK) {
        done.blocks += 1;
        let frames = memory.block(head, MAX_ORDER);
        let used = frames.iter().filter(|frame| **frame != Frame::Free).count();
        if used > 0 && !frames.contains(&Frame::Unmovable) {
            blocks.push((used, head));
        }
    }
    blocks.sort_unstable();
    let movable = |at: &usize| memory.frame(*at) == Frame::Movable;
    let pages = blocks.iter().flat_map(|(_, head)| (*head..head + BLOCK).filter(movable));
    pages.take(needed).collect()
}

fn ratio(part: usize, whole: usize) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frames::{Fragmented, fragmented};

    const COSTS: Costs = Costs {
        scan_ns: 1.0,
        block_ns: 1.0,
        isolate_ns: 1.0,
        list_ns: 1.0,
        request_ns: 1.0,
        page_ns: 1000.0,
        allocate_ns: 100.0,
        copy_ns: 1000.0,
        copy_up_ns: 2000.0,
    };

    #[test]
    fn all_pages_move_at_once_and_lie_at_the_right_end() {
        let mut memory = fragmented(Fragmented { blocks: 16, free: 0.75, ..Fragmented::default() });
        let free = memory.free_frames();
        let done = combined(&mut memory, 512, &COSTS);
        assert_eq!((done.compacted, done.promoted, done.failed()), (512, 512, 0.0));
        assert_eq!(memory.free_frames(), free - 512);
        assert!((memory.len() - 512..memory.len()).all(|at| memory.frame(at) == Frame::Movable));
        // About 256 pages of each block of 1,024 are used: one or two of them are free now.
        assert!(memory.free_blocks(MAX_ORDER) >= 1);
    }

    #[test]
    fn nothing_is_promoted_where_less_than_three_times_that_is_free() {
        let mut memory = fragmented(Fragmented { blocks: 4, free: 0.25, ..Fragmented::default() });
        let done = combined(&mut memory, 300, &COSTS);
        assert_eq!((done.compacted, done.promoted), (300, 0));
        assert!((done.failed() - 0.5).abs() < 1e-9);
    }

    #[test]
    fn stock_compaction_finds_no_target_where_all_that_is_free_is_in_large_blocks() {
        let mut memory = Buddy::new(8);
        (0..3072).for_each(|at| assert!(memory.take(at, Frame::Movable)));
        let done = one_after_the_other(&mut memory, Rules::PAPER, 512, 512, &COSTS);
        assert_eq!((done.compacted, done.promoted), (0, 512));
        assert!((done.failed() - 0.5).abs() < 1e-9);
        // They went to the lowest free frames.
        assert_eq!(memory.frame(3583), Frame::Movable);
    }

    #[test]
    fn requests_for_single_pages_take_longer() {
        let memory = fragmented(Fragmented { blocks: 8, ..Fragmented::default() });
        let time = |at_once| {
            one_after_the_other(&mut memory.clone(), Rules::PAPER, 256, at_once, &COSTS).seconds
        };
        assert!(time(1) > time(256));
    }
}
