//! What is expected of a region of base pages beside all others of its process. A visit tells its rate within a
//! quarter or worse, for a program's pace differs from moment to moment; so of a thousand regions that are all alike some
//! look three times as hot as others, and who moves the hottest moves chance. How far visits are off is learned from how
//! those of one region differ. Then the distribution of the true rates is fitted to what was seen of all of them, as
//! masses on a grid of logarithms (nonparametric maximum likelihood: Kiefer and Wolfowitz 1956, by expectation
//! and maximization), and each region is expected to have the mean of what is likely for it (empirical Bayes:
//! Robbins 1956). Regions that differ by more than their visits can be wrong by stay as they are.

use super::history::Pace;
use crate::target::region::Region;

/// Standard deviation of the logarithm of a rate by one visit, at least, and before it is known. Of 360 regions
/// that were updated at random (`workload gups`) 0.21 to 0.26 after the first visit.
const VISIT: f64 = 0.25;
/// What is worse is a change of the program.
const WORST: f64 = 1.5;
/// Fewer regions do not say it.
const FEW: usize = 16;
/// Median of the square of a number that is distributed normally around 0, with variance 1.
const MEDIAN_SQUARE: f64 = 0.4549;
/// Cells of the grid for each factor of 2, and all of them: 2^-10 to 2^30 per second.
const PER_OCTAVE: f64 = 8.0;
const CELLS: usize = 320;
const FIRST_OCTAVE: f64 = -10.0;
/// Rates are told apart by a cell at best.
const LEAST_CELLS: f64 = 1.0;
/// What is farther off than so many standard deviations is impossible.
const FAR: f64 = 4.0;
/// The fit looks at so many regions at most, and does so many steps.
const FITTED: usize = 2_048;
const STEPS: usize = 30;
/// The chance that a region is colder than it is taken for at least.
const DOUBT: f64 = 0.1;

/// Replaces what is expected of regions of base pages by what is likely beside the others of the same process. Not of
/// one that is watched sparsely: nothing of it is going to move. `errors`: by process, how far they are off.
pub(crate) fn shrink(regions: &mut [Region], errors: &mut [VisitError]) {
    let mut of_process = vec![Vec::new(); errors.len()];
    let mut paces = vec![Vec::new(); errors.len()];
    for (number, region) in regions.iter_mut().enumerate().filter(|(_, of)| !of.huge && !of.sparse)
    {
        let pages = f64::from(region.weight());
        if let (Some(pace), Some(all)) = (region.history.take_pace(), paces.get_mut(region.process))
        {
            all.push((pace, pages));
        }
        if let Some(all) = of_process.get_mut(region.process) {
            all.push(number);
        }
    }
    for ((error, paces), numbers) in errors.iter_mut().zip(&paces).zip(of_process) {
        error.learn(paces);
        let sight = |number| Some((number, Sight::of(&regions[number], error)?));
        let sights: Vec<(usize, Sight)> = numbers.into_iter().filter_map(sight).collect();
        let rates = fit(&sights);
        for (number, sight) in sights {
            let region = &mut regions[number];
            let pages = f64::from(region.weight());
            let [rate, mut least] = sight.likely(&rates);
            // Held to the others, too, by no more than what is sure of its own visits.
            if region.rate > Some(region.least) {
                [_, least] = sight.moved(f64::from(region.least) / pages).likely(&rates);
            }
            #[expect(clippy::cast_possible_truncation, reason = "below 1e9 per page")]
            let [rate, least] = [rate, least.min(rate)].map(|each| (pages * each) as f32);
            region.beside = region.rate.map_or(1.0, |own| rate / own);
            (region.rate, region.least) = (Some(rate), least);
        }
    }
}

/// How far one visit to a region of a process is off, beyond chance.
#[derive(Clone, Copy, Debug)]
pub(crate) struct VisitError {
    /// Of the logarithm of a rate.
    variance: f64,
}

impl Default for VisitError {
    fn default() -> Self {
        Self { variance: VISIT * VISIT }
    }
}

