//! What a node's cores wait for translations. Which pages a core's TLB has not is known beforehand, as long
//! as nothing moves; what a shootdown took of it is walked for again by who fetches from such a page next.

use super::Ps;
use super::counts::PageId;
use pagetide_machine::PoolTlb;
use std::collections::HashMap;

/// See the module.
#[derive(Clone, Debug)]
pub(super) struct Translations {
    second: Ps,
    walk: Ps,
    flush_all: bool,
    /// How many shootdowns took everything.
    flushes: u32,
    /// By core, pages that were translated since a shootdown took them, and after how many of these; `None`:
    /// not since then.
    known: Vec<HashMap<PageId, Option<u32>>>,
    /// Walks, and those of them for what shootdowns took.
    pub(super) walks: (u64, u64),
}

impl Translations {
    /// Of so many cores.
    pub(super) fn new(tlb: &PoolTlb, cores: usize) -> Self {
        Self {
            second: Ps::from_ns(tlb.second_ns),
            walk: Ps::from_ns(tlb.walk_ns),
            flush_all: tlb.flush_all,
            flushes: 0,
            known: vec![HashMap::new(); cores],
            walks: (0, 0),
        }
    }

    /// Whether a shootdown took a page from a core that has not translated it since.
    fn is_lost(&self, core: usize, page: PageId) -> bool {
        match self.known[core].get(&page) {
            Some(Some(flushes)) => *flushes != self.flushes,
            Some(None) => true,
            None => self.flushes > 0,
        }
    }

    fn knows(&mut self, core: usize, page: PageId) {
        if self.flushes > 0 || self.known[core].contains_key(&page) {
            self.known[core].insert(page, Some(self.flushes));
        }
    }

    /// What a core waits for a page that its first level has not, nor the second if it walks.
    pub(super) fn miss(&mut self, core: usize, page: PageId, walk: bool) -> Ps {
        let again = !walk && self.is_lost(core, page);
        self.knows(core, page);
        if !walk && !again {
            return self.second;
        }
        self.walks.0 += 1;
        self.walks.1 += u64::from(again);
        self.walk
    }

    /// What a core that fetches from a page waits for because a shootdown took its translation.
    #[inline]
    pub(super) fn again(&mut self, core: usize, page: PageId) -> Option<Ps> {
        if !self.is_lost(core, page) {
            return None;
        }
        self.knows(core, page);
        self.walks.0 += 1;
        self.walks.1 += 1;
        Some(self.walk)
    }

    /// A page that is in the same shootdown.
    pub(super) fn shot_down_too(&mut self, page: PageId) {
        if !self.flush_all {
            self.known.iter_mut().for_each(|known| _ = known.insert(page, None));
        }
    }

    /// A shootdown of pages.
    pub(super) fn shot_down(&mut self, pages: impl Iterator<Item = PageId>) {
        if self.flush_all {
            self.flushes += 1;
            return;
        }
        pages.for_each(|page| self.shot_down_too(page));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(flush_all: bool) -> Translations {
        let tlb = PoolTlb {
            first: 64,
            first_ways: 4,
            second: 1536,
            second_ways: 6,
            second_ns: 3.0,
            walk_ns: 30.0,
            flush_all,
        };
        Translations::new(&tlb, 2)
    }

    #[test]
    fn what_a_shootdown_took_is_walked_for_once_by_each_core() {
        let mut node = of(false);
        let [moved, other] = [PageId(7), PageId(8)];
        assert_eq!(node.again(0, moved), None);
        node.shot_down([moved].into_iter());
        assert_eq!(node.again(0, moved), Some(Ps(30_000)));
        assert_eq!((node.again(0, moved), node.again(0, other)), (None, None));
        // The other core's second level would have had it.
        assert_eq!(node.miss(1, moved, false), Ps(30_000));
        assert_eq!(node.miss(1, moved, false), Ps(3000));
        assert_eq!(node.miss(1, other, true), Ps(30_000));
        assert_eq!(node.walks, (3, 2));
    }

    #[test]
    fn a_shootdown_of_everything_takes_all_pages() {
        let mut node = of(true);
        node.shot_down([PageId(7)].into_iter());
        for page in [7, 8] {
            assert_eq!(node.again(0, PageId(page)), Some(Ps(30_000)));
            assert_eq!(node.again(0, PageId(page)), None);
        }
        node.shot_down(std::iter::empty());
        assert_eq!(node.again(0, PageId(8)), Some(Ps(30_000)));
    }
}
