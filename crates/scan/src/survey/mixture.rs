//! The rates at which the pages of a region are accessed, as a mixture over a grid of rates: how
//! likely each is for one of its pages. Fitted to how many pages were first seen between which
//! looks (expectation and maximization: Dempster, Laird, Rubin 1977; a mixture over a grid is
//! the nonparametric maximum likelihood of Kiefer and Wolfowitz 1956), held towards what is usual
//! in the process by some pages' worth of it (empirical Bayes). It ranks; it is never charged.

use super::visit::Visit;
use std::sync::LazyLock;

/// Rates of the grid: none at all, and 1/16 to 2^19 accesses/s by factors of 2.
pub(crate) const RATES: usize = 25;
/// Gaps that are told apart: 3.1 us to 6.6 s by factors of the root of 2; the first is 0.
const EDGES: usize = 44;
/// The last one, 0.2 s, at which every visit is looked at.
const COMMON: u8 = 33;
const FIRST_EDGE_NS: f64 = 3_125.0;
/// Stands for never, as the end of a bracket.
const NEVER: u8 = u8::MAX;
/// Of the traffic that a page can make at most, what one counts for ranking that the caches hold:
/// it makes none, but it is small, and must not be placed last if the caches hold less than thought.
const CACHED: f64 = 0.1;

/// So few pages do not say how hot their region is; nor whether they differ where less than this part of them was seen.
const FEW: f32 = 64.0;
const MANY: f64 = 0.5;
/// Looks that miss a page so seldom do not tell how hot it is.
const MISSED: f32 = 0.05;
/// So large a part of the pages are a few, and so much likelier (as a logarithm) it must be that they are hotter than others where
/// that is to hold of hundreds of regions for minutes. Of regions with pages of one rate, in trials, one in a thousand reached 8 in
/// an epoch, for a page that chance showed at once.
const A_FEW: f32 = 0.1;
const SURELY: f64 = 12.0;
const NO_PAGE: f32 = 0.05;
/// What is less likely than this is odd.
const ODD: f32 = 1e-3;

/// How likely each rate of the grid is.
pub(crate) type Weights = [f32; RATES];

/// The rate at a place of the grid, per second.
pub(crate) fn rate(place: usize) -> f64 {
    if place == 0 { 0.0 } else { (place as f64 - 5.0).exp2() }
}

/// Every rate as likely as any other.
pub(crate) fn flat() -> Weights {
    [1.0 / RATES as f32; RATES]
}

/// The gap at an edge, seconds.
fn edge_s(edge: usize) -> f64 {
    if edge == 0 { 0.0 } else { FIRST_EDGE_NS * 1e-9 * ((edge as f64 - 1.0) / 2.0).exp2() }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped")]
fn edge_of(gap_ns: f64) -> u8 {
    let place = (2.0 * (gap_ns / FIRST_EDGE_NS).log2()).round() + 1.0;
    place.clamp(1.0, (EDGES - 1) as f64) as u8
}

/// Chance of being unseen at an edge, by rate.
#[expect(clippy::cast_possible_truncation, reason = "between 0 and 1")]
static UNSEEN: LazyLock<[Weights; EDGES]> = LazyLock::new(|| {
    std::array::from_fn(|edge| {
        std::array::from_fn(|place| (-rate(place) * edge_s(edge)).exp() as f32)
    })
});

/// Steps of the finer grid, of which each of [`RATES`] has so many.
const FINER: usize = 8;

/// The rate at a place of the finer grid, per second; the first one is above 0.
fn finer_rate(place: usize) -> f64 {
    (place as f64 / FINER as f64 - 5.0).exp2()
}

/// Chance of being unseen at an edge, by rate of the finer grid.
static FINER_UNSEEN: LazyLock<Vec<[f64; FINER * RATES + 1]>> = LazyLock::new(|| {
    let at = |edge| std::array::from_fn(|place| (-finer_rate(place) * edge_s(edge)).exp());
    (0..EDGES).map(at).collect()
});

/// Pages by the looks between which they were first seen.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Brackets {
    /// (edge of the last look that did not see it, edge of the first that did, pages).
    counts: Vec<(u8, u8, f32)>,
}

