//! When each page was last accessed, as a bitmap over time: a bit stands for a time and is set while
//! the page accessed then was not accessed again. Of two pages the one with the later bit was used
//! more recently, and the pages used since a time are the bits behind it. Times are compressed to
//! those still set when they run out: the bitmap holds a few times as many bits as there are pages.
//!
//! From Bennett and Kruskal, "LRU stack processing", IBM J. Res. Dev. 1975.

/// Times per page before they are compressed; compressing touches every page once.
const TIMES_PER_PAGE: usize = 4;
/// The fewest times.
const FEWEST: usize = if cfg!(test) { 64 } else { 1 << 12 };

/// The most times: a number for each but the last.
const MOST: usize = u32::MAX as usize / 64 * 64;

/// A time; 0 is never.
pub(super) type Time = u32;

/// Times of last accesses.
pub(super) struct Recency {
    /// By page.
    last: Vec<Time>,
    /// By time.
    page_at: Vec<u32>,
    /// By time; whole words.
    pub(super) latest: Vec<u64>,
    /// The next access's.
    pub(super) now: Time,
    /// Pages that were accessed.
    pub(super) live: u32,
}

impl Recency {
    pub(super) fn new() -> Self {
        let (page_at, latest) = (vec![0; FEWEST], vec![0; FEWEST / 64]);
        Self { last: Vec::new(), page_at, latest, now: 1, live: 0 }
    }

    /// Makes room for pages 0 to `pages` - 1.
    pub(super) fn make_room(&mut self, pages: u32) {
        if self.last.len() < pages as usize {
            self.last.resize(pages as usize, 0);
        }
    }

    /// How many accesses fit before times must be compressed.
    pub(super) fn left(&self) -> usize {
        self.page_at.len() - self.now as usize
    }

    /// An access to a page now; its last one before.
    #[inline]
    pub(super) fn access(&mut self, page: u32) -> Time {
        let now = self.now;
        let before = std::mem::replace(&mut self.last[page as usize], now);
        self.page_at[now as usize] = page;
        self.latest[before as usize / 64] &= !(1 << (before % 64));
        self.latest[now as usize / 64] |= 1 << (now % 64);
        self.live += u32::from(before == 0);
        self.now += 1;
        before
    }

    /// Forgets a page; its last access, if there was one.
    pub(super) fn forget(&mut self, page: u32) -> Option<Time> {
        let last = std::mem::take(self.last.get_mut(page as usize)?);
        self.latest[last as usize / 64] &= !(1 << (last % 64));
        self.live -= u32::from(last != 0);
        (last != 0).then_some(last)
    }

    /// The first time after another that is some page's last.
    #[inline]
    pub(super) fn next(&self, after: Time) -> Time {
        let mut word = (after as usize + 1) / 64;
        let mut bits = self.latest[word] & (u64::MAX << ((after + 1) % 64));
        while bits == 0 {
            word += 1;
            bits = self.latest[word];
        }
        #[expect(clippy::cast_possible_truncation, reason = "as many bits as times")]
        let first = word as u32 * 64;
        first + bits.trailing_zeros()
    }

    /// Times become 1, 2, 3... in the same order; `moved` is told of each: before and after.
    pub(super) fn compress(&mut self, mut moved: impl FnMut(Time, Time)) {
        let mut to = 1;
        for word in 0..self.latest.len() {
            let mut bits = std::mem::take(&mut self.latest[word]);
            while bits != 0 {
                let from = word * 64 + bits.trailing_zeros() as usize;
                bits &= bits - 1;
                let page = self.page_at[from];
                self.page_at[to as usize] = page;
                self.last[page as usize] = to;
                #[expect(clippy::cast_possible_truncation, reason = "a time")]
                moved(from as u32, to);
                to += 1;
            }
        }
        self.now = to;
        let times = (to as usize * TIMES_PER_PAGE).next_multiple_of(FEWEST);
        let times = times.min(MOST);
        if times > self.page_at.len() {
            self.page_at.resize(times, 0);
            self.latest.resize(times / 64, 0);
        }
        for time in 1..to {
            self.latest[time as usize / 64] |= 1 << (time % 64);
        }
    }
}
