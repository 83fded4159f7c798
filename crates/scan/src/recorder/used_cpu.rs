//! How much CPU time a target used in an epoch, though processes come and go.

use pagetide_types::Pid;
use std::collections::BTreeMap;
use std::time::Duration;

/// By process, what it and children that it waited for had used at the end of the last epoch.
#[derive(Debug, Default)]
pub(super) struct UsedCpu(BTreeMap<Pid, Duration>);

impl UsedCpu {
    /// A process is watched from now on; what it used before is of no epoch.
    pub(super) fn met(&mut self, process: Pid, used: Duration) {
        self.0.insert(process, used);
    }

    /// What they have used by now counts for nothing.
    pub(super) fn forget(&mut self, now: BTreeMap<Pid, Duration>) {
        self.0 = now;
    }

    /// What was used since the last time. What had been used by one who has ended since is its parent's, if that is one of these and
    /// waited for it, so that all together have no less than before; else it is nobody's.
    pub(super) fn since(&mut self, now: BTreeMap<Pid, Duration>) -> Duration {
        let sum = |of: &BTreeMap<Pid, Duration>| of.values().sum::<Duration>();
        let used = sum(&now).checked_sub(sum(&self.0)).unwrap_or_else(|| {
            let each = now
                .iter()
                .filter_map(|(process, used)| Some(used.saturating_sub(*self.0.get(process)?)));
            each.sum()
        });
        self.0 = now;
        used
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(seconds: &[(i32, u64)]) -> BTreeMap<Pid, Duration> {
        seconds.iter().map(|(pid, seconds)| (Pid(*pid), Duration::from_secs(*seconds))).collect()
    }

    #[test]
    fn what_ends_takes_nothing_from_the_others() {
        let mut used = UsedCpu::default();
        used.met(Pid(1), Duration::from_secs(100));
        used.met(Pid(2), Duration::from_secs(1000));
        let mut since = |now: &[(i32, u64)]| used.since(of(now)).as_secs();
        assert_eq!(since(&[(1, 105), (2, 1005)]), 10);
        assert_eq!(since(&[(1, 110)]), 5, "2 has ended, and nobody waited for it");
        assert_eq!(since(&[(1, 115), (3, 2)]), 7, "3 began since");
        assert_eq!(since(&[(1, 123)]), 6, "and ended: 1 has waited for it");
        used.forget(of(&[(1, 130)]));
        assert_eq!(used.since(of(&[(1, 131)])).as_secs(), 1);
    }
}
