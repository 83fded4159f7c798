//! What watching is worth: it costs the same whether there is something to find or not.

use pagetide_types::MayBring;
use std::time::Duration;

/// Watching that is expected to bring nothing is worth this part of the budget: else no change would be seen.
const WORTHLESS: f64 = 0.1;
/// What it may bring is not believed before a target has been the same for so many epochs: the first looks tell little.
const SAME: u32 = 3;
/// What was at stake counts for half after so long, s: two epochs, for what is known of a target gets better more often than it
/// pauses. (What a better placement would have brought counts no more once it is in place.)
const HALF_S: f64 = 10.0;

/// Visits that tell of a change within so long are soon enough, s: none is believed within a second (survey/change.rs).
const SOON_S: f64 = 0.25;

/// What is known of a target since it became what it is.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Worth {
    may_bring: Option<MayBring>,
    epochs: u32,
    lasted: Duration,
}

impl Worth {
    /// An epoch so long is over, and the target is the same.
    pub(super) fn lasts(&mut self, length: Duration) {
        self.epochs += 1;
        self.lasted += length;
    }

    /// Watching may bring so much, by all that was seen until the end of an epoch of this length; none: nobody knows.
    pub(super) fn told(&mut self, may_bring: Option<MayBring>, length: Duration) {
        let left = (-length.as_secs_f64() / HALF_S).exp2();
        let before = self.may_bring.map_or(0.0, |before| left * before.at_stake_s);
        self.may_bring =
            may_bring.map(|now| MayBring { at_stake_s: now.at_stake_s.max(before), ..now });
    }

    /// The part of the budget, a share of a core, that watching is worth. A change is seen for so many CPU seconds of it.
    ///
    /// What can be had is worth itself. What is in place is lost until a change is seen, `noticing_s / share` seconds; what has
    /// lasted for a time is over in the next second with a chance of one in its seconds (of what lasts
    /// by a power law). Watching and what is lost take least together where each takes the same: the root of what is at
    /// stake, times the one time, over the other. [`SOON_S`] is soon enough.
    pub(super) fn of(&self, budget: f64, noticing_s: f64) -> f64 {
        let known = self.may_bring.filter(|_| self.epochs >= SAME);
        known.map_or(1.0, |MayBring { more_s, at_stake_s }| {
            let insured_s = (at_stake_s * noticing_s / self.lasted.as_secs_f64().max(1.0)).sqrt();
            let insured_s = insured_s.min(noticing_s / SOON_S);
            ((more_s + insured_s) / budget).clamp(WORTHLESS, 1.0)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// After so many epochs of 5 s.
    fn worth(more_s: f64, at_stake_s: f64, epochs: u32) -> Worth {
        let mut worth = Worth::default();
        (0..epochs).for_each(|_| worth.lasts(Duration::from_secs(5)));
        worth.told(Some(MayBring { more_s, at_stake_s }), Duration::from_secs(5));
        worth
    }

    #[test]
    fn watching_is_worth_what_a_better_placement_would_bring() {
        let part = |more_s| worth(more_s, 0.0, 3).of(0.03, 0.01);
        assert_eq!(Worth::default().of(0.03, 0.01), 1.0, "nobody knows");
        assert_eq!([0.5, 0.03].map(part), [1.0; 2]);
        assert!((part(0.006) - 0.2).abs() < 1e-9);
        assert_eq!(part(0.0), 0.1, "all is alike, or fast; a change is to be seen all the same");
        assert_eq!(worth(0.0, 0.0, 2).of(0.03, 0.01), 1.0, "it is new");
    }

    #[test]
    fn what_is_in_place_is_watched_the_less_the_longer_it_lasts() {
        let share = |epochs| 0.03 * worth(0.0, 0.4, epochs).of(0.03, 0.01);
        // 10 ms tell of a change. Of 40 s: the loss of 0.4 s a second until then, once in 40 s.
        let watching_s = share(8);
        assert!((watching_s - 0.01).abs() < 1e-9);
        let lost_s = 0.4 * (0.01 / watching_s) / 40.0;
        assert!((lost_s - watching_s).abs() < 1e-9);
        assert!((share(32) - 0.005).abs() < 1e-9);
        assert!((share(3200) - 0.003).abs() < 1e-9, "a tenth of the budget at least");
    }

    #[test]
    fn no_change_is_worth_seeing_at_once() {
        let share = |noticing_s: f64| 0.03 * worth(0.0, 0.4, 3).of(0.03, noticing_s);
        assert!((share(0.001) - 0.004).abs() < 1e-9, "1 ms of visits in a quarter of a second");
        assert!((share(0.004) - (0.4_f64 * 0.004 / 15.0).sqrt()).abs() < 1e-9);
    }

    #[test]
    fn who_pauses_does_not_promise_less_at_once() {
        let mut worth = worth(0.5, 0.2, 4);
        worth.told(Some(MayBring::default()), Duration::from_secs(10));
        // The root of 0.1 s a second, 10 ms, and once in 20 s.
        assert!((0.03 * worth.of(0.03, 0.01) - (0.1_f64 * 0.01 / 20.0).sqrt()).abs() < 1e-9);
        worth.told(None, Duration::from_secs(5));
        assert_eq!(worth.of(0.03, 0.01), 1.0, "nobody knows any more");
    }
}
