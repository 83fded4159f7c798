//! Lines that moves took from a node's caches. A page that moves leaves them, and what of it was there is fetched
//! once more, from wherever the page is now. Such a fetch is what the move cost and nothing that it brought: if
//! nothing had moved, nobody would have fetched the line. The node's DMA learns from the caches which lines they
//! had, as it is coherent \[I\]; and what is not used leaves them after as many fetches as they have lines.

use super::counts::PageId;
use super::settings::{Chooser, Migration};
use pagetide_machine::PoolMachine;
use std::collections::HashMap;

/// What of a page was in the caches when it moved.
#[derive(Clone, Copy, Debug)]
struct Gone {
    lines: u64,
    /// The node's fetches after which it would have left them anyway.
    until: u64,
}

/// See the module.
#[derive(Clone, Debug)]
pub(super) struct Lost {
    /// Lines that the shared cache has.
    held: u64,
    pages: HashMap<PageId, Gone>,
}

impl Lost {
    /// Where a policy asks for it.
    pub(super) fn of(machine: &PoolMachine, migration: &Migration) -> Option<Self> {
        let shared = machine.caches.last().map_or(0, |cache| cache.size.0 >> 6);
        (migration.policy == Chooser::Payback).then(|| Self { held: shared, pages: HashMap::new() })
    }

    /// A page moved of which these lines were there, after so many fetches of the node.
    pub(super) fn moved(&mut self, page: PageId, lines: u64, fetched: u64) {
        if lines == 0 {
            self.pages.remove(&page);
        } else {
            self.pages.insert(page, Gone { lines, until: fetched + self.held });
        }
    }

    /// A line is fetched, after so many fetches: whether it would be there, had its page not moved.
    pub(super) fn fetched(&mut self, line: u32, fetched: u64) -> bool {
        let (page, bit) = (PageId(line >> 6), 1 << (line & 63));
        let Some(gone) = self.pages.get_mut(&page) else { return false };
        let again = gone.lines & bit != 0 && fetched < gone.until;
        gone.lines &= !bit;
        if gone.lines == 0 || fetched >= gone.until {
            self.pages.remove(&page);
        }
        again
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_lost_once_and_only_as_long_as_it_would_have_stayed() {
        let mut lost = Lost { held: 100, pages: HashMap::new() };
        lost.moved(PageId(3), 0b1011, 50);
        let line = |at| 3 << 6 | at;
        assert!(!lost.fetched(line(2), 60), "it was not there");
        assert!(lost.fetched(line(0), 60));
        assert!(!lost.fetched(line(0), 61), "a second time");
        assert!(!lost.fetched(4 << 6, 61), "another page");
        assert!(lost.fetched(line(1), 149));
        assert!(!lost.fetched(line(3), 150), "it would have left by now");
        assert!(lost.pages.is_empty());
    }
}
