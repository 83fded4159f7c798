//! Which regions an epoch visits, as far as its budget goes, and what that costs.

use super::{Recorder, whole};
use crate::survey::draw::{Draw, draw, each_once};
use crate::survey::estimate::wanted;
use crate::survey::glimpse::Glimpsed;
use crate::survey::{Outcome, SMALL_WAVE, WAVE};
use crate::target::region::Region;
use crate::target::sharing::Sharing;
use std::time::Duration;

/// What a visit is taken to cost before the first was made, CPU time, ns; to a huge page, and with few looks,
/// a part of that.
const VISIT_NS: f64 = 120_000.0;
const HUGE: f64 = 0.25;
const COARSE: f64 = 0.55;
/// A glimpse, of such a visit.
const GLIMPSE: f64 = 0.3;
/// Weight of the last epoch in the mean cost.
const LEARN: f64 = 0.5;
/// Processes that use this share of the CPU time of the busiest decide when to look.
const BUSY: f32 = 0.25;
/// What fewer visits cost says little.
const FEW_VISITS: f64 = 8.0;

/// What an epoch visits.
pub(super) struct Drawn {
    /// All waves, and how often each region is visited on average over all draws, the first waves aside.
    pub(super) draw: Draw,
    /// Waves that come first, whose visits are to have few looks each; none if there is no hurry.
    pub(super) first: Option<First>,
}

/// Waves that visit each of these regions once.
pub(super) struct First {
    pub(super) waves: usize,
    regions: Vec<usize>,
}

impl Drawn {
    /// How likely each region was visited, of whose waves so many were begun, the first ones before all others.
    pub(super) fn chances(&self, begun: usize) -> Vec<f64> {
        let part = |begun: usize, of: usize| if of == 0 { 1.0 } else { begun as f64 / of as f64 };
        let first = self.first.as_ref().map_or(0, |first| first.waves);
        let others = part(begun.saturating_sub(first), self.draw.waves.len() - first);
        let mut chances: Vec<f64> =
            self.draw.expected.iter().map(|expected| chance(*expected, others)).collect();
        let done = part(begun.min(first), first);
        for region in self.first.iter().flat_map(|first| &first.regions) {
            chances[*region] = 1.0 - (1.0 - done) * (1.0 - chances[*region]);
        }
        chances.iter_mut().for_each(|chance| *chance = chance.clamp(1e-6, 1.0));
        chances
    }
}

/// How likely a region is visited at all that was to be visited so often on average, in as many
/// waves (or one more); of these the share `done` was begun.
fn chance(expected: f64, done: f64) -> f64 {
    let (times, more) = (expected.floor(), expected.fract());
    let never = (1.0 - done).powf(times);
    1.0 - never * (1.0 - more * done)
}

/// Visits to all that are spent ahead, beside the first ones: one to what these tell nothing of, and a second look.
const AGAIN: f64 = 2.0;

/// Of what pays for so many visits ahead: what the first ones cost, and [`AGAIN`] visits to each region at most.
fn ahead(paid: f64, first: f64, regions: usize) -> f64 {
    paid.min(first + AGAIN * regions as f64)
}

/// What a visit costs in all, CPU time, ns, with all looks and with few; none before the first.
#[derive(Debug, Default)]
pub(super) struct VisitCost([Option<f64>; 2]);

impl VisitCost {
    /// `huge`: share of the regions that are huge pages, which counts before the first visit.
    pub(super) fn of(&self, coarse: bool, huge: f64) -> f64 {
        let [fine, few] = self.0;
        let guess = || VISIT_NS * (1.0 - huge * (1.0 - HUGE));
        match coarse {
            false => fine.or(few.map(|few| few / COARSE)).unwrap_or_else(guess),
            true => few.or(fine.map(|fine| fine * COARSE)).unwrap_or_else(|| guess() * COARSE),
        }
    }

    fn learn(&mut self, coarse: bool, ns: f64) {
        let known = &mut self.0[usize::from(coarse)];
        *known = Some(known.map_or(ns, |known| known + LEARN * (ns - known)));
    }
}

