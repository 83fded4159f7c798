//! What a process has run, and runs: the clock by which gaps are counted.

/// What a process has run, and runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Activity {
    /// CPU time of all threads, ns; exact to the last switch or timer tick of each.
    pub exec_ns: u64,
    /// How often threads were switched off a CPU; of many threads a number that is the same while the same
    /// CPUs run them without a switch.
    pub switches: u64,
    /// Threads on a CPU now.
    pub running: u32,
}

impl Activity {
    /// Threads that ran on average since `before`, `wall_ns` ago. None if (nearly) none: what was
    /// looked at in between says nothing.
    #[must_use]
    pub fn since(&self, before: &Self, wall_ns: u64) -> Option<f64> {
        const LEAST_NS: u64 = 1_000;
        if self.switches == before.switches && before.running > 0 {
            // Nobody came or went: who runs now has run all the time.
            return (wall_ns > 0).then(|| f64::from(before.running));
        }
        let exec = self.exec_ns.saturating_sub(before.exec_ns);
        let most = f64::from(self.running.max(before.running).max(1));
        (exec >= LEAST_NS && wall_ns > 0).then(|| (exec as f64 / wall_ns as f64).min(most))
    }
}
