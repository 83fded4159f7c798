//! What is known of a region from all visits so far: pages by the looks between which they were
//! first seen, older ones for less, and the mixture of rates that fits them, for ranking; and
//! whether its pages come in whole.

use super::change::Judgement;
use super::lines::{charged, in_order, lines_of_whole};
use super::mixture::{Brackets, RATES, Weights, flat, mean, reached_by};
use super::visit::{Slope, Visit};
use pagetide_types::{KEEP, Patience, surprising};
use std::cmp::Ordering;

/// What is usual counts as so many base pages, 512 of which a visit sees.
const PRIOR_PAGES: f32 = 20.0;
/// Steps of the fit: it goes on from where it was.
const STEPS: usize = 6;
const FIRST_STEPS: usize = 30;
/// A region is uneven where the hottest of its pages, so many of them, are accessed so often a second that
/// it may be worth a move, and many times as often as half of them. The more times, the less sure it must
/// be that they are not all alike: the logarithm of how much likelier that is (a likelihood ratio), times
/// how often the one rate doubles to the other, reaches so much. In trials pages of one rate reached 5, pages
/// by Zipf's law 10 to 300 after a visit or two. Its pages are alike where that logarithm does not reach as much
/// although it would ([`Brackets::would_tell`]).
const HOT: f64 = 0.02;
const SURE: f64 = 8.0;
/// Rates below this are all alike.
const LITTLE: f64 = 0.25;
/// Steps of a fit that is to tell.
const SHARP_STEPS: usize = 60;
/// It is found out again when so many times as much was seen, of which so much counts an epoch later.
const MORE: f32 = 1.5;
const FADES: f32 = 0.95;
/// Epochs with visits after which pages that were accessed alike may not be any more: some minutes.
const ALIKE_FOR: u32 = 64;
/// Visits to a huge page that make a change.
const ODD_VISITS: f32 = 2.0;

/// How many times as fast the pages of a region were seen as its earlier visits let expect.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Pace {
    /// See [`Brackets::faster`].
    pub(crate) faster: f64,
    pub(crate) chance: f64,
    /// Pages that were looked at, and that were before, once per visit.
    pub(crate) pages: [f64; 2],
}

/// How the base pages of a region differ.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Spread {
    /// How often a second the hottest of them are accessed.
    hot: f64,
    /// How sure it is that others are accessed less often, and how much less: see [`SURE`].
    sure: f64,
    /// As a logarithm, how much likelier that is.
    likelier: f64,
    alike: bool,
}

/// See the module.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct History {
    brackets: Brackets,
    weights: Weights,
    /// What came in about the cache gap.
    came_in: Slope,
    patience: Patience,
    /// Of a huge page, [odd](Brackets::odd) visits of the last epoch.
    odd: f32,
    /// How the last epoch's visits differed from those before, of base pages.
    pace: Option<Pace>,
    /// See [`Brackets::alike`]; none: to be found out, which takes about as long as a visit.
    if_alike: Option<(f64, f64)>,
    /// See [`Brackets::sure`]; none: to be found out.
    sure: Option<Weights>,
    /// Its pages were watched one by one, and are; for so many epochs with visits that holds.
    alike_for: u32,
    /// See [`Self::spread`]; none: to be found out.
    spread: Option<Spread>,
    /// By how much it was found out, pages as in [`Brackets::pages`], which fade.
    judged: f32,
}

impl Default for History {
    fn default() -> Self {
        Self {
            brackets: Brackets::default(),
            weights: flat(),
            came_in: Slope::default(),
            patience: Patience::default(),
            odd: 0.0,
            pace: None,
            spread: None,
            alike_for: 0,
            if_alike: None,
            sure: None,
            judged: 0.0,
        }
    }
}