impl Brackets {
    /// Adds what a visit saw.
    pub(crate) fn add(&mut self, visit: &Visit) {
        if visit.late {
            // Translations may have stayed cached, and all looks are late: what is seen counts.
            return self.add_late(visit);
        }
        let (mut from, mut seen) = (0, 0);
        for look in &visit.looks {
            let to = edge_of(look.gap_ns);
            if to > from {
                self.put(from, to, look.seen.saturating_sub(seen));
                (from, seen) = (to, look.seen);
            }
        }
        if from == 0 {
            return;
        }
        if let Some(end) = &visit.end {
            let to = edge_of(end.gap_ns);
            if to > from {
                self.put(from, to, end.seen.saturating_sub(seen));
                (from, seen) = (to, end.seen);
            }
        }
        self.put(from, NEVER, visit.pages.saturating_sub(seen));
    }

    fn add_late(&mut self, visit: &Visit) {
        let (Some(first), Some(last)) = (visit.looks.first(), visit.looks.last()) else { return };
        let to = edge_of(first.gap_ns);
        self.put(0, to, first.seen);
        if visit.cached {
            return;
        }
        let end = edge_of(last.gap_ns).max(to);
        if end > to {
            self.put(to, end, last.seen.saturating_sub(first.seen));
        }
        self.put(end, NEVER, visit.pages.saturating_sub(last.seen));
    }

    fn put(&mut self, from: u8, to: u8, pages: u16) {
        self.merge(from, to, f32::from(pages));
    }

    fn merge(&mut self, from: u8, to: u8, pages: f32) {
        if pages <= 0.0 {
            return;
        }
        match self.counts.iter_mut().find(|(a, b, _)| (*a, *b) == (from, to)) {
            Some((.., count)) => *count += pages,
            None => self.counts.push((from, to, pages)),
        }
    }

    /// Adds those of others.
    pub(crate) fn add_all(&mut self, others: &Self) {
        for (from, to, pages) in &others.counts {
            self.merge(*from, *to, *pages);
        }
    }

    /// What was seen counts for so much less.
    pub(crate) fn fade(&mut self, keep: f32) {
        self.counts.iter_mut().for_each(|(.., count)| *count *= keep);
        self.counts.retain(|(.., count)| *count > 1e-3);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }

    /// Pages seen by the looks that every visit has.
    pub(crate) fn seen(&self) -> f64 {
        let seen = self.counts.iter().filter(|(_, to, _)| *to <= COMMON);
        seen.map(|(.., count)| f64::from(*count)).sum()
    }

    /// Pages that any look has seen.
    pub(crate) fn ever_seen(&self) -> f64 {
        let seen = self.counts.iter().filter(|(_, to, _)| *to != NEVER);
        seen.map(|(.., count)| f64::from(*count)).sum()
    }

    /// Pages that these would have seen, were their rates distributed so.
    pub(crate) fn expected(&self, weights: &Weights) -> f64 {
        // Whoever was seen between two looks would have been seen by the last one: all visits of an epoch have
        // about the same, but for the look that ends them.
        let last =
            |(from, to, _): &(u8, u8, f32)| if *to <= COMMON { *to } else { (*from).min(COMMON) };
        let end = self.counts.iter().map(last).max();
        let Some(end) = end else { return 0.0 };
        let pages: f64 = self.counts.iter().map(|(.., count)| f64::from(*count)).sum();
        let unseen: f32 = weights
            .iter()
            .zip(&UNSEEN[usize::from(end)])
            .map(|(weight, unseen)| weight * unseen)
            .sum();
        pages * (1.0 - f64::from(unseen))
    }

