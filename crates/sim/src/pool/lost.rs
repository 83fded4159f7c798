//! Lines that moves took from a node's caches. A page that moves leaves them, and what of it was there is fetched
//! once more, from wherever the page is now. Such a fetch is what the move cost and nothing that it brought: if
//! nothing had moved, nobody would have fetched the line. The node's DMA learns from the shared cache which lines
//! it had, as it is coherent \[I\]. What only a core's own caches had is not known.
//!
//! A line that nobody uses leaves the shared cache after at most as many fetches as that has lines, and after
//! half as many on average, since it may be anywhere in the order of use.

use super::counts::PageId;
use super::settings::{Chooser, Migration};
use pagetide_machine::PoolMachine;

/// Lines of a page that a move took from the caches, a bit for each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Left {
    /// Those that were in the shared cache.
    pub(super) lines: u64,
    /// Those that were dirty there: they went along, and nobody writes them back.
    pub(super) dirty: u64,
}

/// What of a page was in the shared cache when it moved.
#[derive(Clone, Copy, Debug, Default)]
struct Gone {
    lines: u64,
    /// The node's fetches after which these would have left it anyway.
    until: u64,
}

/// See the module.
#[derive(Clone, Debug)]
pub(super) struct Lost {
    /// Fetches for which a line stays that nobody uses.
    stays: u64,
    pages: Vec<Gone>,
}

impl Lost {
    /// Of a node with so many pages, where a policy or a governor asks for it.
    pub(super) fn of(
        machine: &PoolMachine,
        migration: &Migration,
        (pages, governed): (u32, bool),
    ) -> Option<Self> {
        let lines = machine.caches.last().map_or(0, |cache| cache.size.0 >> 6);
        let asks = migration.policy == Chooser::Payback || governed;
        (asks && migration.most > 0)
            .then(|| Self { stays: lines / 2, pages: vec![Gone::default(); pages as usize] })
    }

    /// A page moved of which these lines were there, after so many fetches of the node.
    pub(super) fn moved(&mut self, page: PageId, lines: u64, fetched: u64) {
        self.pages[page.0 as usize] = Gone { lines, until: fetched + self.stays };
    }

    /// A line is fetched, after so many fetches: whether it would be there, had its page not moved.
    #[inline]
    pub(super) fn fetched(&mut self, line: u32, fetched: u64) -> bool {
        let gone = &mut self.pages[(line >> 6) as usize];
        let bit = 1 << (line & 63);
        let again = gone.lines & bit != 0 && fetched < gone.until;
        gone.lines &= !bit;
        again
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_lost_once_and_only_as_long_as_it_would_have_stayed() {
        let mut lost = Lost { stays: 100, pages: vec![Gone::default(); 5] };
        lost.moved(PageId(3), 0b1011, 50);
        let line = |at: u32| -> u32 { (3 << 6) | at };
        assert!(!lost.fetched(line(2), 60), "it was not there");
        assert!(lost.fetched(line(0), 60));
        assert!(!lost.fetched(line(0), 61), "a second time");
        assert!(!lost.fetched(4 << 6, 61), "another page");
        assert!(lost.fetched(line(1), 149));
        assert!(!lost.fetched(line(3), 150), "it would have left by now");
    }
}
