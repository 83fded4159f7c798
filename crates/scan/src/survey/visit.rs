//! What one visit to a region saw: its accessed bits were cleared once, and looked at some times
//! after. Of single pages, at which look each was first seen.

use super::lines::{Rows, lines};
use crate::pages::{Mask, both, has};
use crate::walk::row::{Range, RowBits};
use std::ops::AddAssign;

/// A page that was not seen at any look.
pub(crate) const NEVER: u8 = u8::MAX;
/// A page that was accessed after the last look that counts.
pub(crate) const LATER: u8 = NEVER - 1;

/// A look after a clearing.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Look {
    /// CPU time of the target since the clearing, ns.
    pub(crate) gap_ns: f64,
    /// Pages seen accessed by then; of a huge page 0 or 1.
    pub(crate) seen: u16,
    /// How those lie that the first look did not see.
    pub(crate) rows: Rows,
}

/// See the module.
#[derive(Clone, Debug, Default)]
pub(crate) struct Visit {
    /// Position in the list of regions.
    pub(crate) region: usize,
    /// What was cleared and looked at; of a glimpse a part of the region.
    pub(crate) range: Range,
    pub(crate) glimpse: bool,
    /// When it was cleared, ns.
    pub(crate) cleared_ns: u64,
    /// Looks in order; the gaps ascend. A look before which the target did not run is not there.
    pub(crate) looks: Vec<Look>,
    /// The look before it was cleared again, or at the end of the epoch: long after the others, so it says
    /// nothing of traffic, but tells pages apart that are accessed seldom.
    pub(crate) end: Option<Look>,
    /// Pages that were watched: resident ones that can be cleared; of a huge page 1.
    pub(crate) pages: u16,
    /// Resident pages among them whose bits nothing clears; they look always accessed.
    pub(crate) stuck: u16,
    /// The kernel refused to clear it.
    pub(crate) refused: bool,
    /// Nothing flushed the translations: what is not seen may have been accessed.
    pub(crate) cached: bool,
    /// Cleared together with much else: not drawn, and its first look is late.
    pub(crate) late: bool,
    pub(crate) huge: bool,
    /// By the wall clock, from the clearing to the last look, ns.
    pub(crate) waited_ns: u64,
    /// Some page was seen accessed, even if the look is no trial.
    pub(crate) accessed: bool,
    /// It was cleared again, or the epoch ended.
    pub(crate) closed: bool,
    /// Pages that count (not those whose bits nothing clears), and that the first look saw.
    pub(crate) own: Mask,
    pub(crate) seen_first: Mask,
    /// By page of the region of the page table, the look at which it was first seen.
    pub(crate) first_seen: Option<Box<[u8; 512]>>,
    /// Those that were.
    pub(crate) seen: Mask,
}

impl Visit {
    /// Takes a look: `seen` pages were accessed `gap_ns` of the target's CPU time after the
    /// clearing. `bits`: the single pages, where they count.
    pub(crate) fn take(&mut self, gap_ns: f64, seen: u16, bits: Option<&RowBits>) {
        let seen = seen.min(self.pages);
        self.accessed |= seen > 0;
        let before = self.looks.last().map_or(0.0, |look| look.gap_ns);
        if gap_ns <= before || self.looks.len() >= usize::from(LATER) {
            return;
        }
        let at = u8::try_from(self.looks.len()).unwrap_or(LATER);
        // Pages that were seen and are gone since were accessed all the same.
        let seen = seen.max(self.looks.last().map_or(0, |look| look.seen));
        let rows = bits.map_or_else(Rows::default, |bits| self.rows(gap_ns, bits));
        self.looks.push(Look { gap_ns, seen, rows });
        self.mark(at, bits);
    }

    /// Takes the look that ends it, `gap_ns` after the clearing if that is known.
    pub(crate) fn take_end(&mut self, gap_ns: Option<f64>, seen: u16, bits: Option<&RowBits>) {
        self.accessed |= seen > 0;
        self.mark(LATER, bits);
        let Some(last) = self.looks.last() else { return };
        let longer = gap_ns.filter(|gap_ns| *gap_ns > last.gap_ns);
        if let Some(gap_ns) = longer.filter(|_| !self.late && !self.refused) {
            let seen = seen.min(self.pages).max(last.seen);
            self.end = Some(Look { gap_ns, seen, ..Look::default() });
        }
    }

    /// How many times what it saw a region of so many pages is.
    pub(crate) fn stands_for(&self, pages: u16) -> f64 {
        if self.glimpse { f64::from(pages) / f64::from(self.pages.max(1)) } else { 1.0 }
    }

    /// Whether it says anything of this page.
    pub(crate) fn shows(&self, page: usize) -> bool {
        !self.glimpse || has(&self.own, page)
    }

    fn mark(&mut self, look: u8, bits: Option<&RowBits>) {
        let Some((first, bits)) = self.first_seen.as_mut().zip(bits) else { return };
        for (word, (accessed, seen)) in bits.accessed.iter().zip(&mut self.seen).enumerate() {
            let mut new = accessed & !*seen;
            *seen |= new;
            while new != 0 {
                first[word * 64 + new.trailing_zeros() as usize] = look;
                new &= new - 1;
            }
        }
    }

