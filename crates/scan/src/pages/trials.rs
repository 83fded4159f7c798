//! What one epoch sees of the single pages of a piece: in each burst a page is unseen for a while,
//! then seen at a look, so accessed since the look before; or it stays unseen to the last look.

use super::{Mask, ones};
use crate::evidence::{RUNGS, rung_of};
use crate::row::{Range, RowBits};

/// Sightings are counted by the time since the look before: by its rung, from that of the
/// shortest gap of base pages on.
pub(crate) const BINS: usize = RUNGS - FIRST;
const FIRST: usize = 3;
/// Share of the time of first looks in which it may have been unseen.
const NEARLY: f64 = 0.05;

#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Seen {
    counts: [u8; BINS],
    /// How much longer it was known to be unseen than a page that was never seen, ns; negative,
    /// but for the burst under way.
    late_ns: i64,
}

/// What an epoch saw of one page.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Trial {
    /// Sightings by the length of the time in which it was accessed: see [`PageTrials::spans`].
    pub(crate) counts: [u8; BINS],
    /// Seconds of CPU time of the target for which it was known to be unseen.
    pub(crate) unseen_s: f64,
}

impl Trial {
    /// How often it was seen.
    pub(crate) fn seen(&self) -> f64 {
        self.counts.iter().map(|count| f64::from(*count)).sum()
    }
}

/// All pages of a window, in one epoch.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PageTrials {
    /// The window's first page, by number in its region.
    first: usize,
    pages: Box<[Seen]>,
    watched: Mask,
    accessed: Mask,
    /// Seen in the burst under way.
    known: Mask,
    /// Of a page that was never seen.
    unseen_ns: i64,
    /// By bin, sightings and the sum of the times in which they happened, s.
    spans: [(f64, f64); BINS],
    /// First looks, and the time before them, ns.
    firsts: u16,
    firsts_ns: i64,
}

impl PageTrials {
    /// Nothing was seen yet of the pages in `range`, which lies in one region.
    pub(crate) fn new(range: Range) -> Self {
        let page = |address: u64| (address >> 12) as usize;
        let (first, count) = (page(range.start) % 512, page(range.end - range.start).min(512));
        let mut watched = Mask::default();
        for number in first..(first + count).min(512) {
            watched[number / 64] |= 1 << (number % 64);
        }
        Self {
            first,
            pages: vec![Seen::default(); count].into(),
            watched,
            accessed: Mask::default(),
            known: Mask::default(),
            unseen_ns: 0,
            spans: Default::default(),
            firsts: 0,
            firsts_ns: 0,
        }
    }

    /// A look that is a trial: what is seen now was accessed between `from_ns` and `to_ns` after
    /// the clearing, in CPU time of the target.
    pub(crate) fn note(&mut self, bits: &RowBits, from_ns: u64, to_ns: u64) {
        let (from, span) = (from_ns.cast_signed(), to_ns - from_ns);
        if from == 0 {
            self.firsts = self.firsts.saturating_add(1);
            self.firsts_ns += span.cast_signed();
        }
        let bin = rung_of(span).saturating_sub(FIRST);
        let newly: Mask =
            std::array::from_fn(|i| bits.accessed[i] & self.watched[i] & !self.known[i]);
        let mut seen = 0.0;
        for page in ones(&newly) {
            let page = &mut self.pages[page - self.first];
            page.counts[bin] = page.counts[bin].saturating_add(1);
            page.late_ns += from;
            seen += 1.0;
        }
        self.spans[bin].0 += seen;
        self.spans[bin].1 += seen * span as f64 * 1e-9;
        for (known, newly) in self.known.iter_mut().zip(newly) {
            *known |= newly;
        }
    }

    /// Whatever the look is worth as a trial, these pages were accessed in this epoch.
    pub(crate) fn note_accessed(&mut self, bits: &RowBits) {
        for (accessed, now) in self.accessed.iter_mut().zip(bits.accessed) {
            *accessed |= now;
        }
    }

    /// The burst under way ends; its last look that was a trial was `gap_ns` after the clearing.
    pub(crate) fn close(&mut self, gap_ns: u64) {
        self.unseen_ns += gap_ns.cast_signed();
        for page in ones(&self.known) {
            self.pages[page - self.first].late_ns -= gap_ns.cast_signed();
        }
        self.known = Mask::default();
    }

    pub(crate) fn watched(&self) -> &Mask {
        &self.watched
    }

    pub(crate) fn accessed(&self) -> &Mask {
        &self.accessed
    }

    /// Mean time in which the sightings of each bin happened, s.
    pub(crate) fn spans(&self) -> [f64; BINS] {
        self.spans.map(|(count, sum)| if count > 0.0 { sum / count } else { 0.0 })
    }

    /// What was seen of a watched page, by its number in the region.
    pub(crate) fn page(&self, page: usize) -> Trial {
        let Seen { counts, late_ns } = self.pages[page - self.first];
        Trial { counts, unseen_s: (self.unseen_ns + late_ns).max(0) as f64 * 1e-9 }
    }

    /// First looks, if a page was seen at (nearly) all of them.
    pub(crate) fn always_seen(&self, trial: &Trial) -> Option<u16> {
        let always = trial.unseen_s <= NEARLY * self.firsts_ns as f64 * 1e-9;
        always.then_some(self.firsts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn seen(pages: &[usize]) -> RowBits {
        let mut bits = RowBits::default();
        for page in pages {
            bits.accessed[page / 64] |= 1 << (page % 64);
        }
        bits
    }

    #[test]
    fn a_page_is_unseen_until_the_look_before_it_was_seen() {
        let start = 128 * 4096;
        let mut trials = PageTrials::new(Range { start, end: start + 64 * 4096 });
        trials.note(&seen(&[130]), 0, MS);
        // What is not watched does not count.
        trials.note(&seen(&[130, 140, 300]), MS, 5 * MS);
        trials.close(5 * MS);
        trials.note(&seen(&[130]), 0, MS);
        trials.close(MS);

        let page = |page| (trials.page(page).seen(), trials.page(page).unseen_s);
        assert_eq!(page(130), (2.0, 0.0), "seen at the first look of both bursts");
        assert_eq!(page(140), (1.0, 0.002), "unseen for 1 ms, and in the second burst");
        assert_eq!(page(150), (0.0, 0.006));
        let spans = trials.spans();
        let of = |page: usize| -> f64 {
            let counts = trials.page(page).counts;
            counts.iter().zip(spans).map(|(count, span)| f64::from(*count) * span).sum()
        };
        assert_eq!((of(130), of(140)), (0.002, 0.004), "it was accessed within that time");
    }

    #[test]
    fn always_seen_is_seen_at_every_first_look() {
        let mut trials = PageTrials::new(Range { start: 0, end: 1 << 21 });
        for _ in 0..3 {
            trials.note(&seen(&[7]), 0, MS);
            trials.note(&seen(&[7, 8]), MS, 4 * MS);
            trials.close(4 * MS);
        }
        let always = |page| trials.always_seen(&trials.page(page));
        assert_eq!((always(7), always(8), always(9)), (Some(3), None, None));
    }
}
