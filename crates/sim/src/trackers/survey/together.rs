//! Whether units changed, so that what was seen of them before does not count any more, and how often they are accessed.
//!
//! As in the recorder: a huge page has changed where two visits in a row run counter to what is known of it, each less likely
//! than one in a thousand, and base pages are asked 512 together, one epoch of which is believed. Where memory is scaled down so
//! that a unit stands for as many, it is asked alone, and believed where two intervals in a row run counter the same way: a page
//! that threads sweep over now and then seems to change with each sweep.

use super::mixture::Mixture;
use super::seen::Seen;
use pagetide_types::{Patience, surprising};

/// So many odd visits to a huge page are a change.
const ODD_VISITS: f64 = 2.0;

/// Units that are asked together whether they changed.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Together {
    patience: Patience,
    /// Above 0 where the last interval had more accesses than chance explains, below where it had fewer; of a huge page,
    /// its odd visits.
    odd: f64,
    /// Of several, once one was visited.
    mixture: Option<Mixture>,
}

impl Together {
    /// Asks base pages at the end of an interval; those that changed begin anew.
    pub(super) fn judge(&mut self, seen: &mut [Seen]) {
        let watched = seen.iter().filter_map(Seen::surprise);
        let sum = watched.reduce(|[a, b], [more, expected]| [a + more, b + expected]);
        if let Some([accesses, expected]) = sum {
            let odd =
                if surprising(accesses, expected) { (accesses - expected).signum() } else { 0.0 };
            let before = std::mem::replace(&mut self.odd, odd);
            self.believe(odd != 0.0 && (seen.len() > 1 || odd * before > 0.0), seen);
        }
    }

    /// Asks a huge page.
    pub(super) fn judge_huge(&mut self, seen: &mut Seen) {
        if seen.surprise().is_some() {
            let odd = seen.odd.take().unwrap_or(0.0);
            let before = std::mem::replace(&mut self.odd, odd);
            let differs = odd != 0.0 && odd * before >= 0.0 && (odd + before).abs() >= ODD_VISITS;
            self.believe(differs, std::slice::from_mut(seen));
        }
    }

    /// Takes an interval in; of each, whether it was watched, and seen accessed. `visits`: accesses and seconds, by unit.
    pub(super) fn learn(
        &mut self,
        seen: &mut [Seen],
        visits: &[(usize, [f64; 2])],
    ) -> Vec<Option<bool>> {
        let many = seen.len() > 1;
        if many && !visits.is_empty() {
            let all: Vec<[f64; 2]> = visits.iter().map(|(_, visit)| *visit).collect();
            let mixture = self.mixture.get_or_insert_default();
            mixture.learn(&all);
            for (unit, visit) in visits {
                let [rates, count] = seen[*unit].said;
                seen[*unit].said = [rates + mixture.rate(visit), count + 1.0];
            }
        }
        let accessed = seen.iter_mut().map(Seen::learn).collect();
        if many {
            self.estimate(seen);
        } else {
            seen[0].rate = seen[0].known().rate();
        }
        accessed
    }

    /// How often those of many are accessed. How they differ is told by all that was seen of each, and how often all of them
    /// are by single visits: programs go through phases, and a visit takes the longer the less it sees, so that accesses
    /// over the time that was watched are those of the quiet ones.
    fn estimate(&self, seen: &mut [Seen]) {
        let known: Vec<[f64; 2]> = seen.iter().map(|one| one.known().visit()).collect();
        let watched: Vec<[f64; 2]> =
            known.iter().copied().filter(|[_, time_s]| *time_s > 0.0).collect();
        let all = self.mixture.as_ref().map_or(0.0, Mixture::mean);
        let mut differ = Mixture::default();
        differ.learn(&watched);
        let by_each = watched.iter().map(|known| differ.rate(known)).sum::<f64>();
        let times = if by_each > 0.0 { all * watched.len() as f64 / by_each } else { 0.0 };
        for (one, known) in seen.iter_mut().zip(&known) {
            one.rate = if known[1] > 0.0 { times * differ.rate(known) } else { all };
        }
    }

