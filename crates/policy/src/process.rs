//! A process of a tenant: its counters, what its recent moves bring, and its governor.

use crate::recent_moves::{Lasting, Older, RecentMoves};
use crate::{Balance, Counters, Governor, Verdict, observed};
use pagetide_types::{Bytes, EpochHeat, UnitId};

/// See the module.
pub(crate) struct Process {
    pub(crate) governor: Box<dyn Governor>,
    pub(crate) verdict: Verdict,
    /// It does what it does since then: it is seen since, or was let go on for it did something else.
    since_s: f64,
    pub(crate) counters: Counters,
    pub(crate) recent: RecentMoves,
    /// The moves before those; none since it has been the same.
    pub(crate) older: Option<Older>,
    /// By how much it waits less for what moved then, seconds a second.
    pub(crate) older_gained: f64,
    lasting: Lasting,
    /// CPU seconds that it used until the last epoch's end, if somebody says so.
    ran_s: Option<f64>,
}

impl Process {
    pub(crate) fn new(governor: Box<dyn Governor>, priced: bool, now_s: f64) -> Self {
        let recent = RecentMoves::new(governor.recent_s());
        let balance = priced.then(Balance::default);
        let counters = Counters { balance, ..Counters::default() };
        let verdict = Verdict::default();
        Self {
            governor,
            verdict,
            since_s: now_s,
            counters,
            recent,
            older: None,
            older_gained: 0.0,
            lasting: Lasting::default(),
            ran_s: None,
        }
    }

    /// What counts for one epoch begins anew.
    pub(crate) fn begin(&mut self, now_s: f64, length_s: f64, changed_s: f64) {
        let Counters { promoted, demoted, promoted_then_demoted, moved_back, .. } = self.counters;
        let Counters { watching_s, balance, .. } = self.counters;
        self.counters = Counters {
            now_s,
            length_s,
            changed_s,
            promoted,
            demoted,
            promoted_then_demoted,
            moved_back,
            watching_s,
            watch: self.verdict.watch(),
            balance: balance.map(|balance| Balance { gained: 0.0, ..balance }),
            ..Counters::default()
        };
    }

    /// Its governor says something else from now on.
    pub(crate) fn turns(&mut self, verdict: Verdict, now_s: f64) {
        self.verdict = verdict;
        if verdict == Verdict::Migrate {
            self.since_s = if self.governor.does_the_same() { self.since_s } else { now_s };
            // What was spent on moves before is in no book of now.
            self.recent.forget();
        }
    }

    /// For how long it has been the same, seconds: since it is seen, was let go on, or was seen to change.
    pub(crate) fn same_s(&self) -> f64 {
        self.counters.now_s - self.since_s.max(self.counters.changed_s)
    }

    /// Takes in whether what moves bring lasts.
    pub(crate) fn fade(&mut self) {
        let older_gained = std::mem::take(&mut self.older_gained);
        let Some(balance) = &mut self.counters.balance else { return };
        if let Some(older) = &self.older {
            let weight = self.recent.weight(self.counters.length_s);
            self.lasting.look(older, (balance.gained, older_gained), weight);
            balance.fading = self.lasting.fading().unwrap_or(balance.fading);
        } else {
            self.lasting = Lasting::default();
            balance.fading = 0.0;
        }
    }

    /// The moves until the end of the epoch become older; of units that are gone nothing is kept.
    pub(crate) fn end_epoch(&mut self, lives: impl Fn(UnitId) -> bool) {
        let moved = (self.counters.promoted + self.counters.demoted).as_f64();
        self.recent.end_epoch(self.counters.now_s, moved, lives);
        self.older = self.recent.older(self.counters.now_s - self.same_s());
    }

    /// By the end of the epoch it had used so many CPU seconds.
    pub(crate) fn ran(&mut self, cpu_s: Option<f64>) {
        let before = std::mem::replace(&mut self.ran_s, cpu_s);
        let used_s = cpu_s.zip(before).map(|(now, before)| (now - before).max(0.0));
        self.counters.cores = used_s.map(|used_s| used_s / self.counters.length_s);
    }

    /// One of its units.
    pub(crate) fn count(&mut self, heat: &EpochHeat, row: usize, fast: bool) {
        self.counters.resident += heat.bytes(row);
        self.observe(heat, row, fast);
    }

    /// What was seen of one of its units.
    pub(crate) fn observe(&mut self, heat: &EpochHeat, row: usize, fast: bool) {
        let counters = &mut self.counters;
        if observed(heat.flags[row]) {
            let pages = |pages: u16| Bytes(u64::from(pages) << 12);
            let (watched, accessed) = (pages(heat.watched[row]), pages(heat.touched[row]));
            counters.watched += watched;
            counters.accessed += accessed;
            if fast {
                counters.watched_fast += watched;
                counters.accessed_fast += accessed;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::GovernorSpec;

    /// Stops now, and goes on in the next judgement for the same or for something else.
    struct Turns(bool);

    impl Governor for Turns {
        fn judge(&mut self, _: &Counters) -> Verdict {
            Verdict::Migrate
        }
        fn does_the_same(&self) -> bool {
            self.0
        }
    }

    #[test]
    fn who_goes_on_with_what_it_did_has_been_the_same_since_before_the_stop() {
        let same_s = |same: bool| {
            let mut process = Process::new(Box::new(Turns(same)), true, 0.0);
            process.turns(Verdict::StandStill, 100.0);
            process.turns(Verdict::Migrate, 150.0);
            process.begin(160.0, 10.0, 0.0);
            process.same_s()
        };
        assert_eq!([true, false].map(same_s), [160.0, 10.0]);
    }

    #[test]
    fn what_faded_before_a_change_says_nothing_of_what_moves_after_it() {
        let governor = "gain".parse::<GovernorSpec>().unwrap().build();
        let mut process = Process::new(governor, true, 0.0);
        // A page goes up each second, and brings something for a minute.
        let mut fading = |until_s: u32, from_s: u32, changed_s: f64| {
            for second in from_s..=until_s {
                process.begin(f64::from(second), 1.0, changed_s);
                process.end_epoch(|_| true);
                process.counters.balance.as_mut().unwrap().gained = 1.0;
                process.fade();
                process.counters.promoted += Bytes(4096);
            }
            process.counters.balance.unwrap().fading
        };
        assert_eq!(fading(60, 1, 0.0), 0.0, "nothing is older");
        assert_eq!(fading(300, 61, 0.0), 1.0);
        assert_eq!(fading(301, 301, 300.0), 0.0, "it has just changed");
        assert_eq!(fading(400, 302, 300.0), 1.0);
    }
}
