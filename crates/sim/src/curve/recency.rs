//! When each page was last accessed, as a bitmap over time: a bit stands for a time and is set while
//! the page accessed then was not accessed again. Of two pages the one with the later bit was used
//! more recently, and the pages used since a time are the bits behind it. Times are compressed to
//! those still set when they run out: the bitmap holds a few times as many bits as there are pages.
//!
//! From Bennett and Kruskal, "LRU stack processing", IBM J. Res. Dev. 1975.

use super::memory::{AHEAD, lengthen, prefetch};

/// Times per page before they are compressed; compressing passes over all pages once.
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
        Self { last: Vec::new(), latest, now: 1 }
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
        self.latest.len() * 64 - self.now as usize
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
        let Self { last, latest, now } = self;
        run(last, latest, now, (pages, count), &mut each);
    }

    /// Forgets a page; its last access, if there was one.
    pub(super) fn forget(&mut self, page: u32) -> Option<Time> {
        let last = std::mem::take(self.last.get_mut(page as usize)?);
        self.latest[last as usize / 64] &= !(1 << (last % 64));
        (last != 0).then_some(last)
    }

    /// Times become 1, 2, 3... in the same order; so do `others`, each some page's last.
    pub(super) fn compress<'a>(&'a mut self, others: impl Iterator<Item = &'a mut Time>) {
        let Self { last, latest, now } = self;
        let (word, bit) = (*now as usize / 64, *now % 64);
        if let Some(bits) = latest.get_mut(word) {
            // Nothing was accessed from now on.
            *bits &= (1 << bit) - 1;
            latest[word + 1..].fill(0);
        }
        // By word, the next time of its first bit.
        let mut to = 1;
        let starts: Vec<Time> = latest
            .iter()
            .map(|bits| {
                let start = to;
                to += bits.count_ones();
                start
            })
            .collect();
        for time in last.iter_mut().chain(others).filter(|time| **time != 0) {
            let word = *time as usize / 64;
            let before = latest[word] & ((1 << (*time % 64)) - 1);
            *time = starts[word] + before.count_ones();
        }
        *now = to;
        latest.fill(u64::MAX);
        latest[0] = NEVER;
        let times = (to as usize * TIMES_PER_PAGE).next_multiple_of(FEWEST).min(MOST);
        lengthen(latest, times / 64, u64::MAX);
    }
}

/// [`Recency::access`], with its parts apart, so that they stay in registers.
#[inline]
fn run(
    last: &mut [Time],
    latest: &mut [u64],
    now: &mut Time,
    (pages, count): (&[u32], usize),
    each: &mut impl FnMut(Time, &[u64]),
) {
    let mut time = *now;
    for (i, page) in pages[..count].iter().enumerate() {
        if let Some(soon) = pages.get(i + AHEAD) {
            prefetch(last, *soon as usize);
        }
        let before = std::mem::replace(&mut last[*page as usize], time);
        latest[before as usize / 64] &= !(1 << (before % 64));
        each(before, latest);
        time += 1;
    }
    *now = time;
}
