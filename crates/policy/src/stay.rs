//! For how long what goes to fast memory is going to stay there: in that time its move must bring what it cost. A
//! program that has been as it is for long may be trusted to remain so, one that takes back what went up may not.
//!
//! Taken to be exponential, the mean stay is the time that all moves stayed so far over the number of stays that
//! ended (the maximum likelihood where some are still going on: B. Epstein and M. Sobel, Life testing, 1953). So that
//! it is not without end before the first one ended, each move counts as one more. What went up at once and stays is
//! taken to stay for as long again as it has; of what is always replaced, half of the time that it stayed.

use pagetide_types::{Bytes, UnitId};
use std::collections::BTreeMap;

/// No stay is taken to be longer, seconds: a program may change at any time.
const LONGEST_S: f64 = 600.0;

/// The stays of a tenant.
#[derive(Debug, Default)]
pub(crate) struct Stays {
    /// What went up and is still there, and all of it together.
    up: BTreeMap<UnitId, Bytes>,
    all: Bytes,
    /// Bytes that went up, and those whose stay ended, each faded.
    began: f64,
    ended: f64,
    /// For how long, bytes times seconds, faded.
    stayed: f64,
}

impl Stays {
    /// An epoch passed; units that the program gave back have ended their stay.
    pub(crate) fn pass(&mut self, length_s: f64, lives: impl Fn(UnitId) -> bool) {
        self.stayed += self.all.as_f64() * length_s;
        let gone = self.up.extract_if(.., |unit, _| !lives(*unit)).map(|(_, bytes)| bytes).sum();
        self.end(gone);
        if self.ended >= self.all.as_f64() {
            // All was replaced once: what was before counts for half.
            for sum in [&mut self.began, &mut self.ended, &mut self.stayed] {
                *sum /= 2.0;
            }
        }
    }

    /// A unit went up, or a part of it.
    pub(crate) fn went_up(&mut self, unit: UnitId, bytes: Bytes) {
        *self.up.entry(unit).or_insert(Bytes(0)) += bytes;
        self.all += bytes;
        self.began += bytes.as_f64();
    }

    /// A unit went down; whether it had gone up before.
    pub(crate) fn went_down(&mut self, unit: UnitId) -> bool {
        let Some(bytes) = self.up.remove(&unit) else { return false };
        self.end(bytes);
        true
    }

    fn end(&mut self, bytes: Bytes) {
        self.all = self.all.saturating_sub(bytes);
        self.ended += bytes.as_f64();
    }

    /// What may be counted on, seconds; `least` in any case.
    pub(crate) fn expected_s(&self, least_s: f64) -> f64 {
        let ends = self.began + self.ended;
        let so_far = if ends > 0.0 { self.stayed / ends } else { 0.0 };
        (least_s + so_far).min(LONGEST_S).max(least_s)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: Bytes = Bytes(4096);

    fn up(stays: &mut Stays, units: std::ops::Range<u32>) {
        units.for_each(|unit| stays.went_up(UnitId(unit), PAGE));
    }

    #[test]
    fn before_anything_moved_only_the_least_is_counted_on() {
        let mut stays = Stays::default();
        stays.pass(1_000.0, |_| true);
        assert_eq!(stays.expected_s(10.0), 10.0);
    }

    #[test]
    fn what_stays_is_taken_to_stay_for_as_long_again() {
        let mut stays = Stays::default();
        up(&mut stays, 0..100);
        for second in 1..=60 {
            stays.pass(1.0, |_| true);
            assert_eq!(stays.expected_s(10.0), 10.0 + f64::from(second));
        }
        (0..1_000).for_each(|_| stays.pass(1.0, |_| true));
        assert_eq!(stays.expected_s(10.0), LONGEST_S);
        assert_eq!(stays.expected_s(3_600.0), 3_600.0, "who asks for more gets it");
    }

    /// Of 1,000 units 50 go up each second, each for `life_s`.
    fn replaced(life_s: u32, seconds: u32) -> Stays {
        let mut stays = Stays::default();
        for second in 0..seconds {
            let units = |second: u32| second * 50..(second + 1) * 50;
            up(&mut stays, units(second));
            stays.pass(1.0, |_| true);
            if let Some(old) = (second + 1).checked_sub(life_s) {
                assert!(units(old).all(|unit| stays.went_down(UnitId(unit))));
            }
        }
        stays
    }

    #[test]
    fn of_what_is_always_replaced_half_of_its_time_is_counted_on() {
        for life_s in [4, 20, 100] {
            let so_far = replaced(life_s, 20 * life_s).expected_s(10.0) - 10.0;
            let share = so_far / f64::from(life_s);
            assert!((0.4..0.6).contains(&share), "{share} of {life_s} s");
        }
    }

    #[test]
    fn a_program_that_has_changed_is_not_trusted_for_long() {
        let mut stays = Stays::default();
        up(&mut stays, 0..1_000);
        stays.pass(300.0, |_| true);
        assert_eq!(stays.expected_s(10.0), 310.0);
        // From now on another set every 10 s.
        let mut before = stays.expected_s(10.0);
        for set in 0..8 {
            (0..1_000).for_each(|unit| assert!(stays.went_down(UnitId(1_000 * set + unit))));
            up(&mut stays, 1_000 * (set + 1)..1_000 * (set + 2));
            stays.pass(10.0, |_| true);
            let now = stays.expected_s(10.0);
            assert!(now < before, "{now} after {before}");
            before = now;
        }
        assert!(before < 30.0, "{before}");
    }

    #[test]
    fn what_the_program_gave_back_stayed_no_longer() {
        let (mut kept, mut freed) = (Stays::default(), Stays::default());
        for stays in [&mut kept, &mut freed] {
            up(stays, 0..100);
            stays.pass(30.0, |_| true);
        }
        kept.pass(1.0, |_| true);
        freed.pass(1.0, |unit| unit.0 >= 60);
        assert!(freed.expected_s(0.0) < 0.7 * kept.expected_s(0.0));
        assert!(!freed.went_down(UnitId(0)), "it is not there any more");
        assert!(freed.went_down(UnitId(60)));
    }
}
