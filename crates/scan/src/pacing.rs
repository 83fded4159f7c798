//! How fast an epoch's budget may be used up: the first bursts' part at once, the rest evenly.

/// Once the budget is used up, further bursts wait until one of so many parts of it is free, or
/// what the next ones cost.
const QUANTA: u64 = 100;
/// Share of the rest that is given out evenly; what is left pays for the looks at the end.
const EVENLY: f64 = 0.9;

/// What an epoch may use.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// When it ends, on the clock of the eyes.
    pub(crate) end_ns: u64,
    /// CPU time for the first bursts of all batches.
    pub(crate) first_ns: u64,
    /// CPU time in all.
    pub(crate) total_ns: u64,
    /// What must be free for further bursts at least, for waking up costs as well.
    pub(crate) burst_ns: u64,
    /// Batches whose first bursts have their turn together, at least 1.
    pub(crate) together: usize,
}

#[cfg(test)]
impl Limits {
    /// Where calls cost next to nothing.
    pub(crate) fn simple(end_ns: u64, first_ns: u64, total_ns: u64) -> Self {
        Self { end_ns, first_ns, total_ns, burst_ns: 0, together: 1 }
    }
}

/// The budget of an epoch that began at `start_ns`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pacing {
    pub(crate) limits: Limits,
    start_ns: u64,
}

impl Pacing {
    pub(crate) fn new(limits: Limits, start_ns: u64) -> Self {
        Self { limits, start_ns }
    }

    /// Wall time of the epoch, ns; at least 1.
    fn length(&self) -> u64 {
        self.limits.end_ns.saturating_sub(self.start_ns).max(1)
    }

    fn rest(&self) -> f64 {
        self.limits.total_ns.saturating_sub(self.limits.first_ns) as f64 * EVENLY
    }

    /// When the next of `all` first bursts has its turn, `left` of them being left to do: some at
    /// a time, spread over one part in `spread` of the epoch.
    pub(crate) fn turn(&self, left: usize, all: usize, spread: u64) -> u64 {
        let done = all.saturating_sub(left);
        let (done, all) = ((done - done % self.limits.together) as u64, all.max(1) as u64);
        self.start_ns + self.length() / spread * done / all
    }

    /// CPU time that may have been used by `now`.
    pub(crate) fn allowed(&self, now: u64) -> u64 {
        let elapsed = now.saturating_sub(self.start_ns) as f64 / self.length() as f64;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "positive")]
        let evenly = (self.rest() * elapsed) as u64;
        // What the first bursts left over may be used as well.
        self.limits.first_ns.min(self.limits.total_ns) / 2 + evenly
    }

    /// When further bursts can be afforded, `spent` being used up by `now`; some at a time, for
    /// waking up costs as well.
    pub(crate) fn affordable_at(&self, now: u64, spent: u64) -> u64 {
        let allowed = self.allowed(now);
        if spent < allowed {
            return now;
        }
        let spent = spent + (self.limits.total_ns / QUANTA).max(self.limits.burst_ns);
        let per_ns = self.rest() / self.length() as f64;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "positive")]
        let wait = ((spent - allowed) as f64 / per_ns.max(1e-9)).min(1e18) as u64;
        now.saturating_add(wait + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn pacing() -> Pacing {
        let limits = Limits::simple(5_100 * MS, 20 * MS, 50 * MS);
        Pacing::new(limits, 100 * MS)
    }

    #[test]
    fn the_rest_is_given_out_evenly() {
        let pacing = pacing();
        assert_eq!(pacing.allowed(100 * MS), 10 * MS, "half of what the first bursts may use");
        assert_eq!(pacing.allowed(2_600 * MS), 10 * MS + 13_500_000);
        assert_eq!(pacing.allowed(5_100 * MS), 37 * MS, "the last looks need some, too");
    }

    #[test]
    fn who_overspent_waits_until_it_is_paid_for() {
        let pacing = pacing();
        assert_eq!(pacing.affordable_at(2_600 * MS, 20 * MS), 2_600 * MS);
        let later = pacing.affordable_at(2_600 * MS, 30 * MS);
        assert!(later > 3_600 * MS && pacing.allowed(later) > 30 * MS, "{later}");
        let dear = Pacing { limits: Limits { burst_ns: 5 * MS, ..pacing.limits }, ..pacing };
        let later = dear.affordable_at(2_600 * MS, 30 * MS);
        assert!(dear.allowed(later) > 34 * MS, "until a dear burst is free: {later}");
    }

    #[test]
    fn first_bursts_are_spread() {
        let pacing = pacing();
        assert_eq!(pacing.turn(10, 10, 2), 100 * MS);
        assert_eq!(pacing.turn(5, 10, 2), 1_350 * MS);
        assert_eq!(pacing.turn(0, 10, 2), 2_600 * MS);
        let four = Pacing { limits: Limits { together: 4, ..pacing.limits }, ..pacing };
        assert_eq!(
            [10, 7, 6, 3].map(|left| four.turn(left, 10, 2)),
            [100, 100, 1_100, 1_100].map(|ms| ms * MS)
        );
    }
}
