//! Rules of the stock compactor, each of which can be switched off.

/// What the stock compactor does beside letting two scanners meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    /// The free scanner leaves free blocks of 2 and 4 MiB alone (section 3.2, i; `suitable_migration_target`).
    pub keep_large: bool,
    /// The free scanner leaves a block alone that cannot take all that is to be moved (3.2, ii). mm/compaction.c has no
    /// such rule (read: a version between 6.5 and 6.7).
    pub all_or_nothing: bool,
    /// A block in which something failed is not looked at again (3.2, iii). Compaction on request and by schedule
    /// has `ignore_skip_hint`: there this does not hold.
    pub skip_state: bool,
    /// An unmovable page releases what was isolated before it, and ends the block (3.2, last). Linux: only
    /// for a program that waits for a large block (`skip_on_failure`).
    pub give_up: bool,
    /// The free scanner leaves blocks alone that are not for movable pages (`suitable_migration_target`). Not in
    /// the paper.
    pub movable_targets: bool,
    /// Each round begins at both ends again (`whole_zone`), else where the one before stopped. Not in the paper.
    pub anew: bool,
    /// A round ends after so many frames *scanned* for pages to move, not moved.
    pub scanned_counts: bool,
}

impl Rules {
    /// None of them.
    pub const NONE: Self = Self {
        keep_large: false,
        all_or_nothing: false,
        skip_state: false,
        give_up: false,
        movable_targets: false,
        anew: false,
        scanned_counts: false,
    };
    /// All four pathologies of section 3.2.
    pub const PAPER: Self = Self {
        keep_large: true,
        all_or_nothing: true,
        skip_state: true,
        give_up: true,
        ..Self::NONE
    };
    /// Linux 6.12 asked to compact everything (`/proc/sys/vm/compact_memory`, `compact_node` in mm/compaction.c): both
    /// scanners begin at the ends, and hints to skip are ignored.
    pub const ON_REQUEST: Self =
        Self { keep_large: true, movable_targets: true, anew: true, ..Self::NONE };
}