    /// How pages lie that were first seen since the first look.
    fn rows(&mut self, gap_ns: f64, bits: &RowBits) -> Rows {
        let now = both(&bits.accessed, &self.own);
        let Some(first) = self.looks.first() else {
            self.seen_first = now;
            return Rows::default();
        };
        let later = gap_ns / first.gap_ns;
        let resident = both(&bits.present, &self.own);
        let left: Mask = std::array::from_fn(|i| resident[i] & !self.seen_first[i]);
        let new = both(&now, &left);
        Rows::of(&new, &left, &self.seen_first, later)
    }

    /// CPU time of the target from the clearing to the last look, ns.
    pub(crate) fn reach_ns(&self) -> f64 {
        self.looks.last().map_or(0.0, |look| look.gap_ns)
    }

    /// CPU seconds that the target used per second while it was looked at.
    pub(crate) fn cores(&self) -> f64 {
        if self.waited_ns > 0 { self.reach_ns() / self.waited_ns as f64 } else { 0.0 }
    }

    /// Whether it says what comes in about `gap_ns` after a clearing; of a target that did not run,
    /// that is nothing.
    pub(crate) fn measures(&self, gap_ns: f64) -> bool {
        self.slope(gap_ns).is_some() || (self.waited_ns > 0 && self.reach_ns() <= 0.0)
    }

    /// Pages seen within a gap, by straight lines between the looks; None beyond the last.
    pub(crate) fn seen_within(&self, gap_ns: f64) -> Option<f64> {
        self.until(gap_ns).map(|[seen, ..]| seen)
    }

    /// Pages seen within a gap, of them those that were read in order, and in two ways those that were read whole, and the
    /// variance of these.
    fn until(&self, gap_ns: f64) -> Option<[f64; 5]> {
        let mut before = Look::default();
        let of = |look: &Look| {
            let [line, two] = look.rows.whole();
            [f64::from(look.seen), look.rows.streamed, line, two, look.rows.noise]
        };
        for look in &self.looks {
            if gap_ns <= look.gap_ns {
                let part = (gap_ns - before.gap_ns) / (look.gap_ns - before.gap_ns);
                let (from, to) = (of(&before), of(look));
                return Some(std::array::from_fn(|i| from[i] + part * (to[i] - from[i])));
            }
            before = *look;
        }
        None
    }

    /// Times after the clearing between which the slope at `gap_ns` is measured.
    pub(crate) fn window(&self, gap_ns: f64) -> (f64, f64) {
        let to = (2.0 * gap_ns).min(self.reach_ns());
        ((gap_ns / 2.0).min(to / 4.0), to)
    }

    /// What comes in about `gap_ns` after a clearing, per second of CPU time: between half of the
    /// gap and twice it, or as near to that as was looked at. None if the target hardly ran.
    ///
    /// It is the slope of the working-set function (Denning and Schwartz, "Properties of the
    /// working-set model", CACM 1972): the rate at which pages come in that were not touched for
    /// that long. With the gap in which what is touched fills a cache, that is the traffic past it.
    pub(crate) fn slope(&self, gap_ns: f64) -> Option<Slope> {
        let (from, to) = self.window(gap_ns);
        // Rows are told since the first look, which may have come late.
        let told = self.looks.first().map_or(from, |look| look.gap_ns.clamp(from, to));
        let (until, before) = (self.until(to)?, [self.until(from)?, self.until(told)?]);
        let per_second = |i: usize, from: f64, before: &[f64; 5]| {
            if to > from { (until[i] - before[i]) / (to - from) * 1e9 } else { 0.0 }
        };
        let seen = per_second(0, from, &before[0]);
        let [streamed, line, two, noise] = [1, 2, 3, 4].map(|i| per_second(i, told, &before[1]));
        (to >= gap_ns && to > from).then(|| Slope {
            pages: seen,
            lines: lines(seen, streamed),
            whole: [line, two],
            noise: noise.max(0.0) * 1e9 / (to - told).max(1.0),
        })
    }
}

/// What comes in, per second of CPU time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Slope {
    /// Pages; of huge pages how often one is touched.
    pub(crate) pages: f64,
    /// Cache lines of base pages, as far as pages in a row tell.
    pub(crate) lines: f64,
    /// Pages that were read whole, in order or within objects, told in two ways; estimates, below 0 by chance, and the
    /// variance of that.
    pub(crate) whole: [f64; 2],
    pub(crate) noise: f64,
}

impl Slope {
    /// It times `by`.
    pub(crate) fn times(self, by: f64) -> Self {
        Self {
            pages: by * self.pages,
            lines: by * self.lines,
            whole: self.whole.map(|whole| by * whole),
            noise: by * by * self.noise,
        }
    }
}

