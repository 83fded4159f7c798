//! How often NUMA balancing scans: a period that grows while faults say that memory is where it should
//! be, and shrinks while they do not (`task_scan_min`, `task_scan_max` and `update_task_scan_period` of
//! Linux's kernel/sched/fair.c). It is adapted once for every walk of the address space.
//!
//! Simpler than Linux: a process is one task in no group, and time is the clock's, not the time that the
//! process ran.

/// A second, ns.
const SECOND: f64 = 1e9;
/// Faults are judged in tenths.
const SLOTS: u64 = 10;
/// From so many tenths of local, or of private, faults on the period grows.
const THRESHOLD: u64 = 7;
/// So many bytes a second are scanned at most.
const MOST_PER_S: f64 = 2560.0 * 1_048_576.0;

/// Hint faults in one walk of the address space.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HintFaultCounts {
    /// On pages of the node of the thread that faulted, and of others.
    pub local: u64,
    /// See [`Self::local`].
    pub remote: u64,
    /// On pages on which the same thread faulted last, and on others.
    pub private: u64,
    /// See [`Self::private`].
    pub shared: u64,
    /// Pages that could not be moved.
    pub failed: u64,
}

/// See the module.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScanPeriod {
    /// Between two scans, ns.
    period_ns: f64,
    /// A walk of all resident memory takes no less and no more, ns.
    least_ns: f64,
    most_ns: f64,
}

impl Default for ScanPeriod {
    /// Linux's: 1 s and 60 s.
    fn default() -> Self {
        Self::between(SECOND, 60.0 * SECOND)
    }
}

impl ScanPeriod {
    /// All resident memory is scanned in no less and no more than so long
    /// (`numa_balancing_scan_period_min_ms`, `_max_ms`), ns.
    #[must_use]
    pub fn between(least_ns: f64, most_ns: f64) -> Self {
        Self { period_ns: 0.0, least_ns, most_ns: most_ns.max(least_ns) }
    }

    /// The time between two scans, of which each covers `scan` of `resident` bytes; at the shortest
    /// as it starts, ns.
    pub fn next_ns(&mut self, resident: u64, scan: u64) -> f64 {
        let (least, most) = self.bounds(resident, scan);
        self.period_ns = self.period_ns.clamp(least, most);
        self.period_ns
    }

    /// Adapts it after a walk of the address space.
    pub fn adapt(&mut self, faults: HintFaultCounts, resident: u64, scan: u64) {
        let (least, most) = self.bounds(resident, scan);
        let HintFaultCounts { local, remote, private, shared, failed } = faults;
        // Nothing to learn, or more moves than there is room for.
        let adapted = if local + shared == 0 || failed > 0 {
            self.period_ns * 2.0
        } else {
            let slot_ns = self.period_ns / SLOTS as f64;
            let ratio = |part: u64, rest: u64| part * SLOTS / (part + rest).max(1);
            let (here, own) = (ratio(local, remote), ratio(private, shared));
            match if own >= THRESHOLD { own } else { here } {
                settled if settled >= THRESHOLD => {
                    self.period_ns + slot_ns * (settled - THRESHOLD).max(1) as f64
                }
                _ => self.period_ns - slot_ns * (THRESHOLD - here.max(own)) as f64,
            }
        };
        self.period_ns = adapted.clamp(least, most);
    }

    /// The shortest and the longest time between two scans, ns.
    fn bounds(&self, resident: u64, scan: u64) -> (f64, f64) {
        let windows = resident.div_ceil(scan).max(1) as f64;
        let floor = scan as f64 / MOST_PER_S * SECOND;
        // Of a machine that is scaled down, times and sizes alike, the floor is as far away.
        let least = (self.least_ns / windows).max(floor);
        (least, (self.most_ns / windows).max(least))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    fn counts(local: u64, remote: u64, private: u64, shared: u64) -> HintFaultCounts {
        HintFaultCounts { local, remote, private, shared, failed: 0 }
    }

    #[test]
    fn all_memory_is_scanned_in_a_second_at_the_shortest_and_in_a_minute_at_the_longest() {
        let mut period = ScanPeriod::default();
        for (gib, windows) in [(0, 1.0), (1, 4.0), (2, 8.0)] {
            assert_eq!(period.next_ns(gib << 30, 256 * MIB), SECOND / windows);
            period = ScanPeriod::default();
        }
        // 256 MiB in a tenth of a second is the most, however large the program is.
        assert_eq!(period.next_ns(64 << 30, 256 * MIB), SECOND / 10.0);
        for _ in 0..20 {
            period.adapt(HintFaultCounts::default(), 64 << 30, 256 * MIB);
        }
        assert_eq!(period.next_ns(64 << 30, 256 * MIB), 60.0 * SECOND / 256.0);
    }

    #[test]
    fn the_period_grows_by_tenths_from_seven_tenths_on_and_shrinks_below() {
        for (faults, right) in [
            (counts(7, 3, 0, 10), 1.1),
            (counts(8, 2, 0, 10), 1.1),
            (counts(9, 1, 0, 10), 1.2),
            (counts(10, 0, 0, 10), 1.3),
            (counts(1, 9, 10, 0), 1.3),
            (counts(69, 31, 0, 100), 0.9),
            (counts(5, 5, 4, 6), 0.8),
            (counts(0, 10, 0, 10), 0.3),
            (counts(0, 10, 10, 0), 2.0),
            (HintFaultCounts { failed: 1, ..counts(10, 0, 10, 0) }, 2.0),
        ] {
            let mut period = ScanPeriod { period_ns: 10.0 * SECOND, ..ScanPeriod::default() };
            period.adapt(faults, 256 * MIB, 256 * MIB);
            let found = period.period_ns / SECOND / 10.0;
            assert!((found - right).abs() < 1e-9, "{faults:?}: {found} for {right}");
        }
    }
}