impl History {
    /// Adds an epoch's visits; `prior` is what is usual. Says whether the region has changed, so
    /// that what was known before is forgotten.
    pub(crate) fn learn(&mut self, epoch: &Brackets, prior: &Weights, huge: bool) -> bool {
        if epoch.is_empty() {
            return false;
        }
        let first = self.brackets.is_empty();
        let differs = !first
            && if huge {
                // A visit sees one page: two that run counter to what was known are a change.
                let odd = epoch.odd(&self.weights);
                let agree = odd * self.odd >= 0.0;
                let before = std::mem::replace(&mut self.odd, odd);
                odd != 0.0 && agree && (odd + before).abs() >= ODD_VISITS
            } else {
                surprising(epoch.seen(), epoch.expected(&self.weights))
            };
        self.pace = (!first && !huge).then(|| self.pace_of(epoch)).flatten();
        let changed = self.patience.believes(differs);
        if changed {
            (self.brackets, self.came_in) = (Brackets::default(), Slope::default());
            (self.odd, self.judged, self.alike_for) = (0.0, 0.0, 0);
        }
        self.brackets.fade(KEEP);
        self.brackets.add_all(epoch);
        (self.if_alike, self.sure) = (None, None);
        // Not after every visit: to find it out takes about as long as one.
        self.judged *= FADES;
        self.alike_for = self.alike_for.saturating_sub(1);
        if self.brackets.pages() > MORE * self.judged {
            self.spread = None;
        }
        let steps = if first || changed {
            self.weights = *prior;
            FIRST_STEPS
        } else {
            STEPS
        };
        if huge {
            // One page has one rate.
            self.weights = self.brackets.posterior(prior);
        } else {
            self.brackets.fit(&mut self.weights, prior, PRIOR_PAGES, steps);
        }
        changed
    }

    /// Holds one visit against what is known. It runs counter to that where an epoch of such would be believed: it saw far
    /// more, or far less. None where nothing is known. `counts`: what a page counts for, by rate.
    pub(crate) fn judge(&self, visit: &Visit, counts: &[f64; RATES]) -> Option<Judgement> {
        let mut seen = Brackets::default();
        seen.add(visit);
        if self.brackets.is_empty() || seen.is_empty() {
            return None;
        }
        let counter = self.counter(visit.huge, &seen)?;
        let mut weights = self.weights;
        if counter.is_ne() {
            seen.fit(&mut weights, &self.weights, 1.0, STEPS);
        }
        let counts =
            [&self.weights, &weights].map(|weights| mean(weights, counts) * f64::from(visit.pages));
        Some(Judgement { ns: visit.cleared_ns, counter, counts })
    }

    fn counter(&self, huge: bool, seen: &Brackets) -> Option<Ordering> {
        if !self.patience.is_over() {
            return Some(Ordering::Equal);
        }
        if huge {
            return seen.odd(&self.weights).partial_cmp(&0.0);
        }
        let (seen, expected) = (seen.seen(), seen.expected(&self.weights));
        if surprising(seen, expected) { seen.partial_cmp(&expected) } else { Some(Ordering::Equal) }
    }

    fn pace_of(&self, epoch: &Brackets) -> Option<Pace> {
        let (faster, chance) = epoch.faster(&self.weights)?;
        Some(Pace {
            faster,
            chance,
            pages: [epoch, &self.brackets].map(|seen| seen.pages().into()),
        })
    }

    /// How the last epoch's visits differed from those before; asked once.
    pub(crate) fn take_pace(&mut self) -> Option<Pace> {
        self.pace.take()
    }

    /// Adds what came in during an epoch.
    pub(crate) fn add_lines(&mut self, epoch: Slope) {
        self.came_in = self.came_in.times(f64::from(KEEP));
        self.came_in += epoch;
    }

    /// The lines that a plan charges for what came in during an epoch, which is added already: by that epoch alone, for a rank by
    /// what was seen before must not be judged by it. Only whether pages are read whole at all is by all visits, where it is
    /// more than chance, but for one chance in fifty.
    pub(crate) fn charge(&self, epoch: &Slope) -> f64 {
        let Slope { whole: [line, two], noise, .. } = self.came_in;
        let way = usize::from(two < line);
        let whole = self.came_in.whole[way] > 2.0 * noise.sqrt();
        charged(epoch.pages, if whole { epoch.whole[way] } else { 0.0 })
    }

    /// Lines that come in with a page; `usual`: with one of the process, which counts as so much
    /// of what a page is seen to bring, `pages` per second.
    pub(crate) fn lines_per_page(&self, usual: f64, pages: f64) -> f64 {
        let all = self.came_in.pages + pages;
        if all > 0.0 { ((self.came_in.lines + usual * pages) / all).max(1.0) } else { usual }
    }

    /// The part of its lines that comes in order where so many come in with a page, and so many `usual`ly with one of the
    /// process: what is usual but where its own pages differ from that by more than chance (but for one chance in 400). Of
    /// hundreds of regions of a program at random some always seem to be read in order.
    pub(crate) fn in_order(&self, lines: f64, usual: f64) -> f64 {
        let Slope { pages, lines: own, noise, .. } = self.came_in;
        let differs = (own - usual * pages).abs() > 3.0 * lines_of_whole(noise.sqrt());
        in_order(if differs { lines } else { usual })
    }

    /// Whether it was ever visited.
    pub(crate) fn known(&self) -> bool {
        !self.brackets.is_empty()
    }

