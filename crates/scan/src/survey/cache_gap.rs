//! The time in which a process touches as many pages as its CPU caches hold, by its CPU time. A page
//! that is touched again within it was in the cache, one that was not came from memory: Che's
//! approximation of a cache (Che, Tung, Wang 2002), whose characteristic time this is, by pages. It
//! is read off the working-set function, how many pages are touched within a gap, which the visits
//! sample.

use super::ladder::LONGEST_NS;
use super::visit::Visit;

/// Gaps at which the working set is known: 25 us to 0.2 s by factors of the root of 2.
const POINTS: usize = 27;
const FIRST_NS: f64 = 25_000.0;
/// What an epoch counts for one epoch later.
const KEEP: f64 = 0.7;

fn point_ns(point: usize) -> f64 {
    FIRST_NS * (point as f64 / 2.0).exp2()
}

/// The huge pages of a process, whose touched base pages nobody sees.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Huge {
    /// Accesses per second to each that was ever visited.
    pub(crate) rates: Vec<f64>,
    /// How many there are; those that were not visited are taken to be like the others.
    pub(crate) all: f64,
}

impl Huge {
    /// Base pages touched within a gap: accesses are taken to be spread over all of a huge page.
    fn touched(&self, gap_ns: f64) -> f64 {
        let of = |rate: &f64| 512.0 * -(-rate * gap_ns * 1e-9 / 512.0).exp_m1();
        let known = self.rates.len().max(1) as f64;
        self.rates.iter().map(of).sum::<f64>() * self.all.max(known) / known
    }
}

/// The working-set function of a process, as far as known.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct WorkingSet {
    /// Weighted pages seen within a gap, and watched.
    sums: [(f64, f64); POINTS],
    /// The same of those whose translations may have stayed in the CPU: so many were touched at least.
    cached: [(f64, f64); POINTS],
}

impl WorkingSet {
    /// An epoch begins.
    pub(crate) fn fade(&mut self) {
        for (seen, watched) in self.sums.iter_mut().chain(&mut self.cached) {
            (*seen, *watched) = (*seen * KEEP, *watched * KEEP);
        }
    }

    /// Takes in a visit that stands for `weight` such regions.
    pub(crate) fn add(&mut self, visit: &Visit, weight: f64) {
        if visit.huge {
            return;
        }
        let sums = if visit.cached { &mut self.cached } else { &mut self.sums };
        for (point, (seen, watched)) in sums.iter_mut().enumerate() {
            if let Some(pages) = visit.seen_within(point_ns(point)) {
                *seen += weight * pages;
                *watched += weight * f64::from(visit.pages);
            }
        }
    }

    /// The gap in which so many of `resident` pages and of huge ones are touched, ns. None until
    /// something was watched; the longest gap if fewer are touched in it.
    pub(crate) fn gap_ns(&self, pages: f64, resident: f64, huge: &Huge) -> Option<f64> {
        let unwatched = self.sums.iter().all(|(_, watched)| *watched <= 0.0);
        let unseen = self.cached.iter().all(|(seen, _)| *seen <= 0.0);
        if unwatched && unseen && huge.rates.is_empty() {
            return None;
        }
        let of_resident = |(seen, watched): (f64, f64)| {
            if watched > 0.0 { seen / watched * resident } else { 0.0 }
        };
        let mut before = (0.0, 0.0);
        for (point, (watched, cached)) in self.sums.iter().zip(&self.cached).enumerate() {
            let gap = point_ns(point);
            // Of what stayed in the CPU's cache of translations nothing was seen: together they may say too
            // little, but what was seen was touched.
            let both = (watched.0 + cached.0, watched.1 + cached.1);
            let base = of_resident(*watched).max(of_resident(both));
            let touched = base + huge.touched(gap);
            if touched >= pages {
                let part = (pages - before.1) / (touched - before.1).max(1e-9);
                return Some(before.0 + part.clamp(0.0, 1.0) * (gap - before.0));
            }
            before = (gap, touched.max(before.1));
        }
        Some(LONGEST_NS as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gap_fills_the_cache() {
        // A region stands for all: 512 pages, each touched 1,000 times a second.
        let mut visit = Visit { pages: 512, ..Visit::default() };
        for k in 0..10 {
            let gap = 25e3 * 2f64.powi(k);
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "below 512"
            )]
            visit.take(gap, (512.0 * -(-1e3 * gap * 1e-9).exp_m1()) as u16, None);
        }
        let mut set = WorkingSet::default();
        assert_eq!(set.gap_ns(512.0, 51_200.0, &Huge::default()), None);
        set.add(&visit, 1.0);
        // 512 of 51,200 pages: one in a hundred is touched within 10 us.
        let gap = set.gap_ns(512.0, 51_200.0, &Huge::default()).unwrap();
        assert!((gap / 10_050.0 - 1.0).abs() < 0.1, "{gap}");
        let gap = set.gap_ns(5_120.0, 51_200.0, &Huge::default()).unwrap();
        assert!((gap / 105_360.0 - 1.0).abs() < 0.05, "{gap}");
        assert_eq!(set.gap_ns(60_000.0, 51_200.0, &Huge::default()), Some(LONGEST_NS as f64));
        let alone = |visited| {
            let huge = Huge { rates: vec![10_000.0; visited], all: 100.0 };
            WorkingSet::default().gap_ns(512.0, 0.0, &huge).unwrap()
        };
        assert!((alone(100) / 512e-6 / 1e9 - 1.0).abs() < 0.05, "{}", alone(100));
        assert!((alone(25) / alone(100) - 1.0).abs() < 1e-9, "three in four were not visited");
    }
    #[test]
    fn what_was_seen_without_a_flush_was_touched_all_the_same() {
        let visit = |seen| {
            let mut visit = Visit { pages: 512, cached: true, late: true, ..Visit::default() };
            visit.take(32e6, seen, None);
            visit
        };
        let gap_ns = |set: &WorkingSet| set.gap_ns(512.0, 8_192.0, &Huge::default());
        let mut set = WorkingSet::default();
        set.add(&visit(0), 1.0);
        assert_eq!(gap_ns(&set), None, "nothing was seen, and nothing flushed");
        // Half of 16 regions was touched whole within 32 ms: 4,096 pages, eight times the cache.
        for region in 0..16 {
            set.add(&visit(if region % 2 == 0 { 512 } else { 0 }), 1.0);
        }
        let gap = gap_ns(&set).unwrap();
        assert!((gap / 4e6 - 1.0).abs() < 0.1, "{gap}");
        // What is known for certain is not made less by what nobody could see.
        let mut certain = Visit { pages: 512, ..Visit::default() };
        certain.take(1e6, 512, None);
        set.add(&certain, 1.0);
        assert!(gap_ns(&set).unwrap() < 1e5, "{:?}", gap_ns(&set));
    }
}
