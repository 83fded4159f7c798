//! Caches of a policy without inclusion: each size is simulated by itself, eight side by side, and only from
//! when the first of them is full. Until then a miss is a page's first access.

use super::Simulate;

/// Caches that lie side by side.
pub(super) const ABREAST: usize = 8;

/// Some caches that are simulated together.
pub(super) trait Row {
    /// Caches of some sizes (1 to [`ABREAST`]) that hold all pages seen so far, which came in in their order;
    /// bits of `again` stand for those accessed more than once.
    fn start(sizes: &[u32], seen: u32, again: &[u64]) -> Self;

    /// As in [`Simulate`].
    fn access(&mut self, pages: &[u32], seen: u32);

    /// Misses by size.
    fn misses(&self) -> Vec<u64>;
}

/// Rows by size, the smallest first.
pub(super) struct Rows<R> {
    rows: Vec<R>,
    /// Sizes of rows that have not begun.
    waiting: Vec<Vec<u32>>,
    seen: u32,
    /// By page: accessed more than once. Kept while rows are waiting.
    again: Vec<u64>,
}

impl<R: Row> Rows<R> {
    /// `sizes`, the smallest first.
    pub(super) fn new(sizes: &[u32]) -> Self {
        let waiting = sizes.chunks(ABREAST).rev().map(<[u32]>::to_vec).collect();
        Self { rows: Vec::new(), waiting, seen: 0, again: Vec::new() }
    }

    /// Notes which pages were accessed again.
    fn note(&mut self, pages: &[u32], seen: u32) {
        self.again.resize((seen as usize).div_ceil(64), 0);
        let mut first = self.seen;
        for page in pages {
            let new = *page == first;
            first += u32::from(new);
            self.again[*page as usize / 64] |= u64::from(!new) << (page % 64);
        }
    }
}

impl<R: Row> Simulate for Rows<R> {
    fn access(&mut self, pages: &[u32], seen: u32) {
        while let Some(sizes) = self.waiting.pop_if(|sizes| seen > sizes[0]) {
            self.rows.push(R::start(&sizes, self.seen, &self.again));
        }
        for row in &mut self.rows {
            row.access(pages, seen);
        }
        if !self.waiting.is_empty() {
            self.note(pages, seen);
        }
        self.seen = seen;
    }

    fn misses(&self) -> Vec<u64> {
        let run = self.rows.iter().flat_map(Row::misses);
        let first = self.waiting.iter().flatten().map(|_| u64::from(self.seen));
        run.chain(first).collect()
    }
}