    /// Of a huge page, whether its first looks saw it whatever its rate is, as is likely beside what is usual: it may be far
    /// hotter than it is taken for.
    pub(crate) fn is_too_hot_to_measure(&self) -> bool {
        self.brackets.not_told_apart().is_some_and(|hot| {
            let hot = self.weights.iter().zip(hot).filter(|(_, hot)| *hot);
            hot.map(|(weight, _)| weight).sum::<f32>() > 0.5
        })
    }

    /// What a page of it counts for, per second of CPU time (see [`mean`]).
    pub(crate) fn page(&self, counts: &[f64; RATES]) -> f64 {
        mean(&self.weights, counts)
    }

    /// The distribution of its pages' rates.
    pub(crate) fn weights(&self) -> &Weights {
        &self.weights
    }

    /// Whether some of its base pages are so much hotter than the others that it matters which of them
    /// lie in fast memory, which it does from so many accesses a second on.
    pub(crate) fn uneven(&mut self, matters: f64) -> bool {
        let Spread { hot, sure, .. } = self.spread();
        hot >= matters && sure >= SURE
    }

    /// Whether its pages are accessed alike, as far as looks tell: one that seems hotter is so by chance.
    pub(crate) fn alike(&mut self) -> bool {
        self.alike_for > 0 || self.spread().alike
    }

    /// As a logarithm, how much likelier it is that its pages differ; none where looks would not show it.
    pub(crate) fn likelier_than_alike(&mut self) -> Option<f64> {
        self.brackets.would_tell().then(|| self.spread().likelier)
    }

    /// As a logarithm, how much likelier what was seen is if its pages have these rates than if all have the one that fits best;
    /// none of too few pages.
    pub(crate) fn likelier_as(&mut self, weights: &Weights) -> Option<f64> {
        self.brackets.are_enough().then(|| self.brackets.likely_as(weights) - self.if_alike().1)
    }

    /// The same without the heat of a few pages that may be chance (see [`Brackets::sure`]).
    pub(crate) fn sure_weights(&mut self) -> &Weights {
        self.sure.get_or_insert_with(|| self.brackets.sure(&self.weights))
    }

    /// The rate of its pages, per second of CPU time, if all are accessed alike.
    pub(crate) fn rate_if_alike(&mut self) -> f64 {
        self.if_alike().0
    }

    fn if_alike(&mut self) -> (f64, f64) {
        *self.if_alike.get_or_insert_with(|| self.brackets.alike())
    }

    /// Whether its pages turned out to differ by chance, not long ago.
    pub(crate) fn was_found_alike(&self) -> bool {
        self.alike_for > 0
    }

    /// Its pages turned out to differ by chance.
    pub(crate) fn found_alike(&mut self) {
        self.alike_for = ALIKE_FOR;
    }

    /// How its base pages differ.
    fn spread(&mut self) -> Spread {
        if let Some(found) = self.spread {
            return found;
        }
        let found = self.find_spread();
        self.judged = self.brackets.pages();
        self.spread = Some(found);
        found
    }

    fn find_spread(&mut self) -> Spread {
        let of = |weights: &Weights| {
            let [hot, usual] = [HOT, 0.5].map(|share| reached_by(weights, share));
            (hot, (hot / usual.max(LITTLE)).log2())
        };
        // The usual fit ends early, and is held towards what is usual: both are no matter for a mean, but
        // make all regions look a little uneven.
        let (mut hot, mut doublings) = of(&self.weights);
        let mut likelier = 0.0;
        if self.brackets.are_enough() && doublings > 0.0 {
            let mut weights = self.weights;
            self.brackets.fit(&mut weights, &flat(), 0.0, SHARP_STEPS);
            (hot, doublings) = of(&weights);
            likelier = self.brackets.likely_as(&weights) - self.if_alike().1;
        }
        let alike = self.brackets.would_tell() && likelier < SURE;
        Spread { hot, sure: doublings * likelier, likelier, alike }
    }

    /// All that was seen of it.
    pub(crate) fn brackets(&self) -> &Brackets {
        &self.brackets
    }
}

#[cfg(test)]
mod tests {
    use super::super::mixture::{counts, mean_rate};
    use super::*;

