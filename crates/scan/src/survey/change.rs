//! Whether the target has changed: what the last visits saw is held against what is known of their regions. (A manager that is to
//! promote much that is new takes it for changed, too: `manager/orders.rs`; a stopped process has `policy`'s `access_change.rs`.)

use std::cmp::Ordering;
use std::collections::VecDeque;

/// So many visits are remembered, and all of this long.
const VISITS: usize = 64;
const LASTS_NS: u64 = 1_500_000_000;
/// The target has changed where so many of them run counter to what is known, some because they saw more and some because they
/// saw less, over so long a time. What lasts no longer than a visit or two is a pause of the program, or of the machine; and a
/// program that runs slower as a whole is still the same. Few need to have seen more: most visits go to what is known to be
/// hot, and what is hot now was cold.
const COUNTER: usize = 8;
const EACH_WAY: usize = 2;
const APART_NS: u64 = 1_000_000_000;
/// Visits that tell of a hot set that became another one: half of all go to what is known to be hot (draw.rs). Where it is small
/// more do, for fewer see the new one.
pub(crate) const TELL: usize = 2 * COUNTER;
/// What came or went is such a share of all that counts. In dry runs of PageRank a third of the visits ran counter, to what is
/// read once in a pass, and that was 0.01 to 1 % of it; where the hot set became another one, 85 %.
const MATTERS: f64 = 0.1;

/// What a visit saw, beside what was known.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Judgement {
    /// When its region was cleared.
    pub(crate) ns: u64,
    /// Greater: it saw far more than that lets expect.
    pub(crate) counter: Ordering,
    /// What its pages count for, by what was known and by what it saw.
    pub(crate) counts: [f64; 2],
}

/// See the module.
#[derive(Clone, Debug, Default)]
pub(crate) struct LastVisits(VecDeque<Judgement>);

impl LastVisits {
    /// Visits come in about the order in which their regions were cleared.
    pub(crate) fn add(&mut self, visit: Judgement) {
        self.0.push_back(visit);
        while self.0.len() > VISITS
            && self.0.front().is_some_and(|old| old.ns + LASTS_NS < visit.ns)
        {
            self.0.pop_front();
        }
    }

    /// What was known before is not held against what comes.
    pub(crate) fn forget(&mut self) {
        self.0.clear();
    }

    pub(crate) fn say_changed(&self) -> bool {
        let counter = || self.0.iter().filter(|visit| visit.counter.is_ne());
        let all = counter().count();
        let more = counter().filter(|visit| visit.counter.is_gt()).count();
        let times = || counter().map(|visit| visit.ns);
        let apart = times().max().zip(times().min()).map_or(0, |(last, first)| last - first);
        all >= COUNTER && more.min(all - more) >= EACH_WAY && apart >= APART_NS && self.matters()
    }

    fn matters(&self) -> bool {
        let (mut differs, mut counts) = (0.0, 0.0);
        for Judgement { counter, counts: [known, seen], .. } in &self.0 {
            let as_known = counter.is_eq();
            differs += if as_known { 0.0 } else { (known - seen).abs() };
            counts += if as_known { *known } else { known.max(*seen) };
        }
        differs > 0.0 && differs >= MATTERS * counts
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Ordering::{Equal, Greater, Less};

    /// One visit in a tenth of a second.
    fn after(visits: impl IntoIterator<Item = (Ordering, [f64; 2])>) -> LastVisits {
        let mut last = LastVisits::default();
        for (ns, (counter, counts)) in (0..).step_by(100_000_000).zip(visits) {
            last.add(Judgement { ns, counter, counts });
        }
        last
    }

    const SAME: (Ordering, [f64; 2]) = (Equal, [100.0, 100.0]);
    const GONE: (Ordering, [f64; 2]) = (Less, [100.0, 0.0]);
    const NEW: (Ordering, [f64; 2]) = (Greater, [0.0, 100.0]);

    #[test]
    fn a_hot_set_that_became_another_one_is_a_change() {
        let moved = |gone, new| {
            after([vec![SAME; 30], vec![GONE; gone], vec![NEW; new], vec![SAME; 4]].concat())
        };
        assert!(moved(10, 2).say_changed());
        assert!(!moved(10, 1).say_changed(), "one is chance");
        assert!(!moved(5, 2).say_changed(), "so are few");
        assert!(!moved(20, 0).say_changed(), "a program that is slower as a whole");
    }

    #[test]
    fn what_lasts_less_than_a_second_is_a_pause() {
        let mut last = LastVisits::default();
        for (ns, (counter, counts)) in (0..).step_by(10_000_000).zip([[GONE, NEW]; 20].concat()) {
            last.add(Judgement { ns, counter, counts });
        }
        assert!(!last.say_changed());
    }

    #[test]
    fn what_counts_little_may_change() {
        let (gone, new) = ((Less, [0.5, 0.0]), (Greater, [0.0, 0.5]));
        let streams = after([[SAME, gone], [SAME, new]].concat().repeat(12));
        assert!(!streams.say_changed(), "half of the visits, 1 % of what counts");
        let cached = [(Less, [0.0; 2]), (Greater, [0.0; 2])];
        assert!(!after(cached.repeat(12)).say_changed(), "all of it is in the caches");
    }

    #[test]
    fn the_last_visits_decide() {
        let change = [vec![GONE; 20], vec![NEW; 4]].concat();
        assert!(after([vec![SAME; 600], change.clone()].concat()).say_changed());
        assert!(!after([change.clone(), vec![SAME; 64]].concat()).say_changed(), "that was then");
        let mut last = after(change);
        last.forget();
        assert!(!last.say_changed());
    }
}
