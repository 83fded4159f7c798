//! A limit on accesses per second: small batches at even distances, so that pauses stay short
//! and no unit rests longer than its rate says.

use std::time::{Duration, Instant};

/// Accesses between two looks at the clock when nothing limits the rate: under a millisecond
/// even if every access misses every cache and translation buffer.
const FREE_BATCH: u32 = 4096;
/// The distance between batches that is aimed at; sleeping is not finer than some 60 us.
const DISTANCE: Duration = Duration::from_micros(200);
/// A debt larger than this (a machine that was busy) is forgotten rather than paid in one burst.
const DEBT: Duration = Duration::from_millis(100);

/// What to do now.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Due {
    /// Make this many accesses.
    Now(u32),
    /// Wait this long.
    Later(Duration),
}

/// The clock of one thread.
#[derive(Debug)]
pub(crate) struct Pacer {
    batch: u32,
    distance: Duration,
    next: Instant,
}

impl Pacer {
    /// At most `rate` accesses per second from `start` on, or as many as possible.
    pub(crate) fn new(rate: Option<f64>, start: Instant) -> Self {
        let (batch, distance) = match rate {
            None => (FREE_BATCH, Duration::ZERO),
            Some(rate) => {
                let batch = (rate * DISTANCE.as_secs_f64()).clamp(1.0, f64::from(FREE_BATCH));
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "clamped to 1..=4096"
                )]
                let batch = batch as u32;
                let seconds = (f64::from(batch) / rate).min(3.2e8);
                (batch, Duration::from_secs_f64(seconds))
            }
        };
        Self { batch, distance, next: start }
    }

    /// Whether a batch is due; counts it as made if so.
    pub(crate) fn due(&mut self, now: Instant) -> Due {
        if self.distance.is_zero() {
            return Due::Now(self.batch);
        }
        match self.next.checked_duration_since(now) {
            Some(wait) if !wait.is_zero() => Due::Later(wait),
            _ => {
                if now.duration_since(self.next) > DEBT {
                    self.next = now;
                }
                self.next += self.distance;
                Due::Now(self.batch)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs a pacer in simulated time, where every sleep lasts 60 us longer than asked.
    fn accesses_in(rate: f64, time: Duration) -> u64 {
        let start = Instant::now();
        let mut pacer = Pacer::new(Some(rate), start);
        let (mut now, mut made) = (start, 0);
        while now < start + time {
            match pacer.due(now) {
                Due::Now(n) => made += u64::from(n),
                Due::Later(wait) => now += wait + Duration::from_micros(60),
            }
        }
        made
    }

    #[test]
    fn keeps_the_rate_although_sleeps_are_late() {
        for rate in [100.0, 7_777.0, 1e5, 1e6, 1.5e7] {
            let made = accesses_in(rate, Duration::from_secs(10)) as f64;
            assert!((made / (rate * 10.0) - 1.0).abs() < 0.002, "{rate}: {made}");
        }
    }

    #[test]
    fn a_long_stop_is_not_paid_back_in_a_burst() {
        let start = Instant::now();
        let mut pacer = Pacer::new(Some(1e6), start);
        let later = start + Duration::from_secs(5);
        let mut burst = 0;
        while let Due::Now(n) = pacer.due(later) {
            burst += u64::from(n);
        }
        assert!(burst <= 100_000, "{burst}");
    }

    #[test]
    fn without_a_limit_there_is_no_wait() {
        let now = Instant::now();
        let mut pacer = Pacer::new(None, now);
        assert_eq!(pacer.due(now), Due::Now(FREE_BATCH));
        assert_eq!(pacer.due(now), Due::Now(FREE_BATCH));
    }
}