impl VisitError {
    /// Takes in how the visits of an epoch differed from earlier ones, and how many pages each region has.
    fn learn(&mut self, paces: &[(Pace, f64)]) {
        if paces.len() < FEW {
            return;
        }
        // A program that is slower as a whole makes no difference between its regions.
        let usual = median(paces.iter().map(|(pace, _)| pace.faster).collect());
        let each = |(Pace { faster, chance, pages: seen }, pages): &(Pace, f64)| {
            let visits: f64 = seen.iter().map(|seen| pages / seen).sum();
            ((faster - usual).powi(2) - chance).max(0.0) / visits
        };
        let found = median(paces.iter().map(each).collect()) / MEDIAN_SQUARE;
        self.variance = f64::midpoint(self.variance, found).clamp(VISIT * VISIT, WORST * WORST);
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    let middle = values.len() / 2;
    *values.select_nth_unstable_by(middle, f64::total_cmp).1
}

/// What was seen of a page of one region, in cells of the grid.
#[derive(Clone, Copy, Debug)]
struct Sight {
    at: f64,
    deviation: f64,
}

fn cell_of(rate: f64) -> f64 {
    ((rate.log2() - FIRST_OCTAVE) * PER_OCTAVE).clamp(0.0, (CELLS - 1) as f64)
}

/// The cells that are possible for a region, and how likely it would look as it does from each.
struct Window {
    first: usize,
    chances: Vec<f64>,
}

impl Sight {
    /// None of a region of which nothing was seen.
    fn of(region: &Region, one: &VisitError) -> Option<Self> {
        let brackets = region.history.brackets();
        let pages = f64::from(region.weight());
        let each = f64::from(region.rate?) / pages;
        let visits = f64::from(brackets.pages()) / pages;
        (each > 0.0 && visits > 0.0).then(|| {
            let variance = one.variance / visits + 1.0 / brackets.seen().max(1.0);
            Self::new(each, variance.sqrt())
        })
    }

    /// A rate, and the standard deviation of its logarithm.
    fn new(rate: f64, deviation: f64) -> Self {
        let deviation = deviation / std::f64::consts::LN_2 * PER_OCTAVE;
        Self { at: cell_of(rate), deviation: deviation.max(LEAST_CELLS) }
    }

    /// As sure, of another rate.
    fn moved(&self, rate: f64) -> Self {
        Self { at: cell_of(rate), ..*self }
    }

    fn window(&self) -> Window {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped")]
        let cell = |at: f64| at.round().clamp(0.0, (CELLS - 1) as f64) as usize;
        let first = cell(self.at - FAR * self.deviation);
        let cells = first..=cell(self.at + FAR * self.deviation);
        let chance = |cell: usize| {
            let off = (cell as f64 - self.at) / self.deviation;
            (-off * off / 2.0).exp()
        };
        Window { first, chances: cells.map(chance).collect() }
    }

