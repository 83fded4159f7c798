//! How fast free memory is used up: pure.

use std::time::Duration;

/// The fall of free memory from check to check.
#[derive(Clone, Debug, Default)]
pub(crate) struct Slope {
    /// The check before, unless memory came or went since.
    before: Option<(Duration, f64)>,
    /// Usual time between two checks, in seconds.
    between: f64,
    /// The newest fall, bytes per second, and smoothed; below zero where more becomes free.
    falls: Option<(f64, f64)>,
    lasting: f64,
}

impl Slope {
    /// Takes in how much is free; `weight` is that of the newest fall in the smoothed one. A check that comes so early
    /// that the fall until then may be anything is left out.
    pub(crate) fn take(&mut self, at: Duration, free: f64, weight: f64) {
        let Some((then, was)) = self.before.replace((at, free)) else { return };
        let time = at.saturating_sub(then).as_secs_f64();
        if time <= 0.0 || time < self.between / 2.0 {
            self.before = Some((then, was));
            return;
        }
        let newest = (was - free) / time;
        // What held up one check (a device that refused to go, a lock) says nothing of those to come: by so long a time
        // they would be early, and left out.
        self.between = if self.between > 0.0 { time.min(2.0 * self.between) } else { time };
        // What fell once may have been one piece; what falls twice, or fell before, goes on.
        let before = self.falls.map_or(0.0, |(last, smoothed)| last.max(smoothed));
        self.lasting = before.min(newest).max(0.0);
        let smoothed = self.falls.map_or(newest, |(_, smoothed)| smoothed);
        self.falls = Some((newest, weight * newest + (1.0 - weight) * smoothed));
    }

    /// Memory came or went: the next difference says nothing. The rate goes on until the one after it.
    pub(crate) fn jump(&mut self) {
        self.before = None;
    }

    /// Bytes per second that are used up for more than one check: the newest fall, and no more than the one before
    /// it, or what was smoothed before it.
    pub(crate) fn rate(&self) -> f64 {
        self.lasting
    }

    /// What is used up until something that takes `time` and begins when it is looked again, or at the next check, has
    /// ended.
    pub(crate) fn until_done(&self, time: Duration, again: Option<Duration>) -> f64 {
        let begins = again.map_or(self.between, |again| again.as_secs_f64().min(self.between));
        self.lasting * (time.as_secs_f64() + begins)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The rate after each check, a second apart.
    fn rates(free: &[f64]) -> Vec<f64> {
        let mut slope = Slope::default();
        (0..)
            .zip(free)
            .map(|(second, free)| {
                slope.take(Duration::from_secs(second), *free, 0.5);
                slope.rate()
            })
            .collect()
    }

    #[test]
    fn a_steady_fall_is_known_after_two_differences() {
        assert_eq!(rates(&[900.0, 800.0, 700.0, 600.0]), [0.0, 0.0, 100.0, 100.0]);
        assert_eq!(rates(&[900.0, 900.0, 800.0, 700.0, 600.0]), [0.0, 0.0, 0.0, 100.0, 100.0]);
        // A check that saw less does not hide it.
        assert_eq!(rates(&[900.0, 800.0, 700.0, 690.0, 590.0]), [0.0, 0.0, 100.0, 10.0, 55.0]);
    }

    #[test]
    fn one_piece_of_memory_is_no_slope() {
        assert_eq!(rates(&[900.0, 900.0, 500.0, 500.0, 500.0]), [0.0; 5]);
        // And none is left when it ends.
        assert_eq!(rates(&[900.0, 800.0, 700.0, 700.0])[3], 0.0);
    }

    #[test]
    fn memory_that_comes_does_not_hide_the_fall() {
        let mut slope = Slope::default();
        for (second, free) in [(0, 900.0), (1, 800.0), (2, 700.0)] {
            slope.take(Duration::from_secs(second), free, 0.5);
        }
        slope.jump();
        slope.take(Duration::from_secs(5), 1000.0, 0.5);
        let three = Duration::from_secs(3);
        assert_eq!((slope.rate(), slope.until_done(three, None)), (100.0, 400.0));
        assert_eq!(slope.until_done(three, Some(three)), 400.0);
        assert_eq!(slope.until_done(three, Some(three / 6)), 350.0);
        slope.take(Duration::from_secs(6), 990.0, 0.5);
        assert_eq!(slope.rate(), 10.0);
    }

    #[test]
    fn a_check_that_comes_early_does_not_change_the_rate() {
        let mut slope = Slope::default();
        for (tenth, free, rate) in [
            (0, 900.0, 0.0),
            (10, 800.0, 0.0),
            (20, 700.0, 100.0),
            (22, 699.0, 100.0),
            (30, 640.0, 60.0),
        ] {
            slope.take(Duration::from_millis(tenth * 100), free, 0.5);
            assert_eq!(slope.rate(), rate, "{tenth}");
        }
    }

    #[test]
    fn after_a_check_that_was_held_up_a_fall_is_known_as_soon_as_else() {
        for held_up in [4, 10, 31] {
            let mut slope = Slope::default();
            for second in 0..3 {
                slope.take(Duration::from_secs(second), 900.0, 0.5);
            }
            let next = 2 + held_up;
            for (second, free) in (next..next + 3).zip([800.0, 700.0, 600.0]) {
                slope.take(Duration::from_secs(second), free, 0.5);
            }
            assert_eq!(slope.rate(), 100.0, "{held_up} s");
            assert_eq!(slope.until_done(Duration::ZERO, None), 100.0, "{held_up} s");
        }
    }

    proptest! {
        #[test]
        fn what_grows_has_no_slope_and_no_rate_is_above_the_steepest_fall(
            free in prop::collection::vec(0_u32..1_000_000, 2..50),
        ) {
            let free: Vec<f64> = free.into_iter().map(f64::from).collect();
            let falls: Vec<f64> = free.windows(2).map(|two| two[0] - two[1]).collect();
            for (at, rate) in rates(&free).into_iter().enumerate().skip(1) {
                prop_assert!(rate >= 0.0 && rate <= falls[at - 1].max(0.0));
            }
            let mut rising = free;
            rising.sort_by(f64::total_cmp);
            prop_assert!(rates(&rising).iter().all(|rate| *rate == 0.0));
        }
    }
}
