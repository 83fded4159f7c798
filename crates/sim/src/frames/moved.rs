//! What compactors are, and what a round of one did.

use super::Buddy;

/// What a round did, in frames where nothing else is said.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Moved {
    /// Moved.
    pub moved: usize,
    /// Isolated, and put back because there was no free frame for them.
    pub failed: usize,
    /// Isolated, and put back because an unmovable page followed in their block.
    pub released: usize,
    /// Looked at by the scanner for pages to move; what a free block holds is counted, as Linux counts it
    /// (`compact_migrate_scanned`).
    pub scanned: usize,
    /// Looked at by the scanner for free frames (`compact_free_scanned`).
    pub free_scanned: usize,
    /// Blocks looked at as a whole.
    pub blocks: usize,
    /// Lists of pages that were handed over to be moved.
    pub lists: usize,
}

impl std::ops::AddAssign for Moved {
    fn add_assign(&mut self, other: Self) {
        self.moved += other.moved;
        self.failed += other.failed;
        self.released += other.released;
        self.scanned += other.scanned;
        self.free_scanned += other.free_scanned;
        self.blocks += other.blocks;
        self.lists += other.lists;
    }
}

/// Makes large free blocks.
pub trait Compactor {
    /// One round: at most `budget` frames are moved, and what is left of a list. What was free stays as much.
    fn round(&mut self, memory: &mut Buddy, budget: usize) -> Moved;
}
