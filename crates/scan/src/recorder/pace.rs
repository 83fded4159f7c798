//! How long an epoch is, and what may be spent in it.

use std::time::Duration;

/// Visits, and what else an epoch does, take so many times the visits at most; the epoch ends when they are done.
const BESIDE: f64 = 1.5;
/// Who wants an answer soon spends so many times as much in an epoch in which all has to be visited, which later ones save:
/// as much as ten seconds may take, in the first one.
const AHEAD: f64 = 10.0;
/// Part of the budget by which what was spent ahead is saved: after the first epoch within a minute, and most is left for
/// looking again.
const SAVED: f64 = 0.25;
/// No more is spent ahead where the budget of so many seconds is still to be saved: a target that changes before all is gets
/// its answer soon, too, and one that changes again and again only what was saved.
const OWED_S: f64 = 30.0;
/// Epochs are so long that deciding at their end takes this share of the budget at most.
const DECIDING: f64 = 1.0 / 3.0;
/// Most of one core, however many the target keeps busy.
const MOST: f64 = 0.5;

/// What is known of an epoch that begins.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
    /// Its number.
    pub(super) epoch: u32,
    /// Length of an epoch, and of the first two for who wants an answer soon.
    pub(super) usual: Duration,
    pub(super) opening: Option<Duration>,
    /// An answer is wanted soon.
    pub(super) hurry: bool,
    /// How long nothing was watched before it.
    pub(super) paused: Duration,
    /// CPU time of what is decided at its end.
    pub(super) deciding: Duration,
    /// How long the last one was.
    pub(super) last: Duration,
    /// All has to be visited: more than the budget is spent.
    pub(super) ahead: bool,
    /// CPU time that was spent ahead and is still to be saved, ns.
    pub(super) owed_ns: f64,
    /// Share of one core.
    pub(super) budget: f64,
    /// The part of the budget that watching is worth ([`super::worth`]).
    pub(super) worth: f64,
}

/// The share of one core that observing may use, where it is `share` of each core that the target keeps busy:
/// of one at least, and so much in all that one thread of ours can, and leaves time to move pages.
pub(super) fn of_cores(share: f64, cores: f64) -> f64 {
    (share * cores.max(1.0)).min(share.max(MOST))
}

impl Pace {
    /// How long it is to be, where one visit to what nobody has visited yet takes so much CPU time; none is needed
    /// where everything was. In a hurry (`left` is asked with true) to what was not since the target changed.
    pub(super) fn length(&self, left: impl FnOnce(bool) -> Option<Duration>) -> Duration {
        let Some(first) = self.opening else { return self.usual };
        let deciding = self.deciding.as_secs_f64() / self.budget;
        let [deciding, usual] = [1.0, 1.0 / DECIDING].map(|times| {
            let length = Duration::try_from_secs_f64(deciding * times).unwrap_or(Duration::MAX);
            length.min(2 * self.last)
        });
        let usual = usual.max(self.usual);
        let needed = || {
            let work_s = BESIDE * left(self.hurry)?.as_secs_f64();
            let even_s = (work_s - self.room_ns() * 1e-9) / self.budget;
            let needed = Duration::try_from_secs_f64((work_s / self.share()).max(even_s)).ok()?;
            Some(needed - self.paused.min(needed / 2))
        };
        if self.hurry {
            let first = first.min(usual);
            return needed().map_or(first, |needed| needed.clamp(first, usual));
        }
        let needed = needed();
        let saving = self.owed_ns > self.usual.as_nanos() as f64 * self.budget;
        if saving && needed.is_none() {
            // All was visited, and there is little to spend on looking again soon.
            return usual;
        }
        let doublings = self.epoch.saturating_sub(1);
        let longer = first.saturating_mul(1_u32.checked_shl(doublings).unwrap_or(u32::MAX));
        // Nor does deciding take more than the budget meanwhile.
        let longer = longer.max(deciding);
        if longer >= usual {
            return usual;
        }
        needed.map_or(longer, |needed| needed.clamp(first, longer))
    }

    /// The share of one core that may be used in it.
    fn share(&self) -> f64 {
        if self.ahead { (AHEAD * self.budget).min(MOST.max(self.budget)) } else { self.budget }
    }

    /// CPU time that watching is worth in so long an epoch, ns.
    pub(super) fn worth_ns(&self, length: Duration) -> f64 {
        let all = self.ahead || self.worth >= 1.0;
        if all { f64::INFINITY } else { self.worth * self.budget * length.as_nanos() as f64 }
    }

    /// CPU time that may be spent ahead, ns.
    fn room_ns(&self) -> f64 {
        let most_ns = OWED_S * 1e9 * self.budget;
        if self.ahead { (most_ns - self.owed_ns).max(0.0) } else { 0.0 }
    }

    /// CPU time that may be used in so long an epoch, ns: what was not used before it counts, but no
    /// more than that of the epoch. A part is saved of what was spent ahead.
    pub(super) fn budget_ns(&self, length: Duration) -> f64 {
        self.even_ns(length) + self.ahead_ns(length) - self.saved_ns(length)
    }

