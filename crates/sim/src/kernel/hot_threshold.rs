//! What Linux's tiering mode promotes: pages that fault soon after they were marked, and not too many
//! of them. How soon adapts to the rate of promotion that is allowed (`should_numa_migrate_memory`,
//! `numa_promotion_adjust_threshold` and `numa_promotion_rate_limit` of Linux's kernel/sched/fair.c).
//!
//! Simpler than Linux: times are in microseconds, not milliseconds.

/// `sysctl_numa_balancing_hot_threshold`, ns.
const HOT_THRESHOLD_NS: f64 = 1e9;
/// `numa_balancing_promote_rate_limit_MBps`.
pub const PROMOTE_RATE_LIMIT: f64 = 65_536.0;
/// A step is this part of twice the default threshold (`NUMA_MIGRATION_ADJUST_STEPS`).
const ADJUST_STEPS: f64 = 16.0;
/// `numa_balancing_scan_period_max_ms`, ns.
const ADJUST_EVERY_NS: f64 = 60e9;
const SECOND_NS: f64 = 1e9;

/// Since when something is counted, and from which count on.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Since {
    start_ns: f64,
    candidates: u64,
}

/// See the module. One for each node that pages are promoted to.
#[derive(Clone, Debug, PartialEq)]
pub struct HotThreshold {
    default_ns: f64,
    adjust_every_ns: f64,
    second_ns: f64,
    /// Base pages in a second.
    rate_limit: f64,
    /// `nbp_threshold`; none while it is the default.
    threshold_ns: Option<f64>,
    /// `PGPROMOTE_CANDIDATE`: base pages that were hot, promoted or not.
    candidates: u64,
    /// `nbp_th_start`, `nbp_th_nr_cand`.
    adjusted: Since,
    /// `nbp_rl_start`, `nbp_rl_nr_cand`.
    limited: Since,
}

impl HotThreshold {
    /// One that allows so many MiB a second, where all times and all memory are so many times smaller
    /// than those of the machine that is modelled.
    #[must_use]
    pub fn new(rate_limit_mb_s: f64, scale: f64) -> Self {
        Self {
            default_ns: HOT_THRESHOLD_NS / scale,
            adjust_every_ns: ADJUST_EVERY_NS / scale,
            second_ns: SECOND_NS / scale,
            rate_limit: rate_limit_mb_s * 256.0 / scale,
            threshold_ns: None,
            candidates: 0,
            adjusted: Since::default(),
            limited: Since::default(),
        }
    }

    /// Whether base pages that faulted so long after they were marked are promoted.
    pub fn promotes(&mut self, latency_ns: f64, pages: u64, now_ns: f64) -> bool {
        self.adjust(now_ns);
        latency_ns < self.threshold_ns() && !self.is_over_the_limit(pages, now_ns)
    }

    /// There is room enough without it: the default again.
    pub fn reset(&mut self) {
        self.threshold_ns = None;
    }

    /// What faults sooner than that after its marking is hot, ns.
    #[must_use]
    pub fn threshold_ns(&self) -> f64 {
        self.threshold_ns.unwrap_or(self.default_ns)
    }

    fn adjust(&mut self, now_ns: f64) {
        if now_ns - self.adjusted.start_ns <= self.adjust_every_ns {
            return;
        }
        let found = (self.candidates - self.adjusted.candidates) as f64;
        let allowed = self.rate_limit * self.adjust_every_ns / self.second_ns;
        let step = self.default_ns * 2.0 / ADJUST_STEPS;
        let threshold = self.threshold_ns();
        self.threshold_ns = Some(if found > allowed * 1.1 {
            (threshold - step).max(step)
        } else if found < allowed * 0.9 {
            (threshold + step).min(2.0 * self.default_ns)
        } else {
            threshold
        });
        self.adjusted = Since { start_ns: now_ns, candidates: self.candidates };
    }

    fn is_over_the_limit(&mut self, pages: u64, now_ns: f64) -> bool {
        self.candidates += pages;
        if now_ns - self.limited.start_ns > self.second_ns {
            self.limited = Since { start_ns: now_ns, candidates: self.candidates };
        }
        (self.candidates - self.limited.candidates) as f64 >= self.rate_limit
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pages that fault so long after their marking, so many a second for so long, evenly; how many
    /// are promoted.
    fn feed(hot: &mut HotThreshold, latency_s: f64, per_s: u32, seconds: (u32, u32)) -> u32 {
        let mut promoted = 0;
        for at in seconds.0 * per_s..seconds.1 * per_s {
            let now_ns = f64::from(at) / f64::from(per_s) * SECOND_NS;
            promoted += u32::from(hot.promotes(latency_s * SECOND_NS, 1, now_ns));
        }
        promoted
    }

    #[test]
    fn what_faults_within_a_second_of_its_marking_is_hot() {
        let mut hot = HotThreshold::new(PROMOTE_RATE_LIMIT, 1.0);
        assert!(hot.promotes(0.999e9, 1, 0.0) && !hot.promotes(1e9, 1, 0.0));
        let mut scaled = HotThreshold::new(PROMOTE_RATE_LIMIT, 100.0);
        assert!(scaled.promotes(0.999e7, 1, 0.0) && !scaled.promotes(1e7, 1, 0.0));
    }

    #[test]
    fn no_more_is_promoted_in_a_second_than_the_limit() {
        // 1 MiB a second is 256 pages, of which the one that begins a second is not counted.
        let mut hot = HotThreshold::new(1.0, 1.0);
        let promoted = feed(&mut hot, 0.01, 1000, (0, 20));
        assert!((20 * 255..=20 * 257).contains(&promoted), "{promoted}");
        // A tenth of the memory and of the time, or a page as large as ten: the same rate.
        let mut scaled = HotThreshold::new(1.0, 10.0);
        let promoted = feed(&mut scaled, 0.001, 1000, (0, 20));
        assert!((20 * 245..=20 * 260).contains(&promoted), "{promoted}");
        let mut large = HotThreshold::new(1.0, 1.0);
        let first = (0..100).filter(|_| large.promotes(0.0, 10, 0.0)).count();
        assert_eq!(first, 25, "250 of 256 pages");
    }

    #[test]
    fn every_minute_the_threshold_moves_by_an_eighth_towards_the_limit() {
        let mut hot = HotThreshold::new(1.0, 1.0);
        let mut minute = 0;
        let mut after = |hot: &mut HotThreshold, per_s| {
            feed(hot, 0.01, per_s, (60 * minute, 60 * minute + 61));
            minute += 1;
            hot.threshold_ns() / SECOND_NS
        };
        assert_eq!(after(&mut hot, 300), 0.875, "300 pages for 256");
        assert_eq!(after(&mut hot, 300), 0.75);
        assert_eq!(after(&mut hot, 256), 0.75, "within a tenth");
        assert_eq!(after(&mut hot, 200), 0.875);
        for _ in 0..20 {
            after(&mut hot, 1);
        }
        assert_eq!(hot.threshold_ns(), 2e9, "twice the default at most");
        for _ in 0..20 {
            after(&mut hot, 400);
        }
        assert_eq!(hot.threshold_ns(), 0.125e9, "a step at least");
        hot.reset();
        assert_eq!(hot.threshold_ns(), 1e9);
    }
}
