//! Compactors: a round moves at most so many frames.

use super::{Buddy, Frame, MAX_ORDER, PAGEBLOCK_ORDER};

const PAGEBLOCK: usize = 1 << PAGEBLOCK_ORDER;
/// Pages that Linux isolates before it moves them (`COMPACT_CLUSTER_MAX`).
const CLUSTER: usize = 32;

/// What a round did, in frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Moved {
    /// Moved.
    pub moved: usize,
    /// Isolated, and put back without having been moved.
    pub failed: usize,
    /// Blocks looked at.
    pub scanned: usize,
}

/// Makes large free blocks.
pub trait Compactor {
    /// One round: at most `budget` frames are moved. What was free stays as much.
    fn round(&mut self, memory: &mut Buddy, budget: usize) -> Moved;
}

/// What section 3.2 finds wrong with the stock compactor, each by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pathologies {
    /// The free scanner leaves free blocks of 2 and 4 MiB alone.
    pub keep_large: bool,
    /// The free scanner leaves a block alone that cannot take all that is to be moved.
    pub all_or_nothing: bool,
    /// A block in which something failed is not looked at again.
    pub skip_state: bool,
    /// An unmovable page releases what was isolated before it, and ends the block.
    pub give_up: bool,
}

impl Pathologies {
    /// As Linux is described.
    pub const ALL: Self =
        Self { keep_large: true, all_or_nothing: true, skip_state: true, give_up: true };
    /// None of them.
    pub const NONE: Self =
        Self { keep_large: false, all_or_nothing: false, skip_state: false, give_up: false };
}

/// The compactor of Linux as section 2.2 describes it: a migrate scanner from the left, a free scanner from the right,
/// until they meet; then it begins anew.
#[derive(Clone, Debug)]
pub struct Stock {
    pathologies: Pathologies,
    left: usize,
    right: usize,
    skip: Vec<bool>,
}

impl Stock {
    /// A compactor that has not begun yet.
    #[must_use]
    pub fn new(memory: &Buddy, pathologies: Pathologies) -> Self {
        let blocks = memory.len() / PAGEBLOCK;
        Self { pathologies, left: 0, right: blocks, skip: vec![false; blocks] }
    }

    /// Up to a cluster of movable pages of a block, from `from` on; `None`: an unmovable one ends the block, and
    /// so many were isolated in vain.
    fn isolate(&self, memory: &Buddy, from: usize, end: usize) -> Result<Vec<usize>, usize> {
        let mut pages = Vec::new();
        for at in from..end {
            match memory.frame(at) {
                Frame::Free => {}
                Frame::Movable => pages.push(at),
                Frame::Unmovable if self.pathologies.give_up => return Err(pages.len()),
                Frame::Unmovable => {}
            }
            if pages.len() == CLUSTER {
                break;
            }
        }
        Ok(pages)
    }

    /// Free frames of blocks from the right end on, as many as are needed; fewer where the scanners meet.
    fn targets(&mut self, memory: &Buddy, needed: usize, done: &mut Moved) -> Vec<usize> {
        let mut targets = Vec::new();
        while targets.len() < needed && self.right > self.left + 1 {
            let block = self.right - 1;
            let head = block * PAGEBLOCK;
            done.scanned += 1;
            let large = memory.free_order(head).is_some_and(|order| order >= PAGEBLOCK_ORDER);
            let skipped = self.pathologies.skip_state && self.skip[block];
            if !(skipped || large && self.pathologies.keep_large) {
                let free: Vec<usize> = (head..head + PAGEBLOCK)
                    .rev()
                    .filter(|at| memory.frame(*at) == Frame::Free)
                    .collect();
                let left = needed - targets.len();
                if !self.pathologies.all_or_nothing || free.len() >= left {
                    let enough = free.len() > left;
                    targets.extend(free.into_iter().take(left));
                    if enough {
                        break;
                    }
                }
            }
            self.right -= 1;
        }
        targets
    }
}