    /// The mean of the rates that are likely for it, and what they are at least but for some chance.
    fn likely(&self, rates: &[f64]) -> [f64; 2] {
        let window = self.window();
        let parts = window.parts(rates);
        let all: f64 = parts.iter().sum();
        let rate = |cell: f64| (cell / PER_OCTAVE + FIRST_OCTAVE).exp2();
        if all <= 0.0 {
            return [rate(self.at); 2];
        }
        let mut mean = 0.0;
        let (mut below, mut least) = (0.0, None);
        for (cell, part) in (window.first..).zip(&parts) {
            let here = rate(cell as f64);
            mean += here * part / all;
            below += part / all;
            if below > DOUBT {
                least.get_or_insert(here);
            }
        }
        [mean, least.unwrap_or(mean)]
    }
}

impl Window {
    /// How likely each of its cells is, times a constant, given how common they are.
    fn parts(&self, rates: &[f64]) -> Vec<f64> {
        self.chances
            .iter()
            .zip(&rates[self.first..])
            .map(|(chance, common)| chance * common)
            .collect()
    }
}

/// How common each cell is among the regions: what makes that likeliest which was seen of them.
fn fit(sights: &[(usize, Sight)]) -> Vec<f64> {
    let every = sights.len().div_ceil(FITTED).max(1);
    let windows: Vec<Window> =
        sights.iter().step_by(every).map(|(_, sight)| sight.window()).collect();
    let mut rates = vec![1.0 / CELLS as f64; CELLS];
    for _ in 0..STEPS {
        let mut sums = vec![0.0; CELLS];
        for window in &windows {
            let parts = window.parts(&rates);
            let all: f64 = parts.iter().sum();
            if all > 0.0 {
                for (sum, part) in sums[window.first..].iter_mut().zip(parts) {
                    *sum += part / all;
                }
            }
        }
        rates = sums.into_iter().map(|sum| sum / windows.len() as f64).collect();
    }
    rates
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Spread as by the normal law (Box and Muller 1958, of numbers that are evenly spread).
    fn normal(number: f64) -> f64 {
        let [first, second] = [0.618_034, 0.414_214].map(|step| ((number + 0.5) * step).fract());
        (-2.0 * first.ln()).sqrt() * (std::f64::consts::TAU * second).cos()
    }

    /// What is likely for regions that were seen within `deviation` each: (mean, least).
    fn likely(truth: &[f64], deviation: f64) -> Vec<[f64; 2]> {
        let seen = |(number, rate): (usize, &f64)| {
            (number, Sight::new(rate * (deviation * normal(number as f64)).exp(), deviation))
        };
        let sights: Vec<(usize, Sight)> = truth.iter().enumerate().map(seen).collect();
        let rates = fit(&sights);
        sights.iter().map(|(_, sight)| sight.likely(&rates)).collect()
    }

    #[test]
    fn how_far_visits_are_off_is_learned_from_how_those_of_one_region_differ() {
        let learned = |deviation: f64, slower: f64| {
            let mut error = VisitError::default();
            for epoch in 0..6 {
                let pace = |region: u32| {
                    let number = f64::from(epoch * 100 + region);
                    // One visit to 512 pages, and another before.
                    let faster = slower + std::f64::consts::SQRT_2 * deviation * normal(number);
                    (Pace { faster, chance: 0.001, pages: [512.0; 2] }, 512.0)
                };
                error.learn(&(0..100).map(pace).collect::<Vec<_>>());
            }
            error.variance.sqrt()
        };
        for deviation in [0.3, 0.6, 1.0] {
            let found = learned(deviation, -2.0);
            assert!((found / deviation - 1.0).abs() < 0.15, "{found} for {deviation}");
        }
        assert_eq!(learned(0.1, 0.0), VISIT, "never surer than that");
    }

    fn ends(likely: &[[f64; 2]]) -> (f64, f64) {
        let means = || likely.iter().map(|[mean, _]| *mean);
        (means().fold(f64::INFINITY, f64::min), means().fold(0.0, f64::max))
    }

    #[test]
    fn regions_that_are_alike_are_taken_for_alike() {
        // By chance alone the hottest of 400 looks three times as hot as the coldest.
        let (coldest, hottest) = ends(&likely(&[100.0; 400], VISIT));
        assert!(hottest < 1.35 * coldest, "{coldest} to {hottest}");
        assert!((90.0..115.0).contains(&coldest), "{coldest}");
    }

    #[test]
    fn regions_that_differ_stay_different() {
        let truth: Vec<f64> =
            (0..400).map(|region| if region % 8 == 0 { 4000.0 } else { 10.0 }).collect();
        for (truth, [mean, least]) in truth.iter().zip(likely(&truth, VISIT)) {
            assert!((mean / truth - 1.0).abs() < 0.25, "{mean} for {truth}");
            assert!((0.6 * truth..=mean).contains(&least), "{least} for {truth}");
        }
        // Each differs from the next one, over four factors of ten: none is drawn far from where it is.
        let truth: Vec<f64> =
            (0..400).map(|region| 10f64.powf(f64::from(region) / 100.0)).collect();
        let off = truth
            .iter()
            .zip(likely(&truth, VISIT))
            .map(|(truth, [mean, _])| (mean / truth).ln().abs());
        assert!(off.sum::<f64>() / 400.0 < VISIT, "no worse than what was seen");
    }

    #[test]
    fn one_region_alone_is_what_was_seen() {
        let [mean, least] = Sight::new(100.0, VISIT).likely(&fit(&[(0, Sight::new(100.0, VISIT))]));
        assert!((90.0..110.0).contains(&mean) && least <= mean, "{mean} {least}");
    }
}