    /// What of that is spent ahead.
    pub(super) fn ahead_ns(&self, length: Duration) -> f64 {
        (self.even_ns(length) * (self.share() / self.budget - 1.0)).min(self.room_ns())
    }

    fn saved_ns(&self, length: Duration) -> f64 {
        if self.ahead { 0.0 } else { self.owed_ns.min(SAVED * self.even_ns(length)) }
    }

    /// What is to be saved after an epoch that was so long and took so much CPU time, deciding included, ns.
    pub(super) fn owes_ns(&self, length: Duration, took_ns: f64) -> f64 {
        if self.ahead {
            (self.owed_ns + took_ns - self.even_ns(length)).max(0.0)
        } else {
            self.owed_ns - self.saved_ns(length)
        }
    }

    /// The same if it is to be as in every epoch.
    pub(super) fn even_ns(&self, length: Duration) -> f64 {
        (length + self.paused.min(length)).as_nanos() as f64 * self.budget
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn pace(epoch: u32) -> Pace {
        let (usual, opening, paused) = (5 * SECOND, Some(SECOND), Duration::ZERO);
        let (deciding, last) = (Duration::ZERO, usual);
        let (hurry, ahead, owed_ns) = (false, false, 0.0);
        Pace {
            epoch,
            usual,
            opening,
            hurry,
            paused,
            deciding,
            last,
            ahead,
            owed_ns,
            budget: 0.5,
            worth: 1.0,
        }
    }

    #[test]
    fn two_short_epochs_then_each_twice_as_long() {
        let lengths: Vec<u64> =
            (0..6).map(|epoch| pace(epoch).length(|_| None).as_secs()).collect();
        assert_eq!(lengths, [1, 1, 2, 4, 5, 5]);
        assert_eq!(pace(u32::MAX).length(|_| None), 5 * SECOND);
        let usual = SECOND / 10;
        assert_eq!(
            Pace { usual, ..pace(0) }.length(|_| Some(SECOND)),
            usual,
            "never longer than usual"
        );
        assert_eq!(Pace { opening: None, ..pace(0) }.length(|_| Some(SECOND)), 5 * SECOND);
    }

    #[test]
    fn who_cannot_wait_gets_an_epoch_as_short_as_the_first() {
        let hurry = |pace| Pace { hurry: true, ..pace };
        let new = |outdated_only: bool| (!outdated_only).then_some(9 * SECOND);
        assert_eq!(hurry(pace(40)).length(new), SECOND, "whatever nobody has visited yet");
        assert_eq!(hurry(Pace { usual: SECOND / 2, ..pace(40) }).length(|_| None), SECOND / 2);
        assert_eq!(hurry(Pace { opening: None, ..pace(40) }).length(|_| None), 5 * SECOND);
    }

    #[test]
    fn where_the_target_has_changed_an_epoch_is_as_long_as_looking_at_all_of_it_takes() {
        let changed = Pace { hurry: true, ..pace(40) };
        let length = |ms| changed.length(|_| Some(Duration::from_millis(ms))).as_secs_f64();
        assert!((length(1_000) - 3.0).abs() < 1e-9, "half a core");
        assert!((length(100) - 1.0).abs() < 1e-9, "no shorter than the first");
        assert!((length(60_000) - 5.0).abs() < 1e-9, "no longer than usual");
    }

    #[test]
    fn what_nobody_has_visited_shortens_an_epoch_to_what_that_takes() {
        let length =
            |epoch, ms| pace(epoch).length(|_| Some(Duration::from_millis(ms))).as_secs_f64();
        assert!((length(3, 1_000) - 3.0).abs() < 1e-9, "half a core");
        assert!((length(3, 100) - 1.0).abs() < 1e-9, "no shorter than the first");
        assert!((length(3, 60_000) - 4.0).abs() < 1e-9, "no longer than without");
        assert!((length(4, 100) - 5.0).abs() < 1e-9, "and only at first");
        let after_a_pause =
            |paused| Pace { paused, ..pace(3) }.length(|_| Some(SECOND)).as_secs_f64();
        assert!((after_a_pause(SECOND) - 2.0).abs() < 1e-9);
        assert!((after_a_pause(60 * SECOND) - 1.5).abs() < 1e-9, "half of it at most");
    }

    #[test]
    fn epochs_are_so_long_that_deciding_takes_a_third_of_the_budget_at_most() {
        let lengths = |deciding, opening| {
            let length = |last: &mut Duration, epoch| {
                let pace = Pace { deciding, opening, last: *last, ..pace(epoch) };
                *last = pace.length(|_| None);
                Some(last.as_millis())
            };
            (1..7).scan(SECOND, length).collect::<Vec<_>>()
        };
        assert_eq!(lengths(SECOND / 2, Some(SECOND)), [1000, 2000, 4000, 5000, 5000, 5000]);
        let long = lengths(2 * SECOND, Some(SECOND));
        assert_eq!(long, [2000, 4000, 4000, 8000, 12_000, 12_000], "at most twice the last one");
        assert_eq!(lengths(2 * SECOND, None), [5000; 6], "of who decides nothing");
    }

    #[test]
    fn the_budget_grows_with_the_cores_that_the_target_keeps_busy_to_half_a_core() {
        assert_eq!(of_cores(0.03, 0.1), 0.03, "who sleeps is seen all the same");
        assert_eq!(of_cores(0.03, 1.0), 0.03);
        assert_eq!(of_cores(0.03, 8.0), 0.24);
        assert_eq!(of_cores(0.03, 64.0), 0.5);
        assert_eq!(of_cores(0.8, 64.0), 0.8, "who asks for more gets it");
    }

    #[test]
    fn the_budget_of_a_pause_may_be_used_after_it_up_to_as_much_again() {
        let budget = |paused| Pace { paused, ..pace(2) }.budget_ns(2 * SECOND);
        assert_eq!(budget(Duration::ZERO), 1e9);
        assert_eq!(budget(SECOND), 1.5e9);
        assert_eq!(budget(10 * SECOND), 2e9);
    }

    #[test]
    fn watching_takes_what_it_is_worth() {
        let worth = |worth| Pace { budget: 0.03, worth, ..pace(9) };
        assert_eq!(worth(1.0).worth_ns(SECOND), f64::INFINITY);
        assert!((worth(0.1).worth_ns(2 * SECOND) - 0.006e9).abs() < 1.0);
        assert_eq!(Pace { ahead: true, ..worth(0.1) }.worth_ns(SECOND), f64::INFINITY);
    }

    #[test]
    fn where_all_has_to_be_visited_ten_times_as_much_is_spent_and_saved_later() {
        let small = |epoch| Pace { budget: 0.03, ..pace(epoch) };
        let ahead = Pace { ahead: true, ..small(0) };
        assert_eq!(ahead.budget_ns(SECOND), 0.3e9);
        assert!((ahead.ahead_ns(SECOND) - 0.27e9).abs() < 1.0);
        assert_eq!(small(0).ahead_ns(SECOND), 0.0);
        let large = Pace { ahead: true, ..pace(0) };
        assert_eq!(large.budget_ns(SECOND), 0.5e9, "half a core");
        let mut owed_ns = ahead.owes_ns(SECOND, 0.13e9);
        let mut saves = || {
            let saving = Pace { owed_ns, ..small(4) };
            owed_ns = saving.owes_ns(4 * SECOND, saving.budget_ns(4 * SECOND));
            saving.budget_ns(4 * SECOND)
        };
        let saved: Vec<f64> = (0..4).map(|_| 0.12 - saves() * 1e-9).collect();
        let expected = [0.03, 0.03, 0.03, 0.01];
        assert!(saved.iter().zip(expected).all(|(is, of)| (is - of).abs() < 1e-9), "{saved:?}");
        let saving = Pace { owed_ns: 0.2e9, ..small(1) };
        assert_eq!(saving.length(|_| None), 5 * SECOND, "there is nothing to see sooner");
        assert_eq!(saving.length(|_| Some(SECOND)), SECOND, "but for what nobody has visited");
        let changed = Pace { hurry: true, ..ahead };
        assert_eq!(changed.length(|_| Some(SECOND)), 5 * SECOND);
        assert_eq!(changed.length(|_| Some(SECOND / 2)).as_millis(), 2500, "as long as it takes");
    }

    #[test]
    fn no_more_is_spent_ahead_while_the_budget_of_half_a_minute_is_owed() {
        let owing = |owed_s: f64| Pace {
            budget: 0.03,
            ahead: true,
            hurry: true,
            owed_ns: owed_s * 0.03e9,
            ..pace(9)
        };
        let near = |is: f64, of: f64| assert!((is - of).abs() < 1e-6, "{is} for {of}");
        near(owing(21.0).ahead_ns(SECOND) * 1e-9, 0.27);
        near(owing(28.0).ahead_ns(SECOND) * 1e-9, 0.06);
        near(owing(28.0).budget_ns(SECOND) * 1e-9, 0.09);
        near(owing(31.0).budget_ns(SECOND) * 1e-9, 0.03);
        near(owing(28.0).owes_ns(SECOND, 0.09e9) * 1e-9, 30.0 * 0.03);
        near(owing(28.0).owes_ns(SECOND / 2, 0.09e9) * 1e-9, 30.5 * 0.03);
        let saving = Pace { ahead: false, ..owing(28.0) };
        near(saving.owes_ns(2 * SECOND, 0.0) * 1e-9, 27.5 * 0.03);
        // 0.3 s of CPU time, of which 0.15 are spent ahead.
        let length = |owed_s| owing(owed_s).length(|_| Some(SECOND / 5)).as_secs_f64();
        near(length(10.0), 1.0);
        near(length(27.0), 5.0);
        near(length(24.0), 4.0);
    }
}