    /// How many times as fast as these rates let expect its pages were seen (as a logarithm), and how far that may be
    /// off by chance (as a variance): by the look that should have seen two fifths of them. None where no look
    /// should have seen between a tenth and four fifths.
    pub(crate) fn faster(&self, weights: &Weights) -> Option<(f64, f64)> {
        let pages = f64::from(self.pages());
        let seen_by = |edge: u8| -> f64 {
            let seen = self.counts.iter().filter(|(_, to, _)| *to <= edge);
            seen.map(|(.., count)| f64::from(*count)).sum()
        };
        let expected_by = |edge: u8| -> f64 {
            let unseen = weights.iter().zip(&UNSEEN[usize::from(edge)]);
            1.0 - unseen.map(|(weight, unseen)| f64::from(weight * unseen)).sum::<f64>()
        };
        let looks = self.counts.iter().map(|(_, to, _)| *to).filter(|to| *to <= COMMON);
        let off = |expected: f64| (expected - 0.4).abs();
        let (edge, expected) = looks
            .map(|edge| (edge, expected_by(edge)))
            .filter(|(_, expected)| (0.1..0.8).contains(expected))
            .min_by(|(_, a), (_, b)| off(*a).total_cmp(&off(*b)))?;
        // A visit that had no look just then does not say it.
        let looked = |(from, to, _): &(u8, u8, f32)| *to <= edge || *from >= edge;
        if pages < 1.0 || !self.counts.iter().all(looked) {
            return None;
        }
        let seen = (seen_by(edge) / pages).clamp(0.5 / pages, 1.0 - 0.5 / pages);
        let accesses = -(-seen).ln_1p();
        let chance = seen / (pages * (1.0 - seen) * accesses * accesses);
        Some(((accesses / -(-expected).ln_1p()).ln(), chance))
    }

    /// Of one page: how many visits saw it far sooner than these rates let expect, or, below 0, far
    /// later; 0 if they do not agree on that.
    pub(crate) fn odd(&self, weights: &Weights) -> f32 {
        let unseen = |edge: u8| -> f32 {
            weights.iter().zip(&UNSEEN[usize::from(edge)]).map(|(w, unseen)| w * unseen).sum()
        };
        let mut odd = 0.0_f32;
        for (from, to, count) in &self.counts {
            let side = if *to != NEVER && 1.0 - unseen(*to) < ODD {
                *count
            } else if *from > 0 && unseen(*from) < ODD {
                -count
            } else {
                return 0.0;
            };
            if odd * side < 0.0 {
                return 0.0;
            }
            odd += side;
        }
        odd
    }

    /// About how hot it is, as a logarithm to base 2: sightings over the time in which they might have been; none of so few
    /// pages that this says nothing.
    pub(crate) fn octave(&self) -> Option<i32> {
        let middle = |(from, to, _): &(u8, u8, f32)| {
            let [from, to] = [*from, *to].map(|edge| edge_s(usize::from(edge).min(EDGES - 1)));
            f64::midpoint(from, to)
        };
        let time = |it: &(u8, u8, f32)| {
            f64::from(it.2) * if it.1 == NEVER { edge_s(it.0.into()) } else { middle(it) }
        };
        let time: f64 = self.counts.iter().map(time).sum();
        #[expect(clippy::cast_possible_truncation, reason = "a logarithm")]
        let octave = ((self.ever_seen() + 0.5) / time).log2().floor() as i32;
        (self.are_enough() && time > 0.0).then_some(octave)
    }

    /// Whether these are enough pages to say anything.
    pub(crate) fn are_enough(&self) -> bool {
        self.pages() >= FEW
    }

    /// Whether so many of them were seen that it would show if they differed.
    pub(crate) fn would_tell(&self) -> bool {
        self.are_enough() && self.ever_seen() >= MANY * f64::from(self.pages())
    }

    /// Pages, each once a visit and older ones for less.
    pub(crate) fn pages(&self) -> f32 {
        self.counts.iter().map(|(.., count)| count).sum()
    }

