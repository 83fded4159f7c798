//! What is remembered of single pages, and their rates. A page has few sightings of its own, and
//! the luckiest of many would look hot: so each is taken to be one of the pages of its region,
//! whose rates are distributed as its mixture says, and gets what is expected of such a page given
//! what was seen of it (empirical Bayes; B. Efron, Large-Scale Inference, 2010, chapter 1).
//!
//! What was seen of a page is remembered as a count of accesses in a time: one access half way
//! between the looks that saw it and that did not, none in a time in which it stayed unseen.

use super::{OfRegion, REGION};
use crate::survey::history::KEEP;
use crate::survey::mixture::{RATES, Weights, counts_for, rate};
use crate::survey::visit::Visit;
use std::collections::HashMap;

/// Counts and times that differ by less than this share are taken for alike.
const FINE: f64 = 8.0;

/// Sightings of the pages of a region.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Memory {
    counts: [f32; REGION],
    /// Seconds of CPU time of the target; 0 if never watched.
    times: [f32; REGION],
    /// What is expected of each, per second of CPU time.
    pub(super) rates: [f32; REGION],
    /// Accesses past the caches in this epoch alone, as measured.
    pub(super) traffic: [f32; REGION],
}

impl Memory {
    pub(super) fn new() -> Box<Self> {
        Box::new(Self {
            counts: [0.0; REGION],
            times: [0.0; REGION],
            rates: [0.0; REGION],
            traffic: [0.0; REGION],
        })
    }

    /// Forgets what was seen before.
    pub(super) fn forget(&mut self) {
        (self.counts, self.times) = ([0.0; REGION], [0.0; REGION]);
    }

    /// Adds an epoch's visits.
    pub(super) fn learn(&mut self, visits: &[&Visit], of_region: &OfRegion<'_>) {
        let OfRegion { weights, gap_s, cores, chance, lines, .. } = *of_region;
        self.counts.iter_mut().chain(&mut self.times).for_each(|value| *value *= KEEP);
        self.traffic = [0.0; REGION];
        let measured = visits.iter().filter(|visit| visit.measures(gap_s * 1e9)).count();
        for visit in visits {
            let busy = if cores > 0.0 { visit.cores() / cores } else { 1.0 };
            self.add(visit, gap_s * 1e9, chance * measured.max(1) as f64 / (lines * busy));
        }
        let mut known: HashMap<(i32, i32), f32> = HashMap::new();
        for page in 0..REGION {
            let (count, time) = (f64::from(self.counts[page]), f64::from(self.times[page]));
            #[expect(clippy::cast_possible_truncation, reason = "small")]
            let place = |value: f64| ((value.max(1e-12)).log2() * FINE).round() as i32;
            let key =
                if count > 0.01 { (place(count), place(time)) } else { (i32::MIN, place(time)) };
            self.rates[page] = *known
                .entry(key)
                .or_insert_with(|| single(lines * expected(weights, count, time, gap_s)));
        }
    }

    fn add(&mut self, visit: &Visit, gap_ns: f64, visits: f64) {
        let Some(first_seen) = &visit.first_seen else { return };
        let (from, to) = visit.window(gap_ns);
        let counts = visit.slope(gap_ns).is_some();
        for (page, look) in first_seen.iter().enumerate() {
            let Some(seen) = visit.looks.get(usize::from(*look)) else {
                self.times[page] += single(visit.reach_ns() * 1e-9);
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

/// What is expected of a page that was seen accessed `count` times in a time.
fn expected(weights: &Weights, count: f64, time: f64, gap_s: f64) -> f64 {
    let likely = |place: usize| -> f64 {
        let rate = rate(place);
        let accesses = if count > 0.01 { rate.ln() * count } else { 0.0 };
        accesses - rate * time
    };
    let most = (0..RATES).map(likely).fold(f64::NEG_INFINITY, f64::max);
    let (mut all, mut sum) = (0.0, 0.0);
    for (place, weight) in weights.iter().enumerate() {
        let weight = f64::from(*weight) * (likely(place) - most).exp();
        all += weight;
        sum += weight * counts_for(rate(place), gap_s);
    }
    if all > 0.0 { sum / all } else { 0.0 }
}

/// Rates and times: single precision holds them.
#[expect(clippy::cast_possible_truncation, reason = "in range")]
fn single(value: f64) -> f32 {
    value as f32
}