    #[test]
    fn a_region_is_uneven_where_some_pages_are_much_hotter_than_the_rest_and_alike_where_looks_would_show_it()
     {
        let uneven_from = |matters: f64, looks: &[(f64, u16)]| {
            let mut visit = Visit { pages: 512, ..Visit::default() };
            looks.iter().for_each(|(gap_ns, seen)| visit.take(*gap_ns, *seen, None));
            let (mut brackets, mut history) = (Brackets::default(), History::default());
            brackets.add(&visit);
            history.learn(&brackets, &flat(), false);
            (history.uneven(matters), history.alike())
        };
        let [uneven, alike, nobody_knows] = [(true, false), (false, true), (false, false)];
        let found = |looks: &[(f64, u16)]| uneven_from(16.0, looks);
        assert!(!History::default().uneven(16.0) && !History::default().alike());
        // A tenth at once, the others never; all of them after some milliseconds; nearly none.
        assert_eq!(found(&[(5e4, 51), (4e5, 52), (3.2e6, 52), (2.5e7, 53), (2e8, 55)]), uneven);
        let all = [(5e4, 5), (4e5, 39), (3.2e6, 240), (2.5e7, 510), (2e8, 512)];
        assert_eq!(found(&all), alike);
        assert_eq!(found(&[(5e4, 0), (4e5, 0), (3.2e6, 0), (2.5e7, 0), (2e8, 1)]), nobody_knows);
        // Thirty pages fifteen times a second, the others never: that matters where moves pay soon.
        let seldom = [(5e4, 0), (4e5, 0), (3.2e6, 1), (2.5e7, 9), (2e8, 29)];
        assert_eq!((found(&seldom), uneven_from(1.0, &seldom)), (nobody_knows, uneven));
        // Whatever is accessed before the first look may be alike.
        assert_eq!(found(&[(5e4, 500), (4e5, 512), (3.2e6, 512), (2.5e7, 512), (2e8, 512)]), alike);
    }

    fn seen(pages: u16) -> Brackets {
        let mut visit = Visit { pages: 512, ..Visit::default() };
        visit.take(1e5, pages / 16, None);
        visit.take(1.6e6, pages, None);
        let mut brackets = Brackets::default();
        brackets.add(&visit);
        brackets
    }

    #[test]
    fn a_huge_page_that_turns_hot_is_followed_after_two_visits() {
        // Seen at 3 us, or not at all.
        let visit = |hot: bool| {
            let mut visit = Visit { pages: 1, huge: true, ..Visit::default() };
            visit.take(3e3, u16::from(hot), None);
            visit.take(2e8, u16::from(hot), None);
            let mut brackets = Brackets::default();
            brackets.add(&visit);
            brackets
        };
        let mut history = History::default();
        let rate = |history: &History| mean_rate(history.weights());
        for _ in 0..10 {
            assert!(!history.learn(&visit(false), &flat(), true));
        }
        assert!(rate(&history) < 1.0, "{}", rate(&history));
        assert!(!history.learn(&visit(true), &flat(), true), "once may be chance");
        assert!(!history.learn(&visit(false), &flat(), true), "and was");
        assert!(!history.learn(&visit(true), &flat(), true));
        assert!(history.learn(&visit(true), &flat(), true), "twice is not");
        assert!(rate(&history) > 1e4, "{}", rate(&history));
        history.learn(&visit(true), &flat(), true);
        let hot = rate(&history);
        // Unseen for 0.2 s says more than seen at once.
        history.learn(&visit(false), &flat(), true);
        assert!(rate(&history) < 0.05 * hot, "{} {hot}", rate(&history));
    }

    #[test]
    fn the_rate_if_all_pages_are_alike_is_found_out_anew_when_more_was_seen() {
        let mut history = History::default();
        for pages in [50, 400, 100] {
            history.learn(&seen(pages), &flat(), false);
            let (rate, likely) = history.brackets().alike();
            assert_eq!(history.rate_if_alike(), rate, "after {pages} pages");
            let likelier = history.brackets().likely_as(&flat()) - likely;
            assert_eq!(history.likelier_as(&flat()), Some(likelier));
        }
    }

    #[test]
    fn what_is_swept_over_now_and_then_is_as_hot_as_it_is_on_average() {
        // Every fourth epoch sees 400 pages, the others next to none; beside it, always 200.
        let (mut swept, mut steady) = (History::default(), History::default());
        let mut hotter = 0;
        for epoch in 0..80 {
            let pages = if epoch % 4 == 0 { 400 } else { 2 };
            swept.learn(&seen(pages), &flat(), false);
            steady.learn(&seen(200), &flat(), false);
            let [swept, steady] = [&swept, &steady].map(|it| it.page(&counts(1e-4)));
            hotter += u32::from(epoch >= 10 && swept > steady);
        }
        // Of seventeen sweeps.
        assert!((1..=6).contains(&hotter), "{hotter}");
        // Left in peace it is followed at once again.
        (0..40).for_each(|_| _ = swept.learn(&seen(2), &flat(), false));
        assert!(swept.learn(&seen(400), &flat(), false));
    }