impl Recorder {
    /// Draws as many visits as `budget_ns` of CPU time pays for, and finds out which pages of what
    /// was drawn cannot be cleared. What is spent ahead of that, `ahead_ns`, pays for [`AGAIN`] visits to all at most.
    pub(super) fn draw(&mut self, budget_ns: f64, ahead_ns: f64) -> Drawn {
        let cores: Vec<f32> = self.known.iter().map(|known| known.cores).collect();
        let floor: Vec<f64> = self.regions.iter().map(|region| f64::from(region.present)).collect();
        let unvisited = self.unvisited(false);
        let coarse = !unvisited.is_empty();
        let cost = self.visit_cost.of(coarse, self.huge_share());
        self.place_windows(&unvisited);
        let first = self.as_visits(&unvisited);
        let visits = budget_ns / cost + ahead(ahead_ns / cost, first, self.regions.len()) - first;
        let (sparse, left_out) = self.sparse(visits);
        let mut wanted = wanted(&self.regions, &cores, |region| self.can_visit(region));
        let out = wanted.iter_mut().zip(left_out).filter(|(_, out)| *out);
        out.for_each(|(wanted, _)| *wanted = 0.0);
        let visits = visits - sparse.len() as f64;
        let wave = if self.options.opening.is_some() { SMALL_WAVE } else { WAVE };
        let mut drawn = draw(&wanted, &floor, visits, wave, &mut random(&mut self.random));
        sparse.iter().for_each(|region| drawn.expected[*region] += 1.0);
        drawn.waves.splice(..0, each_once(&sparse, WAVE));
        if coarse {
            // First what nobody knows or knows no more, each once. Which of its pages cannot be cleared is found out
            // afterwards, of those that were visited.
            let first = self.in_order(&unvisited);
            let waves = first.len();
            drawn.waves.splice(..0, first);
            return Drawn { draw: drawn, first: Some(First { waves, regions: unvisited }) };
        }
        for wave in &mut drawn.waves {
            for region in wave.iter() {
                let region = &mut self.regions[*region];
                if region.sharing == Sharing::Unknown && !region.huge {
                    region.look_up_sharing(self.known[region.process].pid);
                }
            }
            wave.retain(|region| {
                let region = &self.regions[*region];
                !region.uncleared && region.weight() > 0
            });
        }
        Drawn { draw: drawn, first: None }
    }

    pub(super) fn can_visit(&self, region: &Region) -> bool {
        !region.uncleared && region.weight() > 0 && self.known[region.process].alive
    }

    /// For who wants a first answer soon: regions that nobody has visited, or not since the target changed; or
    /// the latter alone.
    fn unvisited(&self, outdated_only: bool) -> Vec<usize> {
        if self.options.opening.is_none() {
            return Vec::new();
        }
        // Who sleeps shows nothing, however often it is visited; who is watched sparsely waits.
        let ran = |region: &Region| {
            let known = &self.known[region.process];
            (self.epoch == 0 || known.cores > 0.0) && known.watch >= 1.0
        };
        let open = |region: &Region| !region.history.known() || region.glimpsed == Glimpsed::Part;
        let new = |region: &Region| !outdated_only && open(region) || region.outdated;
        let wanted = |region: &Region| new(region) && self.can_visit(region) && ran(region);
        let regions = self.regions.iter().enumerate();
        regions.filter(|(_, region)| wanted(region)).map(|(at, _)| at).collect()
    }

    /// CPU time that visiting those takes; none where nobody is left.
    pub(super) fn first_visits(&self, outdated_only: bool) -> Option<Duration> {
        let left = self.as_visits(&self.unvisited(outdated_only));
        let cost_ns = self.visit_cost.of(true, self.huge_share());
        (left > 0.0).then(|| Duration::from_nanos(whole(left * cost_ns)))
    }

    /// Whether a first visit to a region may be a glimpse.
    fn is_glimpse(region: &Region) -> bool {
        !region.history.known() && !region.outdated && region.glimpse(0.0).is_some()
    }

    /// What so many first visits cost, in visits with few looks to all of a region.
    fn as_visits(&self, regions: &[usize]) -> f64 {
        let cost = |region: &Region| if Self::is_glimpse(region) { GLIMPSE } else { 1.0 };
        regions.iter().map(|region| cost(&self.regions[*region])).sum()
    }

    /// Says of which part of each region a first visit is to be a glimpse.
    fn place_windows(&mut self, unvisited: &[usize]) {
        let mut random = random(&mut self.random);
        for at in unvisited {
            let region = &mut self.regions[*at];
            region.window = region.glimpse(random()).filter(|_| Self::is_glimpse(region));
        }
    }

