//! When each page was last accessed, as a bitmap over time: a bit stands for a time and is set while
//! the page accessed then was not accessed again. Of two pages the one with the later bit was used
//! more recently, and the pages used since a time are the bits behind it. Times are compressed to
//! those still set when they run out: the bitmap holds a few times as many bits as there are pages.
//!
//! From Bennett and Kruskal, "LRU stack processing", IBM J. Res. Dev. 1975.

use super::memory::{AHEAD, lengthen, prefetch};

/// Times per page before they are compressed; compressing touches every page once.
const TIMES_PER_PAGE: usize = 4;
/// The fewest times.
const FEWEST: usize = if cfg!(test) { 64 } else { 1 << 12 };
/// The most times: a number for each but the last.
const MOST: usize = u32::MAX as usize / 64 * 64;
/// The first word of bits without that of time 0.
const NEVER: u64 = u64::MAX - 1;

/// A time; 0 is never.
pub(super) type Time = u32;

/// Times of last accesses.
pub(super) struct Recency {
    /// By page.
    last: Vec<Time>,
    /// By time.
    page_at: Vec<u32>,
    /// By time, whether it is some page's last. All set from now on: nobody asks, and they will be.
    latest: Vec<u64>,
    /// The next access's.
    now: Time,
}

/// The first time after another that is some page's last.
#[inline]
pub(super) fn next(latest: &[u64], after: Time) -> Time {
    let mut word = (after as usize + 1) / 64;
    let mut bits = latest[word] & (u64::MAX << ((after + 1) % 64));
    while bits == 0 {
        word += 1;
        bits = latest[word];
    }
    #[expect(clippy::cast_possible_truncation, reason = "as many bits as times")]
    let first = word as u32 * 64;
    first + bits.trailing_zeros()
}

impl Recency {
    pub(super) fn new() -> Self {
        let mut latest = vec![u64::MAX; FEWEST / 64];
        latest[0] = NEVER;
        Self { last: Vec::new(), page_at: vec![0; FEWEST], latest, now: 1 }
    }

    /// Makes room for pages 0 to `pages` - 1.
    pub(super) fn make_room(&mut self, pages: u32) {
        lengthen(&mut self.last, pages as usize, 0);
    }

    /// By time, whether it is some page's last; what comes from now on is not said.
    pub(super) fn latest(&self) -> &[u64] {
        &self.latest
    }

    /// The time of the next access.
    pub(super) fn now(&self) -> Time {
        self.now
    }

    /// How many accesses fit before times must be compressed.
    pub(super) fn left(&self) -> usize {
        self.page_at.len() - self.now as usize
    }

    /// The first `count` accesses of these, at most as many as are left. `each` is told when the page was
    /// accessed before, and the bitmap after.
    #[inline]
    pub(super) fn access(
        &mut self,
        pages: &[u32],
        count: usize,
        mut each: impl FnMut(Time, &[u64]),
    ) {
        let Self { last, page_at, latest, now } = self;
        let at = &mut page_at[*now as usize..][..count];
        run(last, at, latest, now, pages, &mut each);
    }

    /// Forgets a page; its last access, if there was one.
    pub(super) fn forget(&mut self, page: u32) -> Option<Time> {
        let last = std::mem::take(self.last.get_mut(page as usize)?);
        self.latest[last as usize / 64] &= !(1 << (last % 64));
        (last != 0).then_some(last)
    }

    /// Times become 1, 2, 3... in the same order; `moved` is told of each: before and after.
    pub(super) fn compress(&mut self, mut moved: impl FnMut(Time, Time)) {
        let mut to = 1;
        for word in 0..=self.now as usize / 64 {
            let Some(bits) = self.latest.get_mut(word) else { break };
            let mut bits = std::mem::replace(bits, u64::MAX);
            while bits != 0 {
                let from = word * 64 + bits.trailing_zeros() as usize;
                bits &= bits - 1;
                if from >= self.now as usize {
                    break;
                }
                let page = self.page_at[from];
                self.page_at[to as usize] = page;
                self.last[page as usize] = to;
                #[expect(clippy::cast_possible_truncation, reason = "a time")]
                moved(from as u32, to);
                to += 1;
            }
        }
        self.latest[0] = NEVER;
        self.now = to;
        let times = (to as usize * TIMES_PER_PAGE).next_multiple_of(FEWEST).min(MOST);
        lengthen(&mut self.page_at, times, 0);
        lengthen(&mut self.latest, times / 64, u64::MAX);
    }
}

/// [`Recency::access`], with its parts apart, so that they stay in registers.
#[inline]
fn run(
    last: &mut [Time],
    page_at: &mut [u32],
    latest: &mut [u64],
    now: &mut Time,
    pages: &[u32],
    each: &mut impl FnMut(Time, &[u64]),
) {
    let mut time = *now;
    for (i, at) in page_at.iter_mut().enumerate() {
        let page = pages[i];
        if let Some(soon) = pages.get(i + AHEAD) {
            prefetch(last, *soon as usize);
        }
        *at = page;
        let before = std::mem::replace(&mut last[page as usize], time);
        latest[before as usize / 64] &= !(1 << (before % 64));
        each(before, latest);
        time += 1;
    }
    *now = time;
}