impl AddAssign for Slope {
    fn add_assign(&mut self, other: Self) {
        self.pages += other.pages;
        self.lines += other.lines;
        self.whole.iter_mut().zip(other.whole).for_each(|(all, whole)| *all += whole);
        self.noise += other.noise;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn visit(looks: &[(f64, u16)]) -> Visit {
        let mut visit = Visit { pages: 512, ..Visit::default() };
        looks.iter().for_each(|(gap_ns, seen)| visit.take(*gap_ns, *seen, None));
        visit
    }

    #[test]
    fn the_slope_is_what_comes_in_around_the_gap() {
        let seen = visit(&[(50e3, 10), (100e3, 16), (200e3, 25), (800e3, 40)]);
        let slope = |gap_ns| seen.slope(gap_ns).map(|slope| slope.pages.round());
        assert_eq!(slope(100e3), Some(100_000.0), "15 pages in 150 us");
        assert_eq!(seen.seen_within(75e3), Some(13.0));
        assert_eq!(seen.seen_within(900e3), None);
        // Looked at for less than twice the gap, but for the gap.
        assert_eq!(slope(600e3), Some(25_000.0), "15 pages in 600 us");
        assert_eq!(slope(900e3), None, "never looked at after so long");
    }

    #[test]
    fn pages_in_order_are_told_since_the_first_look_however_late_it_came() {
        let mut visit = Visit { pages: 512, own: [!0; 8], ..Visit::default() };
        let bits = |accessed: [u64; 2]| RowBits {
            present: [!0; 8],
            accessed: [accessed[0], accessed[1], 0, 0, 0, 0, 0, 0],
            ..RowBits::default()
        };
        // A page every 2.5 us, one after the other.
        visit.take(150e3, 60, Some(&bits([(1 << 60) - 1, 0])));
        visit.take(200e3, 80, Some(&bits([!0, (1 << 16) - 1])));
        let slope = visit.slope(100e3).unwrap();
        assert!((slope.lines / slope.pages / 64.0 - 1.0).abs() < 0.1, "{slope:?}");
        assert!(slope.whole.map(|whole| whole / slope.pages).iter().all(|part| *part > 0.9));
        // Where it came too late to tell, nothing is told, nor is chance.
        let mut late = Visit { pages: 512, own: [!0; 8], ..Visit::default() };
        late.take(400e3, 60, Some(&bits([(1 << 60) - 1, 0])));
        let slope = late.slope(100e3).unwrap();
        assert_eq!((slope.whole, slope.noise), ([0.0; 2], 0.0));
    }

    #[test]
    fn by_a_late_look_pages_are_in_order_only_where_chance_would_not_have_touched_them() {
        let streamed = |first: u64, later: [u64; 8]| {
            let mut visit = Visit { pages: 512, own: [!0; 8], ..Visit::default() };
            let bits = |accessed| RowBits { present: [!0; 8], accessed, ..RowBits::default() };
            visit.take(
                50e3,
                8 * u16::try_from(first.count_ones()).unwrap(),
                Some(&bits([first; 8])),
            );
            let seen: u32 = later.iter().map(|word| word.count_ones()).sum();
            visit.take(800e3, u16::try_from(seen).unwrap(), Some(&bits(later)));
            visit.looks[1].rows.streamed
        };
        // 200 pages one after the other, and all of them, of which the first look saw none.
        assert!(streamed(0, [!0, !0, !0, 255, 0, 0, 0, 0]) > 190.0);
        assert_eq!(streamed(0, [!0; 8]), 512.0);
        // All of them, of which it saw an eighth: what is touched at random is all touched by then.
        assert_eq!(streamed(0x0101_0101_0101_0101, [!0; 8]), 0.0);
    }

    #[test]
    fn a_look_before_which_the_target_did_not_run_is_no_trial() {
        let mut idle = visit(&[(0.0, 0), (0.0, 0)]);
        assert_eq!((idle.looks.len(), idle.slope(100e3)), (0, None));
        idle.take(0.0, 3, None);
        assert!(idle.accessed, "but what is seen is seen");
    }

    #[test]
    fn pages_that_went_away_were_seen() {
        let seen = visit(&[(50e3, 10), (100e3, 4)]);
        assert_eq!(seen.looks[1].seen, 10);
    }

    #[test]
    fn single_pages_know_the_look_at_which_they_were_first_seen() {
        let mut visit =
            Visit { pages: 512, first_seen: Some(Box::new([NEVER; 512])), ..Visit::default() };
        let bits = |accessed: u64| RowBits {
            accessed: [accessed, 0, 0, 0, 0, 0, 0, 0],
            ..RowBits::default()
        };
        visit.take(1e3, 1, Some(&bits(0b001)));
        visit.take(2e3, 2, Some(&bits(0b101)));
        visit.take_end(Some(5e3), 3, Some(&bits(0b1101)));
        let first = visit.first_seen.take().unwrap();
        assert_eq!((first[0], first[1], first[2], first[3]), (0, NEVER, 1, LATER));
        assert_eq!((visit.looks.len(), visit.reach_ns()), (2, 2e3), "it measures no traffic");
        assert_eq!(visit.end.map(|look| (look.gap_ns, look.seen)), Some((5e3, 3)));
    }
}
