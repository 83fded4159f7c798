//! What is remembered of single pages, and their rates. A page has few sightings of its own, and
//! the luckiest of many would look hot: so each is taken to be one of the pages of its region,
//! whose rates are distributed as its mixture says, and gets what is expected of such a page given
//! what was seen of it (empirical Bayes; B. Efron, Large-Scale Inference, 2010, chapter 1).
//!
//! What was seen of a page is remembered as a count of accesses in a time: one access half way
//! between the looks that saw it and that did not, none in a time in which it stayed unseen. Half way is too rough
//! for the look that ends a visit, long after the others: of those it is kept in how long a time one access or more was.

use super::borne_out::BorneOut;
use super::{OfRegion, REGION};
use crate::survey::mixture::{RATES, Weights, counts, rate};
use crate::survey::visit::{LATER, Visit};
use pagetide_types::KEEP;
use rustc_hash::FxHashMap;
use std::sync::LazyLock;

/// Counts and times that differ by less than an eighth are taken for alike: so many of their last bits are left out.
const ROUGH: u32 = f32::MANTISSA_DIGITS - 1 - 3;
/// What faded to less than this was never seen.
const LITTLE: f32 = 0.01;

/// Sightings of the pages of a region.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Memory {
    counts: [f32; REGION],
    /// Seconds of CPU time of the target; 0 if never watched.
    times: [f32; REGION],
    /// Visits in which only the last look saw it, and the seconds between that and the look before, added up.
    late: [f32; REGION],
    late_s: [f32; REGION],
    /// What is expected of each, per second of CPU time.
    pub(super) rates: [f32; REGION],
    /// Accesses past the caches in this epoch alone, as measured.
    pub(super) traffic: [f32; REGION],
    /// How well later visits bore out how these rates differ, and how much of that is taken to come true.
    pub(super) borne_out: BorneOut,
    pub(super) comes_true: f32,
    /// What is expected of each if all are accessed alike.
    pub(super) if_alike: f32,
}

impl Memory {
    pub(super) fn new() -> Box<Self> {
        Box::new(Self {
            counts: [0.0; REGION],
            times: [0.0; REGION],
            late: [0.0; REGION],
            late_s: [0.0; REGION],
            rates: [0.0; REGION],
            traffic: [0.0; REGION],
            borne_out: BorneOut::default(),
            comes_true: 0.5,
            if_alike: 0.0,
        })
    }

    /// Such a rate, where differences come true in part only.
    pub(super) fn drawn(&self, rate: f32) -> f32 {
        self.if_alike + self.comes_true * (rate - self.if_alike)
    }

    /// Forgets what was seen before.
    pub(super) fn forget(&mut self) {
        (self.counts, self.times) = ([0.0; REGION], [0.0; REGION]);
        (self.late, self.late_s) = ([0.0; REGION], [0.0; REGION]);
        (self.rates, self.borne_out) = ([0.0; REGION], BorneOut::default());
        (self.comes_true, self.if_alike) = (0.5, 0.0);
    }

    /// Adds an epoch's visits.
    pub(super) fn learn(&mut self, visits: &[&Visit], of_region: &OfRegion<'_>) {
        let OfRegion { weights, gap_s, cores, chance, lines, charged, .. } = *of_region;
        self.borne_out.fade();
        for visit in visits {
            self.borne_out.learn(&self.rates, lines, visit);
        }
        let seen = self.counts.iter_mut().chain(&mut self.times);
        let late = self.late.iter_mut().chain(&mut self.late_s);
        seen.chain(late).for_each(|value| *value *= KEEP);
        self.traffic = [0.0; REGION];
        let measured = visits.iter().filter(|visit| visit.measures(gap_s * 1e9)).count();
        for visit in visits {
            let busy = if cores > 0.0 { visit.cores() / cores } else { 1.0 };
            self.add(visit, gap_s * 1e9, chance * measured.max(1) as f64 / (charged * busy));
        }
        let counts = counts(gap_s);
        let mut known: FxHashMap<u64, f64> = FxHashMap::default();
        for page in 0..REGION {
            let of = |values: &[f32; REGION]| values[page];
            let seen = Seen {
                count: of(&self.counts),
                time: of(&self.times),
                late: of(&self.late),
                late_s: of(&self.late_s),
            };
            let of = known.entry(seen.key()).or_insert_with(|| seen.expected(weights, &counts));
            self.rates[page] = single(lines * *of);
        }
    }

