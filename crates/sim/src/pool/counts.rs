//! How often each page of the pool was accessed in an epoch, and which passed the threshold (section
//! 3.1, "Page Insertion").

/// A page of a node's program, from the start of its memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PageId(pub u32);

/// A page that is hot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hot {
    /// It.
    pub page: PageId,
    /// How often it was accessed in this epoch.
    pub count: u32,
    /// The last of these was a write-back.
    pub written: bool,
}

/// The counts of one node's pages.
#[derive(Clone, Debug)]
pub(super) struct Counts {
    /// Of each page its count, and the epoch in which it was accessed last.
    all: Vec<(u32, u32)>,
    /// Of each page, whether its last access was a write-back.
    written: Vec<bool>,
    epoch: u32,
    threshold: u32,
    /// Entries of the table of hot pages; none, if it is as large as need be.
    entries: Option<u32>,
    /// Counts go on over the end of an epoch.
    kept: bool,
    /// Those above the threshold that were accessed in this epoch, in the order in which that was seen.
    hot: Vec<PageId>,
    most: u32,
}

impl Counts {
    /// Of so many pages; one is hot once it was accessed *more* often than `threshold`, if the table of these
    /// has an entry left.
    pub(super) fn new(pages: u32, (threshold, entries): (u32, Option<u32>), kept: bool) -> Self {
        let all = vec![(0, 0); pages as usize];
        Self {
            all,
            written: vec![false; pages as usize],
            epoch: 1,
            threshold,
            entries,
            kept,
            hot: Vec::new(),
            most: 0,
        }
    }

    /// Counts an access; the count from then on.
    #[inline]
    pub(super) fn add(&mut self, page: PageId, write: bool) -> u32 {
        self.written[page.0 as usize] = write;
        let (count, epoch) = &mut self.all[page.0 as usize];
        let mut is_hot = false;
        if *epoch != self.epoch {
            *epoch = self.epoch;
            if !self.kept {
                *count = 0;
            }
            is_hot = *count > self.threshold;
        }
        *count = count.saturating_add(1);
        is_hot |= *count == self.threshold.saturating_add(1);
        if is_hot && self.entries.is_none_or(|entries| self.hot.len() < entries as usize) {
            self.hot.push(page);
        }
        self.most = self.most.max(*count);
        *count
    }

    /// The page left the pool: its count is 0.
    pub(super) fn forget(&mut self, page: PageId) {
        self.all[page.0 as usize] = (0, 0);
    }

    /// The most accesses that a page ever counted.
    pub(super) const fn most(&self) -> u32 {
        self.most
    }

    /// An epoch ends: those that are hot, in the order in which that was seen. The next one begins.
    pub(super) fn end(&mut self, into: &mut Vec<Hot>) {
        let (all, written) = (&self.all, &self.written);
        let counted = |page: PageId| {
            let at = page.0 as usize;
            Hot { page, count: all[at].0, written: written[at] }
        };
        into.clear();
        // Not those that left the pool since.
        into.extend(self.hot.drain(..).map(counted).filter(|hot| hot.count > self.threshold));
        if let Some(next) = self.epoch.checked_add(1) {
            self.epoch = next;
        } else {
            self.all.iter_mut().for_each(|(_, epoch)| *epoch = 0);
            self.epoch = 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(counts: &mut Counts, pages: &[u32]) -> Vec<(u32, u32)> {
        pages.iter().for_each(|page| _ = counts.add(PageId(*page), false));
        let mut hot = Vec::new();
        counts.end(&mut hot);
        hot.into_iter().map(|hot| (hot.page.0, hot.count)).collect()
    }

    #[test]
    fn a_page_is_hot_when_it_is_accessed_more_often_than_the_threshold() {
        let mut counts = Counts::new(3, (2, None), false);
        assert_eq!(counted(&mut counts, &[0, 1, 0, 1, 2, 1, 0, 1]), [(1, 4), (0, 3)]);
        assert!(counted(&mut counts, &[1, 1]).is_empty());
        assert_eq!(counts.most(), 4);
    }

    #[test]
    fn a_table_of_fixed_size_keeps_the_first_that_are_hot() {
        let mut counts = Counts::new(4, (1, Some(2)), false);
        let accesses = [3, 0, 3, 1, 0, 2, 1, 1, 1, 2];
        assert_eq!(counted(&mut counts, &accesses), [(3, 2), (0, 2)]);
        assert_eq!(counted(&mut counts, &[1, 1, 1]), [(1, 3)]);
    }

    #[test]
    fn counts_that_are_kept_go_on() {
        let mut counts = Counts::new(2, (2, None), true);
        assert!(counted(&mut counts, &[0, 0, 1]).is_empty());
        assert_eq!(counted(&mut counts, &[0, 1]), [(0, 3)]);
        // Above it already, and told again only if it is accessed.
        assert_eq!(counted(&mut counts, &[1]), [(1, 3)]);
        counts.forget(PageId(0));
        assert_eq!(counted(&mut counts, &[0, 1]), [(1, 4)]);
    }

    #[test]
    fn it_is_told_whether_the_last_access_was_a_write_back() {
        let mut counts = Counts::new(2, (0, None), true);
        let mut hot = Vec::new();
        for (page, write) in [(0, true), (0, false), (1, false), (1, true)] {
            counts.add(PageId(page), write);
        }
        counts.end(&mut hot);
        assert_eq!(hot.iter().map(|hot| hot.written).collect::<Vec<_>>(), [false, true]);
    }
}