    /// How likely (as a logarithm) what was seen is if the rates are distributed so. Over what it is if all pages have the one
    /// rate that fits best ([`Self::alike`]) it is a likelihood ratio (Wilks 1938).
    pub(crate) fn likely_as(&self, weights: &Weights) -> f64 {
        self.likely(|from, to| {
            let part = |(place, weight): (usize, &f32)| {
                f64::from(*weight) * first_seen(FINER * place, from, to)
            };
            let never = if to == NEVER { f64::from(weights[0]) } else { 0.0 };
            never + weights.iter().enumerate().skip(1).map(part).sum::<f64>()
        })
    }

    /// The coldest mixture in which a few of the pages, the hottest, are no hotter than others are, as long as what was seen is
    /// about as likely (a profile likelihood). Of hundreds of regions some always show a page or two sooner than their rates let
    /// expect, and a mixture takes those for hot.
    pub(crate) fn sure(&self, weights: &Weights) -> Weights {
        let (likely, pages) = (self.likely_as(weights), self.pages());
        let (mut sure, mut moved) = (*weights, 0.0);
        for place in (2..RATES).rev() {
            moved += weights[place];
            let mut colder = sure;
            colder[place - 1] += colder[place];
            colder[place] = 0.0;
            // What is no page is no evidence, and most rates are none's.
            let counts = moved * pages > NO_PAGE;
            if moved > A_FEW || counts && likely - self.likely_as(&colder) >= SURELY {
                break;
            }
            sure = colder;
        }
        sure
    }

    /// The one rate that fits best if all pages have the same, and how likely (as a logarithm) what was seen is then.
    pub(crate) fn alike(&self) -> (f64, f64) {
        // The best of the grid, and then of the finer one around that.
        let at = |place: usize| (place, self.likely(|from, to| first_seen(place, from, to)));
        let better = |(_, a): &(usize, f64), (_, b): &(usize, f64)| a.total_cmp(b);
        let near = (1..RATES).map(|place| at(FINER * place)).max_by(better);
        let near = near.map_or(FINER, |(place, _)| place);
        let around = (near - FINER..=near + FINER).map(at).max_by(better);
        around.map_or((0.0, f64::NEG_INFINITY), |(place, likely)| (finer_rate(place), likely))
    }

    /// How likely (as a logarithm) what was seen is, where a page is first seen between two edges by such a chance.
    fn likely(&self, chance: impl Fn(u8, u8) -> f64) -> f64 {
        let of = |(from, to, count): &(u8, u8, f32)| {
            f64::from(*count) * chance(*from, *to).max(1e-12).ln()
        };
        self.counts.iter().map(of).sum()
    }

    /// Fits a mixture, beginning with `weights`: `steps` of expectation and maximization, held
    /// towards `prior` by so many `pages`.
    pub(crate) fn fit(&self, weights: &mut Weights, prior: &Weights, pages: f32, steps: usize) {
        let total: f32 = self.counts.iter().map(|(.., count)| count).sum();
        if total <= 0.0 {
            *weights = *prior;
            return;
        }
        let seen: Vec<(Weights, f32)> =
            self.counts.iter().map(|(from, to, count)| (chances(*from, *to), *count)).collect();
        for _ in 0..steps {
            let mut sums = prior.map(|weight| weight * pages);
            for (chances, count) in &seen {
                let all: f32 = weights.iter().zip(chances).map(|(w, chance)| w * chance).sum();
                let each = count / all.max(1e-30);
                for ((sum, weight), chance) in sums.iter_mut().zip(weights.iter()).zip(chances) {
                    *sum += weight * chance * each;
                }
            }
            *weights = sums.map(|sum| sum / (total + pages));
        }
    }
}

impl Brackets {
    /// Where nearly all first looks saw the page: by rate, whether they would have anyway, so that it is not told from higher
    /// ones.
    pub(crate) fn not_told_apart(&self) -> Option<[bool; RATES]> {
        let (mut missed, mut saw) = ([0.0; RATES], 0.0);
        for (_, to, count) in self.counts.iter().filter(|(from, to, _)| *from == 0 && *to != NEVER)
        {
            saw += count;
            for (missed, unseen) in missed.iter_mut().zip(&UNSEEN[usize::from(*to)]) {
                *missed += count * unseen;
            }
        }
        let all = saw > 0.0 && saw >= (1.0 - MISSED) * self.pages();
        all.then(|| missed.map(|missed| missed < MISSED * saw))
    }