    fn add(&mut self, visit: &Visit, gap_ns: f64, visits: f64) {
        let Some(first_seen) = &visit.first_seen else { return };
        let (from, to) = visit.window(gap_ns);
        let counts = visit.slope(gap_ns).is_some();
        let shown = first_seen.iter().enumerate().filter(|(page, _)| visit.shows(*page));
        for (page, look) in shown {
            let Some(seen) = visit.looks.get(usize::from(*look)) else {
                self.times[page] += single(visit.reach_ns() * 1e-9);
                if let Some(end) = &visit.end {
                    let between = single((end.gap_ns - visit.reach_ns()) * 1e-9);
                    if *look == LATER {
                        self.late[page] += 1.0;
                        self.late_s[page] += between;
                    } else {
                        self.times[page] += between;
                    }
                }
                continue;
            };
            let before =
                usize::from(*look).checked_sub(1).map_or(0.0, |look| visit.looks[look].gap_ns);
            self.counts[page] += 1.0;
            self.times[page] += single(f64::midpoint(before, seen.gap_ns) * 1e-9);
            let inside = (seen.gap_ns.min(to) - before.max(from)).max(0.0);
            if counts && inside > 0.0 {
                let part = inside / (seen.gap_ns - before);
                self.traffic[page] += single(part / (to - from) * 1e9 / visits);
            }
        }
    }
}

/// The rates of the grid, and their logarithms.
static GRID: LazyLock<[(f64, f64); RATES]> =
    LazyLock::new(|| std::array::from_fn(|place| (rate(place), rate(place).ln())));
/// A factor of 2 in so many steps.
const STEPS: f32 = 8.0;
/// The shortest time of [`ACCESSED`], as a logarithm to base 2, and how many there are: 1 us to an hour.
const SHORTEST: f32 = -20.0;
const TIMES: usize = 256;

/// The logarithm of the chance of an access in a time, by the time's place and the rates of the grid.
static ACCESSED: LazyLock<Vec<[f64; RATES]>> = LazyLock::new(|| {
    let time = |place: usize| f64::from(place as f32 / STEPS + SHORTEST).exp2();
    let of = |time: f64| GRID.map(|(rate, _)| (-(-rate * time).exp_m1()).ln());
    (0..TIMES).map(|place| of(time(place))).collect()
});

/// The row of [`ACCESSED`] of about this time.
fn accessed_in(time_s: f32) -> &'static [f64; RATES] {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
    let place = (STEPS * (time_s.log2() - SHORTEST)).round() as usize;
    &ACCESSED[place.min(TIMES - 1)]
}

/// What is so many times (as a logarithm) less likely than the likeliest does not count.
const IMPOSSIBLE: f64 = -40.0;

/// What is remembered of one page.
struct Seen {
    count: f32,
    time: f32,
    late: f32,
    late_s: f32,
}

impl Seen {
    /// Alike for pages of which about the same was seen.
    fn key(&self) -> u64 {
        let place = |value: f32| u16::try_from(value.to_bits() >> ROUGH).unwrap_or(u16::MAX);
        let counted = |count: f32, value: f32| if count > LITTLE { place(value) } else { 0 };
        let Self { count, time, late, late_s } = *self;
        let places =
            [counted(count, count), place(time), counted(late, late), counted(late, late_s)];
        places.into_iter().fold(0, |key, place| key << u16::BITS | u64::from(place))
    }

    /// What is expected of it, per second, where pages with the rates of the grid count for so much.
    fn expected(&self, weights: &Weights, counts: &[f64; RATES]) -> f64 {
        let [count, time, late] = [self.count, self.time, self.late].map(f64::from);
        let mut likely = GRID.each_ref().map(|(rate, _)| -rate * time);
        if self.count > LITTLE {
            likely.iter_mut().zip(&*GRID).for_each(|(likely, (_, log))| *likely += log * count);
        }
        if self.late > LITTLE {
            let logs = accessed_in(self.late_s / self.late);
            likely.iter_mut().zip(logs).for_each(|(likely, log)| *likely += log * late);
        }
        let most = likely.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let (mut all, mut sum) = (0.0, 0.0);
        for ((weight, likely), count) in weights.iter().zip(&likely).zip(counts) {
            if *likely - most > IMPOSSIBLE {
                let part = f64::from(*weight) * (likely - most).exp();
                (all, sum) = (all + part, sum + part * count);
            }
        }
        if all > 0.0 { sum / all } else { 0.0 }
    }
}

/// Rates and times: single precision holds them.
#[expect(clippy::cast_possible_truncation, reason = "in range")]
pub(super) fn single(value: f64) -> f32 {
    value as f32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::survey::mixture::flat;

    #[test]
    fn of_whom_nothing_else_is_known_a_page_is_as_hot_as_it_was_seen() {
        // Equal weights on a logarithmic grid: the rate follows a gamma distribution of so many accesses.
        for (count, time) in [(1.0, 0.01), (1.0, 1.0), (100.0, 1.0), (100.0, 100.0)] {
            let seen = Seen { count, time, late: 0.0, late_s: 0.0 };
            let found = seen.expected(&flat(), &counts(0.0)) * f64::from(time / count);
            assert!((0.6..1.5).contains(&found), "{count} in {time} s: {found} times");
        }
    }
}