    #[test]
    fn a_huge_page_that_all_first_looks_saw_is_too_hot_to_measure_however_late_they_came() {
        let visit = |seen: &[(f64, u16)]| {
            let mut visit = Visit { pages: 1, huge: true, ..Visit::default() };
            seen.iter().for_each(|(gap_ns, seen)| visit.take(*gap_ns, *seen, None));
            let mut brackets = Brackets::default();
            brackets.add(&visit);
            brackets
        };
        let too_hot = |visits: &[&Brackets]| {
            let mut history = History::default();
            visits.iter().for_each(|visit| assert!(!history.learn(visit, &flat(), true)));
            history.is_too_hot_to_measure()
        };
        // Looks at 26 us: a page that is accessed every 0.6 us, and one that is every 60 us.
        let seen = visit(&[(26e3, 1), (1e6, 1)]);
        let not_yet = visit(&[(26e3, 0), (1e6, 1)]);
        assert!(!too_hot(&[]), "unknown");
        assert!(too_hot(&[&seen; 3]));
        assert!(!too_hot(&[&seen, &not_yet, &seen, &not_yet]) && !too_hot(&[&not_yet; 3]));
        // By chance the second one was seen in one late look, and in others later.
        let late = visit(&[(3e6, 1), (1e7, 1)]);
        assert!(!too_hot(&[&not_yet, &late, &late]), "the other look tells");
        assert!(too_hot(&[&late; 3]), "no look tells");
    }

    #[test]
    fn an_epoch_is_charged_with_what_it_brought_whatever_was_seen_before() {
        let mut history = History::default();
        let mut charge = |whole: f64| {
            let epoch = Slope { pages: 10.0, whole: [whole; 2], noise: 1.0, ..Slope::default() };
            history.add_lines(epoch);
            history.charge(&epoch)
        };
        assert_eq!([0.0, 1.5, -1.0].map(&mut charge), [20.0; 3], "chance");
        // A sweep, and pages at random after it; no more than all lines, nor fewer than none.
        assert_eq!([10.0, 0.0, 30.0, -5.0].map(charge), [640.0, 20.0, 640.0, 0.0]);
    }

    #[test]
    fn pages_are_read_whole_once_all_visits_show_it_in_both_ways() {
        let charged = |whole: [f64; 2], visits: u32| {
            let mut history = History::default();
            let epoch = Slope { pages: 10.0, lines: 0.0, whole, noise: 2.0 };
            (0..visits).for_each(|_| history.add_lines(epoch));
            history.charge(&epoch)
        };
        assert_eq!([1, 40].map(|visits| charged([2.0; 2], visits)), [20.0, 144.0]);
        assert_eq!([[3.0, 2.0], [2.0, 3.0]].map(|whole| charged(whole, 40)), [144.0; 2]);
        assert_eq!(charged([3.0, 0.0], 40), 20.0, "a search that closes in on a place");
    }

    #[test]
    fn a_region_is_in_order_by_its_own_pages_only_where_they_differ_from_the_usual_by_more_than_chance()
     {
        // Of 100 pages so many seemed to be read in order, give or take 4.
        let part = |streamed: f64, usual: f64| {
            let mut history = History::default();
            let lines = 800.0 + 56.0 * streamed;
            history.add_lines(Slope { pages: 100.0, lines, noise: 16.0, ..Slope::default() });
            history.in_order(lines / 100.0, usual)
        };
        assert_eq!([-11.0, 0.0, 11.0].map(|streamed| part(streamed, 8.0)), [0.0; 3], "chance");
        assert!(part(13.0, 8.0) > 0.5, "a sweep in a program at random");
        assert_eq!(part(0.0, 36.0), 0.0, "pages at random in a program that sweeps");
        assert_eq!([45.0, 55.0].map(|streamed| part(streamed, 36.0)), [in_order(36.0); 2]);
        let unseen = History::default();
        assert_eq!(unseen.in_order(36.0, 36.0), in_order(36.0), "what is usual");
    }

    #[test]
    fn visits_add_up_until_the_program_changes() {
        let mut history = History::default();
        assert!(!history.known());
        for _ in 0..10 {
            assert!(!history.learn(&seen(100), &flat(), false));
        }
        let before = history.page(&counts(1e-4));
        assert!(!history.learn(&seen(120), &flat(), false), "chance");
        assert!(history.learn(&seen(400), &flat(), false), "a change");
        assert!(history.page(&counts(1e-4)) > 3.0 * before, "is followed at once");
        assert!(history.learn(&seen(30), &flat(), false));
        assert!(history.page(&counts(1e-4)) < before);
    }
}