    fn believe(&mut self, differs: bool, seen: &mut [Seen]) {
        if self.patience.believes(differs) {
            (self.odd, self.mixture) = (0.0, None);
            seen.iter_mut().for_each(|seen| seen.stale = true);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::mixture;
    use super::*;

    /// An interval ends in which these visits saw so many accesses in so many seconds, by unit.
    fn interval(asked: &mut Together, seen: &mut [Seen], visits: &[(usize, [f64; 2])]) {
        for (unit, [accesses, time_s]) in visits {
            seen[*unit].watched([*accesses, 0.0], time_s * 1e9);
        }
        asked.judge(seen);
        asked.learn(seen, visits);
    }

    /// What is shown of a unit asked alone, interval by interval.
    fn alone(seen: &mut Seen, asked: &mut Together, accesses: [f64; 2]) -> [f32; 2] {
        seen.watched(accesses, 5e8);
        seen.watched([0.0; 2], 5e8);
        let seen = std::slice::from_mut(seen);
        asked.judge(seen);
        assert_eq!(asked.learn(seen, &[]), [Some(accesses != [0.0; 2])]);
        assert_eq!(asked.learn(seen, &[]), [None], "it was not watched");
        [seen[0].rate(), seen[0].in_order()]
    }

    #[test]
    fn of_one_sighting_little_is_sure_of_many_much() {
        let [once, often] = [1, 100].map(|visits| {
            let mut seen = [Seen::default()];
            interval(&mut Together::default(), &mut seen, &vec![(0, [1.0, 1.0]); visits]);
            seen[0]
        });
        // Of the gamma distribution: 0.105 and 0.875 of the mean.
        assert!((0.07..0.14).contains(&once.least()), "{}", once.least());
        assert!((0.86..0.89).contains(&often.least()), "{}", often.least());
    }

    #[test]
    fn what_was_seen_evens_chance_out_until_the_unit_changes() {
        let (mut seen, mut asked) = (Seen::default(), Together::default());
        let mut learn = |accesses| alone(&mut seen, &mut asked, accesses);
        let rounds: Vec<[f32; 2]> =
            (0..60).map(|round| learn([if round % 2 == 0 { 65.0 } else { 85.0 }, 25.0])).collect();
        for [rate, in_order] in &rounds[20..] {
            assert!((rate - 100.0).abs() < 1.0, "of looks that are 10 off {rate} remains");
            assert!((in_order - 25.0).abs() < 0.1, "{in_order}");
        }
        // Slowly, where it may be chance; at the second interval, where it cannot be; and no sweep is a change.
        let slowly: Vec<f32> = (0..10).map(|_| learn([60.0, 0.0])[0]).collect();
        assert!(slowly.is_sorted_by(|one, next| one > next) && slowly[9] > 70.0, "{slowly:?}");
        assert!(learn([400.0, 0.0])[0] < 150.0);
        assert!((learn([400.0, 0.0])[0] - 400.0).abs() < 1e-3);
        for _ in 0..20 {
            assert!(learn([0.0; 2])[0] > 150.0);
            assert!(learn([400.0, 0.0])[0] < 400.0);
        }
    }

    /// So many such visits to each of these pages.
    fn visits(pages: impl Iterator<Item = usize>, each: [f64; 2]) -> Vec<(usize, [f64; 2])> {
        pages.flat_map(|page| [(page, each); 4]).collect()
    }

    #[test]
    fn pages_of_one_bit_are_asked_together_and_believed_at_once() {
        // Of 512 pages none was seen in 14 intervals; then four visits see every second one within 4 ms.
        let (mut asked, mut pages) = (Together::default(), vec![Seen::default(); 512]);
        interval(&mut asked, &mut pages, &[]);
        assert_eq!((pages[0].rate(), pages[0].least()), (0.0, 0.0), "nothing is known of any");
        (0..14).for_each(|_| interval(&mut asked, &mut pages, &visits(0..512, [0.0, 1.0])));
        assert!(pages[0].rate() < 0.1, "{}", pages[0].rate());
        let mut saw = visits((0..510).step_by(2), [1.0, 4e-3]);
        saw.extend(visits((1..510).step_by(2), [0.0, 1.0]));
        interval(&mut asked, &mut pages, &saw);
        assert!((200.0..300.0).contains(&pages[0].rate()), "{}", pages[0].rate());
        assert!(pages[1].rate() < 1.0, "{}", pages[1].rate());
        // Two were not watched: they are taken for any of these, until they are.
        assert_eq!(pages[510].rate(), pages[511].rate());
        assert!((90.0..160.0).contains(&pages[511].rate()), "{}", pages[511].rate());
        interval(&mut asked, &mut pages, &visits(510..511, [0.0, 1.0]));
        assert!(pages[510].rate() < 1.0, "{}", pages[510].rate());
    }

    #[test]
    fn pages_that_are_accessed_half_of_the_time_are_half_as_hot() {
        // Seen within 4 ms, or not within 1 s, interval by interval: accesses over time watched would be 1 a second.
        let (mut asked, mut pages) = (Together::default(), vec![Seen::default(); 512]);
        for round in 0..40 {
            let each = if round % 2 == 0 { [1.0, 4e-3] } else { [0.0, 1.0] };
            interval(&mut asked, &mut pages, &visits(0..512, each));
            let traffic = if round % 2 == 0 { 200.0..300.0 } else { 0.0..1.0 };
            assert!(traffic.contains(&pages[0].traffic(1.0)), "{round}: {}", pages[0].traffic(1.0));
        }
        assert!((90.0..160.0).contains(&pages[0].rate()), "{}", pages[0].rate());
    }

    #[test]
    fn pages_alike_are_told_apart_no_further_than_chance() {
        // Four visits to each of 512 pages: all alike, and every second one accessed a tenth as often.
        for times in [1.0, 10.0] {
            let mut pages = vec![Seen::default(); 512];
            let saw = mixture::tests::visits(&[100.0, 100.0 / times], 2048);
            let each: Vec<_> =
                saw.into_iter().enumerate().map(|(at, saw)| (at % 512, saw)).collect();
            interval(&mut Together::default(), &mut pages, &each);
            let off = |page: &Seen, rate: f64| (page.rate / rate).ln().powi(2);
            let all = pages.chunks(2).map(|two| off(&two[0], 100.0) + off(&two[1], 100.0 / times));
            let off = (all.sum::<f64>() / 512.0).sqrt();
            // One by one they would be off by 0.53.
            assert!(off < if times == 1.0 { 0.15 } else { 0.53 }, "{times}: {off}");
            let surer = pages.iter().filter(|page| f64::from(page.least()) > 100.0).count();
            assert!(surer < 10, "{surer} of 512 are surely hotter than any is");
        }
    }

    #[test]
    fn a_huge_page_changes_where_two_visits_are_odd() {
        let (mut page, mut asked) = (Seen::default(), Together::default());
        let mut shows = |visits: &[(f64, Option<f64>)]| {
            visits.iter().for_each(|(untouched, touched)| page.visited(*untouched, *touched));
            asked.judge_huge(&mut page);
            let page = std::slice::from_mut(&mut page);
            asked.learn(page, &[]);
            page[0].rate()
        };
        (0..10).for_each(|_| _ = shows(&[(1e9, None); 4]));
        assert!(shows(&[(1e6, Some(2e6))]) < 1.0, "one sighting may be chance");
        let hot = shows(&[(1e6, Some(2e6))]);
        assert!(hot > 300.0, "two are none: {hot}");
        for _ in 0..10 {
            shows(&[(1e6, Some(2e6)); 4]);
        }
        // It is let go as soon, whatever the visits before it; who has changed twice is believed an interval later.
        let gone: Vec<f32> = (0..4).map(|_| shows(&[(1e9, None); 4])).collect();
        assert_eq!(gone[3], 0.0, "{gone:?}");
        // Visits that do not agree are no change.
        let mut page = Seen::default();
        page.watched([100.0, 0.0], 1e10);
        page.learn();
        page.visited(1e9, None);
        page.visited(1e2, Some(1e4));
        assert_eq!(page.odd, None);
    }
}
