//! What an epoch's visits measured of a region: what a plan charges.

use super::visit::{Slope, Visit};

/// Pages that were cleared together with much else are too hot to measure where the first look saw so many of them.
const SATURATED: f64 = 0.95;

/// See the module.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Measured {
    /// Pages that were watched, and most of them seen accessed; a huge page counts with all.
    pub(crate) pages: u16,
    pub(crate) touched: u16,
    /// It was accessed in this epoch.
    pub(crate) accessed: bool,
    /// What went past the caches per second of CPU time of the process, in this epoch alone.
    pub(crate) traffic: Slope,
    /// The lines of it that a plan charges (see charge.rs).
    pub(crate) charged: f64,
    /// Pages that were cleared together with much else and nearly all seen at the first look: it is hotter than was measured.
    /// (Of a huge page: `History::is_too_hot_to_measure`.)
    pub(crate) saturated: bool,
    /// By glimpses of a part of its pages, which differ: of all together it tells the traffic, and nothing else.
    pub(crate) partly: bool,
}

/// What a visit's process is like.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct OfProcess {
    /// CPU time in which what is touched fills the caches, ns.
    pub(crate) gap_ns: f64,
    /// CPU seconds that it used per second, on average over the visits to it.
    pub(crate) cores: f64,
}

impl Measured {
    /// Of a region with so many resident pages; None if it was not watched. `of_process`: what is
    /// known of its process; `chance`: how likely a visit was, so that the sum over regions is right
    /// on average (Horvitz and Thompson 1952).
    pub(crate) fn of(
        visits: &[&Visit],
        resident: u16,
        of_process: OfProcess,
        chance: f64,
    ) -> Option<Self> {
        let OfProcess { gap_ns, cores } = of_process;
        let valid = || visits.iter().filter(|visit| !visit.refused && visit.pages > 0);
        let last = valid().next_back()?;
        let (mut sum, mut measured, mut ran) = (Slope::default(), 0.0, false);
        let (mut first_looks, mut seen_at_once) = (0.0, 0.0);
        for visit in valid() {
            if visit.measures(gap_ns) {
                // While many threads ran more came in.
                let busy = if cores > 0.0 { visit.cores() / cores } else { 1.0 };
                let slope = visit.slope(gap_ns).unwrap_or_default();
                let times = busy * visit.stands_for(resident);
                sum += slope.times(times);
                measured += 1.0;
            }
            ran |= visit.reach_ns() > 0.0;
            if let Some(first) = visit.looks.first().filter(|_| visit.late && !visit.huge) {
                first_looks += f64::from(visit.pages);
                seen_at_once += f64::from(first.seen);
            }
        }
        let touched =
            valid().map(|v| v.looks.last().map_or(0, |look| look.seen)).max().unwrap_or(0);
        let accessed = valid().any(|visit| visit.accessed);
        // Of what stayed in the CPU's cache of translations nothing was seen; if nothing ran there
        // was nothing to see.
        if last.cached && !accessed && ran {
            return None;
        }
        let each = if measured > 0.0 { 1.0 / measured / chance.clamp(1e-6, 1.0) } else { 0.0 };
        let pages = if last.huge { resident } else { last.pages };
        Some(Self {
            pages,
            touched: if last.huge { resident * u16::from(accessed) } else { touched },
            accessed,
            traffic: Slope { lines: sum.lines.max(0.0), ..sum }.times(each),
            charged: 0.0,
            partly: false,
            saturated: first_looks > 0.0 && seen_at_once >= SATURATED * first_looks,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const USUAL: OfProcess = OfProcess { gap_ns: 1e5, cores: 1.0 };

    fn visit(looks: &[(f64, u16)]) -> Visit {
        let mut visit = Visit { pages: 100, ..Visit::default() };
        looks.iter().for_each(|(gap_ns, seen)| visit.take(*gap_ns, *seen, None));
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small")]
        let waited = visit.reach_ns() as u64;
        Visit { waited_ns: waited, ..visit }
    }

    #[test]
    fn visits_average_and_rare_ones_stand_for_more() {
        let (some, none) = (visit(&[(5e4, 0), (2e5, 15)]), visit(&[(5e4, 0), (2e5, 0)]));
        let both = Measured::of(&[&some, &none], 100, USUAL, 1.0).unwrap();
        assert!((both.traffic.pages - 50e3).abs() < 1.0, "{both:?}");
        assert!(both.accessed && both.touched == 15);
        let rare = Measured::of(&[&some], 100, USUAL, 0.25).unwrap();
        assert!((rare.traffic.pages - 400e3).abs() < 1.0, "{rare:?}");
    }

    #[test]
    fn a_visit_while_many_threads_ran_counts_for_more() {
        // Four threads half of the time, none the other half: two on average.
        let busy = Visit { waited_ns: 50_000, ..visit(&[(5e4, 0), (2e5, 15)]) };
        let idle = Visit { waited_ns: 50_000, ..Visit { pages: 100, ..Visit::default() } };
        let of_process = OfProcess { cores: 2.0, ..USUAL };
        let both = Measured::of(&[&busy, &idle], 100, of_process, 1.0).unwrap();
        assert!((both.traffic.pages - 100e3).abs() < 1.0, "{both:?}");
    }

    #[test]
    fn what_was_refused_was_not_watched() {
        let refused = Visit { refused: true, ..visit(&[(5e4, 3)]) };
        assert_eq!(Measured::of(&[&refused], 100, USUAL, 1.0), None);
        assert_eq!(Measured::of(&[], 100, USUAL, 1.0), None);
    }

    #[test]
    fn what_was_not_seen_and_may_have_stayed_cached_is_unknown() {
        let cached = Visit { cached: true, late: true, ..visit(&[(3.3e8, 0)]) };
        assert_eq!(Measured::of(&[&cached], 100, USUAL, 1.0), None);
        // A process that sleeps most of the time does not run for its cache gap in a visit; it ran all the same.
        let sleepy = OfProcess { gap_ns: 2e8, cores: 0.1 };
        let cached = Visit { cached: true, late: true, ..visit(&[(3.3e7, 0)]) };
        assert_eq!(Measured::of(&[&cached], 100, sleepy, 1.0), None);
        let hot = Visit { late: true, ..visit(&[(5e6, 100)]) };
        let hot = Measured::of(&[&hot], 100, USUAL, 1.0).unwrap();
        assert!(hot.saturated && (hot.traffic.pages - 20e3).abs() < 1.0, "{hot:?}");
    }
}
