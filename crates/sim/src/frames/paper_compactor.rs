//! The compactors of the paper (section 4.1.1).

use super::{Buddy, Compactor, Frame, MAX_ORDER, Moved};

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
pub struct PaperCompactor {
    side: Side,
}

impl PaperCompactor {
    /// A compactor for one kind of memory.
    #[must_use]
    pub fn new(side: Side) -> Self {
        Self { side }
    }
}

impl Compactor for PaperCompactor {
    fn round(&mut self, memory: &mut Buddy, budget: usize) -> Moved {
        let size = 1_usize << MAX_ORDER;
        let mut done = Moved::default();
        // The bit vector of section 4.1.1, summed up by block.
        let mut blocks: Vec<(usize, usize)> = (0..memory.len())
            .step_by(size)
            .filter_map(|head| {
                done.blocks += 1;
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
        // Right of the first there are not so many free frames as the second.
        let (mut dry, mut few) = (usize::MAX, usize::MAX);
        for (head, used) in blocks {
            // What lies where pages are moved to is not emptied.
            let left = head + size;
            if done.moved + used > budget || left > right || left >= dry && used >= few {
                continue;
            }
            let (targets, seen) = free_from_the_right(memory, right, left, &emptied, used);
            done.free_scanned += seen;
            let Some(last) = targets.last().copied().filter(|_| targets.len() == used) else {
                (dry, few) = (left, used);
                continue;
            };
            right = last + 1;
            let pages: Vec<usize> =
                (head..head + size).filter(|at| memory.frame(*at) == Frame::Movable).collect();
            relocate(memory, &pages, &targets);
            emptied[head / size] = true;
            done.moved += used;
        }
        done.lists = usize::from(done.moved > 0);
        done
    }
}

/// Free frames below `right` and not below `left`, from the right on, and in no block that was emptied; how many
/// frames were looked at. A block that was emptied is passed over as a whole.
pub(super) fn free_from_the_right(
    memory: &Buddy,
    right: usize,
    left: usize,
    emptied: &[bool],
    needed: usize,
) -> (Vec<usize>, usize) {
    let (mut targets, mut seen, mut at) = (Vec::with_capacity(needed), 0, right);
    while at > left && targets.len() < needed {
        at -= 1;
        if emptied[at >> MAX_ORDER] {
            at &= !((1 << MAX_ORDER) - 1);
            continue;
        }
        seen += 1;
        if memory.frame(at) == Frame::Free {
            targets.push(at);
        }
    }
    (targets, seen)
}

/// Moves pages to free frames, as many as there are.
pub(super) fn relocate(memory: &mut Buddy, pages: &[usize], targets: &[usize]) {
    for (page, target) in pages.iter().zip(targets) {
        memory.take(*target, Frame::Movable);
        memory.release(*page);
    }
}