    /// Waves of first visits: of those that a glimpse showed to be hot at the beginning.
    fn in_order(&self, unvisited: &[usize]) -> Vec<Vec<usize>> {
        let matters = self.options.single_pages.map_or(0.0, |single| single.matters);
        let hot = |at: &usize| f64::from(self.regions[*at].mean_rate()) >= matters.max(1e-9);
        let (hot, rest): (Vec<usize>, Vec<usize>) = unvisited.iter().copied().partition(hot);
        [hot, rest].iter().flat_map(|regions| each_once(regions, WAVE)).collect()
    }

    /// Which part of the regions are huge pages.
    pub(super) fn huge_share(&self) -> f64 {
        let regions = || self.regions.iter().filter(|region| self.can_visit(region));
        regions().filter(|region| region.huge).count() as f64 / regions().count().max(1) as f64
    }

    /// Learns what a visit costs in all, waking up and bookkeeping included.
    pub(super) fn learn_cost(&mut self, outcome: &Outcome, coarse: bool) {
        let drawn = outcome.visits.iter().filter(|visit| !visit.late);
        let visits: f64 = drawn.map(|visit| if visit.glimpse { GLIMPSE } else { 1.0 }).sum();
        if visits >= FEW_VISITS {
            let cost = outcome.tally.spent_ns as f64 / visits;
            self.visit_cost.learn(coarse, cost.clamp(1_000.0, 10e6));
        }
    }

    /// The time in which the target fills the CPU caches, by the wall clock, of the process that
    /// does so first and uses much of the CPU time.
    pub(super) fn gap_of_target_ns(&self) -> Option<u64> {
        let alive = || self.known.iter().enumerate().filter(|(_, known)| known.alive);
        let most = alive().map(|(_, known)| known.cores).fold(0.0, f32::max);
        let busy = alive().filter(|(_, known)| known.cores >= most * BUSY);
        let gaps = busy.filter_map(|(process, known)| {
            Some(self.estimator.known_gap_ns(process)? / f64::from(known.cores.max(1.0)))
        });
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "below a second"
        )]
        gaps.min_by(f64::total_cmp).map(|gap| gap as u64)
    }
}

/// Random numbers between 0 and 1 (xorshift: Marsaglia 2003): when and where to look must not fall
/// in step with the target.
pub(super) fn random(state: &mut u64) -> impl FnMut() -> f64 + '_ {
    move || {
        let mut x = (*state).max(1);
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        *state = x;
        (x >> 11) as f64 / (1u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_chance_of_a_visit_where_waves_were_left_out() {
        let near = |expected, done, right: f64| {
            let found = chance(expected, done);
            assert!((found - right).abs() < 1e-12, "{expected} {done}: {found}");
        };
        near(0.25, 1.0, 0.25);
        near(0.25, 0.8, 0.2);
        near(1.5, 1.0, 1.0);
        // Half of the time it is one wave, half of the time two.
        near(1.5, 0.8, f64::midpoint(0.8, 0.96));
        near(2.0, 0.9, 0.99);
    }

    #[test]
    fn what_is_spent_ahead_pays_for_the_first_visits_and_two_more_to_all_at_most() {
        assert_eq!(ahead(900.0, 30.0, 100), 230.0);
        assert_eq!(ahead(90.0, 30.0, 100), 90.0);
        assert_eq!(ahead(900.0, 0.0, 100), 200.0, "where all were visited");
    }

    #[test]
    fn what_is_visited_first_was_visited_however_many_of_the_others_were() {
        let waves = vec![Vec::new(); 6];
        let draw = Draw { waves, expected: vec![0.0, 1.0, 0.5] };
        let first = Some(First { waves: 2, regions: vec![0, 1] });
        let drawn = Drawn { draw, first };
        assert_eq!(drawn.chances(2), [1.0, 1.0, 1e-6], "the epoch ended with the first waves");
        assert_eq!(drawn.chances(4), [1.0, 1.0, 0.25]);
        assert_eq!(drawn.chances(1), [0.5, 0.5, 1e-6]);
        let drawn = Drawn { first: None, ..drawn };
        assert_eq!(drawn.chances(3), [1e-6, 0.5, 0.25]);
    }
}