    /// How likely each rate is for one page of which all these are visits, where `prior` is how
    /// likely each is for such a page (Bayes).
    pub(crate) fn posterior(&self, prior: &Weights) -> Weights {
        let mut logs = prior.map(|weight| weight.max(LEAST).ln());
        for (from, to, count) in &self.counts {
            for (log, chance) in logs.iter_mut().zip(chances(*from, *to)) {
                *log += count * chance.max(LEAST).ln();
            }
        }
        let most = logs.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let likely = logs.map(|log| (log - most).exp());
        let all: f32 = likely.iter().sum();
        likely.map(|likely| likely / all)
    }
}

/// The chance that a page with a rate of the finer grid is first seen between two edges.
fn first_seen(place: usize, from: u8, to: u8) -> f64 {
    let unseen = |edge: u8| match edge {
        NEVER => 0.0,
        edge => FINER_UNSEEN[usize::from(edge)][place],
    };
    unseen(from) - unseen(to)
}

/// Stands for a chance of 0.
const LEAST: f32 = 1e-12;

/// Chance of being first seen between two edges, by rate.
fn chances(from: u8, to: u8) -> Weights {
    let unseen = &UNSEEN[usize::from(from)];
    if to == NEVER {
        return *unseen;
    }
    let later = &UNSEEN[usize::from(to)];
    std::array::from_fn(|place| unseen[place] - later[place])
}

/// What a page with this rate counts for ranking where the caches hold what was touched within
/// `gap_s`: its accesses past them, but never less than a tenth of what a page can make at most
/// once it is hot.
pub(crate) fn counts_for(rate: f64, gap_s: f64) -> f64 {
    let traffic = rate * (-rate * gap_s).exp();
    if rate * gap_s > 1.0 { traffic.max(CACHED / (gap_s * std::f64::consts::E)) } else { traffic }
}

/// The same of every rate of the grid.
pub(crate) fn counts(gap_s: f64) -> [f64; RATES] {
    std::array::from_fn(|place| counts_for(rate(place), gap_s))
}

/// What the pages of a mixture count for, on average.
pub(crate) fn mean(weights: &Weights, counts: &[f64; RATES]) -> f64 {
    weights.iter().zip(counts).map(|(weight, count)| f64::from(*weight) * count).sum()
}

/// The rate that this share of the pages reach, the hottest of them.
pub(crate) fn reached_by(weights: &Weights, share: f64) -> f64 {
    let mut left = share;
    for place in (1..RATES).rev() {
        left -= f64::from(weights[place]);
        if left <= 0.0 {
            return rate(place);
        }
    }
    0.0
}

/// Their mean rate, those that the caches hold included.
pub(crate) fn mean_rate(weights: &Weights) -> f64 {
    (0..RATES).map(|place| f64::from(weights[place]) * rate(place)).sum()
}