impl Compactor for Stock {
    fn round(&mut self, memory: &mut Buddy, budget: usize) -> Moved {
        let mut done = Moved::default();
        if self.right <= self.left + 1 {
            // They met in the round before.
            (self.left, self.right) = (0, memory.len() / PAGEBLOCK);
        }
        while done.moved < budget && self.right > self.left + 1 {
            let (head, end) = (self.left * PAGEBLOCK, (self.left + 1) * PAGEBLOCK);
            done.scanned += 1;
            let mut from = head;
            let mut given_up = self.pathologies.skip_state && self.skip[self.left];
            while !given_up && from < end && done.moved < budget {
                match self.isolate(memory, from, end) {
                    Ok(pages) => {
                        let Some(last) = pages.last().copied() else { break };
                        let targets = self.targets(memory, pages.len(), &mut done);
                        given_up = targets.len() < pages.len();
                        done.failed += pages.len() - targets.len();
                        done.moved += targets.len();
                        relocate(memory, &pages, &targets);
                        from = last + 1;
                    }
                    Err(in_vain) => {
                        done.failed += in_vain;
                        given_up = true;
                    }
                }
            }
            if given_up {
                self.skip[self.left] = true;
            }
            if from >= end || given_up || done.moved < budget {
                self.left += 1;
            }
        }
        done
    }
}

/// Which end is to become empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Any block, the emptiest first: DRAM (section 4.1.1).
    Emptiest,
    /// The left end: persistent memory, which is cut there.
    Left,
}

/// The compactor of the paper: blocks of 4 MiB, chosen by how many frames of them are used; blocks with unmovable pages
/// are passed over without being looked through; free frames are taken at the right end wherever they are;
/// nothing is remembered from round to round.
#[derive(Clone, Debug)]
pub struct Orderly {
    side: Side,
}

impl Orderly {
    /// A compactor for one kind of memory.
    #[must_use]
    pub fn new(side: Side) -> Self {
        Self { side }
    }
}

impl Compactor for Orderly {
    fn round(&mut self, memory: &mut Buddy, budget: usize) -> Moved {
        let size = 1_usize << MAX_ORDER;
        let mut done = Moved::default();
        // The bit vector of section 4.1.1, summed up by block.
        let mut blocks: Vec<(usize, usize)> = (0..memory.len())
            .step_by(size)
            .filter_map(|head| {
                done.scanned += 1;
                let frames = memory.block(head, MAX_ORDER);
                let used = frames.iter().filter(|frame| **frame != Frame::Free).count();
                (used > 0 && !frames.contains(&Frame::Unmovable)).then_some((head, used))
            })
            .collect();
        if self.side == Side::Emptiest {
            blocks.sort_by_key(|(head, used)| (*used, *head));
        }
        let mut right = memory.len();
        let mut emptied = vec![false; memory.len() / size];
        for (head, used) in blocks {
            // What lies where pages are moved to is not emptied.
            if done.moved + used > budget || head + size > right {
                continue;
            }
            let targets = free_from_the_right(memory, right, head, &emptied, used);
            let Some(last) = targets.last().copied().filter(|_| targets.len() == used) else {
                break;
            };
            right = last + 1;
            let pages: Vec<usize> =
                (head..head + size).filter(|at| memory.frame(*at) == Frame::Movable).collect();
            relocate(memory, &pages, &targets);
            emptied[head / size] = true;
            done.moved += used;
        }
        done
    }
}

/// Free frames below `right`, from there on leftwards, right of the block at `head`, and in none that was emptied.
fn free_from_the_right(
    memory: &Buddy,
    right: usize,
    head: usize,
    emptied: &[bool],
    needed: usize,
) -> Vec<usize> {
    let size = 1_usize << MAX_ORDER;
    (head + size..right)
        .rev()
        .filter(|at| !emptied[at / size] && memory.frame(*at) == Frame::Free)
        .take(needed)
        .collect()
}

/// Moves pages to free frames, as many as there are.
fn relocate(memory: &mut Buddy, pages: &[usize], targets: &[usize]) {
    for (page, target) in pages.iter().zip(targets) {
        memory.take(*target, Frame::Movable);
        memory.release(*page);
    }
}

#[cfg(test)]
#[path = "compact_tests.rs"]
mod tests;
