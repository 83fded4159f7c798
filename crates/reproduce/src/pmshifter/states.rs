//! Memory as it is before a compactor begins. The paper says of it that nearly no block of 2 or 4 MiB is free, and that
//! a kernel-level workload has done it (section 5.2); all else here is inferred, [I], and swept in figure `3-states`.

use crate::Context;
use pagetide_sim::frames::{Buddy, Fragmented, fragmented};

/// Blocks of 4 MiB of the virtual machine of 12 GB (section 5.2).
pub(super) const MACHINE: usize = 3072;
/// How memory is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct State {
    /// Blocks of 4 MiB, of the paper's size.
    pub(super) blocks: usize,
    /// Part of the frames that is free.
    pub(super) free: f64,
    /// How much blocks differ in that.
    pub(super) uneven: f64,
    /// Part of the blocks of 2 MiB with an unmovable page.
    pub(super) unmovable: f64,
    /// Part of memory, its right end, that was never used.
    pub(super) unused: f64,
}

/// The one of figure 3.
///
/// - Three quarters are free, in every block alike: as the program leaves it with which the periodic compactor of
///   Linux 5.9 was measured by its author (N. Gupta, "mm: Proactive compaction", 2020: it allocates all memory and frees
///   3/4 of each section of 2 MiB).
/// - A quarter of the blocks of 2 MiB holds an unmovable page [I]: that program has none; a kernel-level one has.
pub(super) const FRAGMENTED: State =
    State { blocks: MACHINE, free: 0.75, uneven: 0.0, unmovable: 0.25, unused: 0.0 };

/// Memory that has only grown [I]: its left half is used but for 2 %, the rest is free in blocks of 4 MiB.
pub(super) const GROWN: State =
    State { blocks: MACHINE, free: 0.02, uneven: 0.0, unmovable: 0.0, unused: 0.5 };

impl State {
    /// The memory, so many times smaller than the paper's, and the same every time.
    pub(super) fn memory(&self, times: usize) -> Buddy {
        let blocks = scaled(self.blocks, times);
        // A share of blocks.
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "within blocks"
        )]
        let unused = (blocks as f64 * self.unused).round() as usize;
        fragmented(Fragmented {
            blocks,
            unused,
            free: self.free,
            uneven: self.uneven,
            unmovable_blocks: self.unmovable,
            unmovable_pages: 1,
            seed: 1,
        })
    }

    /// What tells it apart, for the key of a point.
    pub(super) fn words(&self) -> String {
        let Self { blocks, free, uneven, unmovable, unused } = self;
        format!("{blocks}/{free}/{uneven}/{unmovable}/{unused}")
    }
}

/// How many times smaller memory is than the published.
pub(super) fn times(context: &Context) -> usize {
    context.scale as usize * whole(context)
}

/// The same where times are compared that do not shrink with memory: only small runs are smaller.
pub(super) fn whole(context: &Context) -> usize {
    if context.small { 64 } else { 1 }
}

/// So much memory, so many times smaller.
pub(super) fn scaled(count: usize, times: usize) -> usize {
    (count / times).max(1)
}
