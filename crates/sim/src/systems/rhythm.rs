//! When what decides in intervals decides.

use super::setup::Period;

/// As `pagetide run` does it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Live {
    /// Threads that move pages, each by calls of its own, together for as long as an interval at most. What is
    /// left then is dropped, and the next interval begins.
    pub(super) movers: u32,
    /// The first two intervals are so long, s, each next one twice as long, up to the usual length.
    pub(super) opening_s: f64,
}

/// When to decide.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rhythm {
    pub(super) period: Period,
    pub(super) live: Option<Live>,
}

impl Rhythm {
    /// The length of an interval, in simulated time, ns.
    pub(super) fn length_ns(&self, epoch: u32) -> f64 {
        let Period { interval_s, scale } = self.period;
        let longer = 2_f64.powi(epoch.saturating_sub(1).min(60).cast_signed());
        let opening_s = self.live.map(|live| live.opening_s / scale * longer);
        opening_s.map_or(interval_s, |opening| opening.min(interval_s)) * 1e9
    }

    /// When an interval ends that begins now, ns, after one that was due at `due_ns`: by the clock, but after moves that
    /// took long it has its whole length. One that is much shorter would show what was accessed as not accessed.
    pub(super) fn next_ns(&self, due_ns: f64, now_ns: f64, epoch: u32) -> f64 {
        let length_ns = self.length_ns(epoch);
        let next_ns = due_ns + length_ns;
        if next_ns - now_ns < length_ns / 2.0 { now_ns + length_ns } else { next_ns }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn after_moves_that_took_long_an_interval_has_its_length_and_else_goes_by_the_clock() {
        let rhythm = Rhythm { period: Period { interval_s: 5.0, scale: 1.0 }, live: None };
        let next_s = |due: f64, now: f64| (rhythm.next_ns(due * 1e9, now * 1e9, 3) / 1e9).round();
        assert_eq!(next_s(10.0, 10.0), 15.0);
        assert_eq!(next_s(10.0, 12.5), 15.0, "half an interval is left");
        assert_eq!(next_s(10.0, 13.0), 18.0, "less");
        assert_eq!(next_s(10.0, 31.0), 36.0, "nothing");
    }
}
