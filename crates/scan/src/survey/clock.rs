//! A process's CPU time during a wave: a program accesses memory while it runs, so gaps are
//! counted in CPU time, and a program that waits does not look colder than it is. Threads that
//! run at the same time add up.

use crate::target::activity::Activity;

/// See the module. Times must be given in order.
#[derive(Clone, Debug)]
pub(crate) struct Clock {
    last_ns: u64,
    last: Activity,
    /// (time, CPU time since the first), ns.
    points: Vec<(u64, f64)>,
}

impl Clock {
    /// Begins at `ns`, when the process did this.
    pub(crate) fn new(ns: u64, activity: Activity) -> Self {
        Self { last_ns: ns, last: activity, points: vec![(ns, 0.0)] }
    }

    /// What the process had done by `ns`.
    pub(crate) fn tick(&mut self, ns: u64, activity: Activity) {
        let elapsed = ns.saturating_sub(self.last_ns);
        if elapsed == 0 {
            return;
        }
        let ran = activity.since(&self.last, elapsed).unwrap_or(0.0);
        let before = self.points.last().map_or(0.0, |point| point.1);
        self.points.push((ns, before + ran * elapsed as f64));
        (self.last_ns, self.last) = (ns, activity);
    }

    /// CPU time between two times, ns; after the last tick as between the last two.
    pub(crate) fn between(&self, from_ns: u64, to_ns: u64) -> f64 {
        (self.at(to_ns) - self.at(from_ns)).max(0.0)
    }

    fn at(&self, ns: u64) -> f64 {
        let next = self.points.partition_point(|point| point.0 < ns);
        let line = match next {
            0 => return 0.0,
            n if n < self.points.len() => &self.points[n - 1..=n],
            n if n >= 2 => &self.points[n - 2..n],
            _ => return 0.0,
        };
        let ((x0, y0), (x1, y1)) = (line[0], line[1]);
        y0 + (y1 - y0) * (ns as f64 - x0 as f64) / (x1 as f64 - x0 as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_passes_while_it_runs() {
        let running = Activity { exec_ns: 0, switches: 4, running: 1 };
        let mut clock = Clock::new(1_000, running);
        clock.tick(2_000, running);
        assert_eq!(clock.between(1_200, 1_700), 500.0);
        assert_eq!(clock.between(1_500, 2_500), 1_000.0, "and goes on");
        // It went off the CPU after another 100 us, and stays away.
        let waits = Activity { exec_ns: 100_000, switches: 5, running: 0 };
        clock.tick(402_000, waits);
        assert_eq!(clock.between(2_000, 402_000), 100_000.0);
        clock.tick(500_000, waits);
        assert_eq!(clock.between(402_000, 500_000), 0.0);
    }

    #[test]
    fn threads_add_up() {
        let four = Activity { exec_ns: 0, switches: 4, running: 4 };
        let mut clock = Clock::new(0, four);
        clock.tick(100, four);
        assert_eq!(clock.between(0, 100), 400.0);
    }
}