/// The rate that one page has at least, but for so much chance.
pub(crate) fn least_rate(weights: &Weights, chance: f32) -> f64 {
    let mut below = 0.0;
    let place = weights.iter().position(|weight| {
        below += weight;
        below > chance
    });
    rate(place.unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is expected of `visits` visits to pages of these rates.
    fn brackets(rates: &[f64], visits: f32) -> Brackets {
        let edges: Vec<u8> = (9..37).step_by(3).collect();
        let mut brackets = Brackets::default();
        for rate in rates {
            #[expect(clippy::cast_possible_truncation, reason = "between 0 and 1")]
            let unseen = |edge: u8| (-rate * edge_s(usize::from(edge))).exp() as f32;
            let mut from = 0;
            for to in &edges {
                brackets.merge(from, *to, visits * (unseen(from) - unseen(*to)));
                from = *to;
            }
            brackets.merge(from, NEVER, visits * unseen(from));
        }
        brackets
    }

    fn fitted(brackets: &Brackets) -> Weights {
        let mut weights = flat();
        brackets.fit(&mut weights, &flat(), 1.0, 200);
        weights
    }

    #[test]
    fn a_few_pages_are_as_hot_as_they_surely_are_and_all_together_as_they_are_taken_for() {
        // Of 512 pages so many at 500/s, the others at one in 2 s: what they surely have together, over what they have.
        let surely = |hot: usize, visits: f32| {
            let rate = |page| if page < hot { 500.0 } else { 0.5 };
            let rates: Vec<f64> = (0..512).map(rate).collect();
            let seen = brackets(&rates, visits);
            mean_rate(&seen.sure(&fitted(&seen))) / (rates.iter().sum::<f64>() / 512.0)
        };
        assert!(surely(1, 1.0) < 0.7, "that may be chance");
        let more = [1.0, 4.0, 16.0].map(|visits| surely(25, visits));
        assert!(more[0] > 0.2 && more[1] > 0.4 && (0.9..1.1).contains(&more[2]), "{more:?}");
        let alike = brackets(&[10.0; 16], 1.0);
        let all = mean_rate(&alike.sure(&fitted(&alike))) / 10.0;
        assert!((0.8..1.3).contains(&all), "how far all are off shows beside other regions: {all}");
    }

    #[test]
    fn the_traffic_past_a_cache_comes_out_where_pages_differ_by_orders() {
        let gap_s = 500e-6;
        for hot in [0, 5, 50] {
            let mut rates = vec![30.0; 256];
            rates.extend(vec![2.0; 256]);
            rates[..hot].fill(1_500.0);
            let truth = rates.iter().map(|r| counts_for(*r, gap_s)).sum::<f64>() / 512.0;
            let found = mean(&fitted(&brackets(&rates, 5.0)), &counts(gap_s));
            // The grid is coarse: it orders regions, and charges nothing.
            assert!((found / truth - 1.0).abs() < 0.1, "{hot} hot: {found} for {truth}");
        }
    }

    #[test]
    fn with_nothing_seen_it_is_what_is_usual() {
        let prior = fitted(&brackets(&[100.0; 512], 3.0));
        let mut weights = flat();
        Brackets::default().fit(&mut weights, &prior, 20.0, 10);
        assert_eq!(weights, prior);
        let never = brackets(&[0.0; 512], 20.0);
        never.fit(&mut weights, &prior, 20.0, 200);
        assert!(mean(&weights, &counts(1e-3)) < 0.1 * mean(&prior, &counts(1e-3)));
    }

    #[test]
    fn more_traffic_never_counts_for_less_but_for_what_caches_hold() {
        let gap = 1e-3;
        let counts: Vec<f64> = (1..RATES).map(|place| counts_for(rate(place), gap)).collect();
        let hottest = counts.iter().copied().fold(0.0, f64::max);
        assert!(counts.iter().take(14).is_sorted());
        assert!(counts.last().is_some_and(|held| *held > 0.05 * hottest));
    }

    #[test]
    fn a_program_that_runs_faster_than_before_shows_it() {
        let weights = fitted(&brackets(&[100.0; 512], 2.0));
        for times in [0.5, 1.0, 2.0] {
            let (faster, chance) = brackets(&[100.0 * times; 512], 1.0).faster(&weights).unwrap();
            assert!((faster - times.ln()).abs() < 0.1, "{faster} for {times}");
            assert!((0.0005..0.05).contains(&chance), "{chance}");
        }
        assert_eq!(brackets(&[0.0; 512], 1.0).faster(&fitted(&brackets(&[0.0; 512], 9.0))), None);
    }

    #[test]
    fn what_was_expected_is_compared_with_what_was_seen() {
        let seen = brackets(&[100.0; 512], 2.0);
        let weights = fitted(&seen);
        assert!((seen.expected(&weights) / seen.seen() - 1.0).abs() < 0.02);
        let mut faded = seen.clone();
        faded.fade(0.5);
        assert!((faded.seen() / seen.seen() - 0.5).abs() < 1e-3);
    }
}
