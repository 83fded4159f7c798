//! What one visit to a region saw: its accessed bits were cleared once, and looked at some times
//! after. Of single pages, at which look each was first seen.

use crate::walk::row::RowBits;

/// A page that was not seen at any look.
pub(crate) const NEVER: u8 = u8::MAX;

/// A look after a clearing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Look {
    /// CPU time of the target since the clearing, ns.
    pub(crate) gap_ns: f64,
    /// Pages seen accessed by then; of a huge page 0 or 1.
    pub(crate) seen: u16,
}

/// See the module.
#[derive(Clone, Debug, Default)]
pub(crate) struct Visit {
    /// Position in the list of regions.
    pub(crate) region: usize,
    /// When it was cleared, ns.
    pub(crate) cleared_ns: u64,
    /// Looks in order; the gaps ascend. A look before which the target did not run is not there.
    pub(crate) looks: Vec<Look>,
    /// Pages that were watched: resident ones that can be cleared; of a huge page 1.
    pub(crate) pages: u16,
    /// Resident pages among them whose bits nothing clears; they look always accessed.
    pub(crate) stuck: u16,
    /// The kernel refused to clear it.
    pub(crate) refused: bool,
    /// Nothing flushed the translations: what is not seen may have been accessed.
    pub(crate) cached: bool,
    /// Cleared together with much else: the first look is late.
    pub(crate) late: bool,
    pub(crate) huge: bool,
    /// Some page was seen accessed, even if the look is no trial.
    pub(crate) accessed: bool,
    /// It was cleared again, or the epoch ended.
    pub(crate) closed: bool,
    /// By page of the region of the page table, the look at which it was first seen.
    pub(crate) first_seen: Option<Box<[u8; 512]>>,
}

impl Visit {
    /// Takes a look: `seen` pages were accessed `gap_ns` of the target's CPU time after the
    /// clearing. `bits`: the single pages, where they count.
    pub(crate) fn take(&mut self, gap_ns: f64, seen: u16, bits: Option<&RowBits>) {
        let seen = seen.min(self.pages);
        self.accessed |= seen > 0;
        let before = self.looks.last().map_or(0.0, |look| look.gap_ns);
        if gap_ns <= before || self.looks.len() >= usize::from(NEVER) {
            return;
        }
        let at = u8::try_from(self.looks.len()).unwrap_or(NEVER - 1);
        // Pages that were seen and are gone since were accessed all the same.
        let seen = seen.max(self.looks.last().map_or(0, |look| look.seen));
        self.looks.push(Look { gap_ns, seen });
        if let Some((first, bits)) = self.first_seen.as_mut().zip(bits) {
            for (page, first) in first.iter_mut().enumerate().filter(|(_, first)| **first == NEVER)
            {
                if bits.accessed[page / 64] >> (page % 64) & 1 != 0 {
                    *first = at;
                }
            }
        }
    }

    /// CPU time of the target from the clearing to the last look, ns.
    pub(crate) fn reach_ns(&self) -> f64 {
        self.looks.last().map_or(0.0, |look| look.gap_ns)
    }

    /// Pages seen within a gap, by straight lines between the looks; None beyond the last.
    pub(crate) fn seen_within(&self, gap_ns: f64) -> Option<f64> {
        let mut before = Look { gap_ns: 0.0, seen: 0 };
        for look in &self.looks {
            if gap_ns <= look.gap_ns {
                let part = (gap_ns - before.gap_ns) / (look.gap_ns - before.gap_ns);
                return Some(
                    f64::from(before.seen) + part * (f64::from(look.seen) - f64::from(before.seen)),
                );
            }
            before = *look;
        }
        None
    }

    /// Pages per second of CPU time that are first seen about `gap_ns` after a clearing: between
    /// half of it and twice it, or as near to that as was looked at. None if the target hardly ran.
    ///
    /// It is the slope of the working-set function (Denning and Schwartz, "Properties of the
    /// working-set model", CACM 1972): the rate at which pages come in that were not touched for
    /// that long. With the gap in which what is touched fills a cache, that is the traffic past it.
    pub(crate) fn slope(&self, gap_ns: f64) -> Option<f64> {
        if self.late {
            // What is seen at the first look was accessed at least once by then.
            let first = self.looks.first()?;
            return Some(f64::from(first.seen) / first.gap_ns * 1e9);
        }
        let to = (2.0 * gap_ns).min(self.reach_ns());
        let from = (gap_ns / 2.0).min(to / 4.0);
        let seen = self.seen_within(to)? - self.seen_within(from)?;
        (to >= gap_ns && to > from).then(|| seen / (to - from) * 1e9)
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
        let slope = |gap_ns| seen.slope(gap_ns).map(f64::round);
        assert_eq!(slope(100e3), Some(100_000.0), "15 pages in 150 us");
        assert_eq!(seen.seen_within(75e3), Some(13.0));
        assert_eq!(seen.seen_within(900e3), None);
        // Looked at for less than twice the gap, but for the gap.
        assert_eq!(slope(600e3), Some(25_000.0), "15 pages in 600 us");
        assert_eq!(slope(900e3), None, "never looked at after so long");
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
        let first = visit.first_seen.unwrap();
        assert_eq!((first[0], first[1], first[2]), (0, NEVER, 1));
    }
}
