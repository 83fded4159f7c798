//! Where page walks find entries: in the last cache, or in memory if as many lines have come into that
//! cache as it holds since the entry's own line was last read. What hits in it pushes nothing out here,
//! and where no caches are simulated every access is a line that comes: then entries leave too early, if
//! lines are accessed again.
//!
//! Tables lie where the first page lay that they were walked for, and are not moved, as Linux does
//! it.

use super::channel::{Channel, LINE};
use super::pages::{HUGE_PAGES, Pages};

/// Entries in a line.
const ENTRIES: usize = 8;
/// No walk has been here.
const NOWHERE: u8 = u8::MAX;

/// See the module.
#[derive(Clone, Debug, Default)]
pub(super) struct PageTables {
    /// Lines that the last cache holds; 0: walks find all entries in caches.
    holds: u64,
    /// Lines that have come into it, beginning with `holds`.
    came: u64,
    /// By line of entries of base pages, and of huge ones, what `came` was when it was last read; 0:
    /// never.
    read: [Vec<u64>; 2],
    /// By 2 MiB of memory, the tier of its tables.
    tiers: Vec<u8>,
}

impl PageTables {
    /// Of so many base pages, beside a cache of so many lines.
    pub(super) fn new(pages: usize, holds: u64) -> Self {
        if holds == 0 {
            return Self::default();
        }
        let lines = |each: usize| vec![0; pages.div_ceil(each)];
        let read = [lines(ENTRIES), lines(ENTRIES * HUGE_PAGES)];
        Self { holds, came: holds, read, tiers: vec![NOWHERE; pages.div_ceil(HUGE_PAGES)] }
    }

    /// A line came from memory.
    #[inline]
    pub(super) fn came(&mut self) {
        self.came += 1;
    }

    /// A walk to a page at `now_ns`; how long it waits for memory, ns.
    #[inline]
    pub(super) fn walk(
        &mut self,
        (page, huge): (usize, bool),
        now_ns: f64,
        pages: &Pages,
        memory: &mut [Channel],
    ) -> f64 {
        if self.holds == 0 {
            return 0.0;
        }
        let line = page / if huge { ENTRIES * HUGE_PAGES } else { ENTRIES };
        let read = &mut self.read[usize::from(huge)][line];
        let found = self.came - *read < self.holds;
        self.came += u64::from(!found);
        *read = self.came;
        if found {
            return 0.0;
        }
        let tier = &mut self.tiers[page / HUGE_PAGES];
        if *tier == NOWHERE {
            *tier = u8::try_from(pages.tier(page)).unwrap_or(0);
        }
        memory[usize::from(*tier)].serve(now_ns, LINE, false) - now_ns
    }
}
