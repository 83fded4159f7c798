//! Whether memory is short, or more than needed: pure.
//!
//! After PMShifter (APSys 2022), section 4.2.1: every second MP = a x free + (1 - a) x MP before, over
//! each pair of DRAM and persistent memory; past a threshold memory grows until its free part is
//! five times as large; 5 s lie between changes of direction. Its text calls MP pressure although
//! it grows with free memory: here memory grows when the smoothed *free* memory falls below the
//! threshold. The smoothing factor and the threshold are unpublished: ours are options.
//! Stall information (PSI) is a second trigger, of ours: it also sees a shortage that free memory
//! does not show.

use pagetide_types::Bytes;
use serde::Serialize;
use std::time::Duration;

/// What the verdicts are made by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PressureOptions {
    /// Weight of the newest free memory, above 0 and at most 1.
    pub smoothing: f64,
    /// With less free than this memory grows.
    pub threshold: Bytes,
    /// How many times as much shall be free then; at least 1.
    pub growth: f64,
    /// Time between changes of direction.
    pub apart: Duration,
    /// Share of the time in which some task waited for memory from which on memory grows; none: free
    /// memory alone counts.
    pub stalled: Option<f64>,
}

/// What one check saw of a pair.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sample {
    /// When, on a clock that only goes forward.
    pub at: Duration,
    /// Free memory of the pair.
    pub free: Bytes,
    /// Time since boot in which some task waited for memory; none where the kernel does not say.
    pub stalled: Option<Duration>,
}

/// Why memory is to grow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Trigger {
    /// The smoothed free memory is below the threshold.
    Free,
    /// Tasks wait for memory.
    Stalls,
}

/// What a check says.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "verdict")]
pub enum Verdict {
    /// There is enough, and not too much.
    Hold,
    /// So much more memory is wanted.
    Grow {
        /// How much.
        by: Bytes,
        /// Why.
        why: Trigger,
    },
    /// So much memory can be given back.
    Shrink {
        /// At most.
        by: Bytes,
    },
    /// The opposite direction is wanted, and its time has not come.
    Wait,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Direction {
    Growing,
    Shrinking,
}

/// The pressure of one pair over time.
#[derive(Clone, Debug)]
pub struct Pressure {
    options: PressureOptions,
    smoothed: Option<f64>,
    before: Option<Sample>,
    last_shift: Option<(Direction, Duration)>,
}

impl Pressure {
    /// Nothing is known yet.
    #[must_use]
    pub fn new(options: PressureOptions) -> Self {
        Self { options, smoothed: None, before: None, last_shift: None }
    }

    /// The smoothed free memory, after the first check.
    #[must_use]
    pub fn smoothed(&self) -> Option<Bytes> {
        self.smoothed.map(bytes)
    }

    /// Takes one check in and says what it means. Checks come in the order of their times.
    pub fn check(&mut self, sample: Sample) -> Verdict {
        let free = amount(sample.free);
        let weight = self.options.smoothing;
        let smoothed = self.smoothed.map_or(free, |before| weight * free + (1.0 - weight) * before);
        self.smoothed = Some(smoothed);
        let waits = self.stalled_share(sample);
        self.before = Some(sample);
        let threshold = amount(self.options.threshold);
        let why = if smoothed < threshold {
            Some(Trigger::Free)
        } else if self.options.stalled.zip(waits).is_some_and(|(limit, share)| share >= limit) {
            Some(Trigger::Stalls)
        } else {
            None
        };
        if let Some(why) = why {
            if self.too_soon(Direction::Shrinking, sample.at) {
                return Verdict::Wait;
            }
            // Five times what is free when the threshold is met. Whoever allocates fast has less left by the time
            // of the check: five times that would ask for the less memory, the faster it goes.
            let goal = self.options.growth * threshold;
            // Tasks that wait while much is free get what there is least of.
            return Verdict::Grow { by: bytes((goal - free).max(1.0)), why };
        }
        // What growing asks for is not too much.
        let surplus = smoothed.min(free) - self.options.growth * threshold;
        if surplus < 1.0 {
            return Verdict::Hold;
        }
        if self.too_soon(Direction::Growing, sample.at) {
            return Verdict::Wait;
        }
        Verdict::Shrink { by: bytes(surplus) }
    }

    /// Memory has grown; from here on the time between changes of direction runs.
    pub fn grew(&mut self, at: Duration) {
        self.last_shift = Some((Direction::Growing, at));
        // What was free before says nothing of what is free now.
        self.smoothed = None;
    }

    /// Memory has been given back.
    pub fn shrank(&mut self, at: Duration) {
        self.last_shift = Some((Direction::Shrinking, at));
        self.smoothed = None;
    }

    /// Whether the last shift was in this direction, and not long enough ago.
    fn too_soon(&self, last: Direction, now: Duration) -> bool {
        self.last_shift.is_some_and(|(direction, at)| {
            direction == last && now.saturating_sub(at) < self.options.apart
        })
    }

    /// Share of the time since the last check in which some task waited.
    fn stalled_share(&self, now: Sample) -> Option<f64> {
        let before = self.before?;
        let time = now.at.saturating_sub(before.at).as_secs_f64();
        let waited = now.stalled?.saturating_sub(before.stalled?).as_secs_f64();
        (time > 0.0).then(|| (waited / time).min(1.0))
    }
}

#[expect(clippy::cast_precision_loss, reason = "amounts of memory below 8 PiB are exact")]
fn amount(bytes: Bytes) -> f64 {
    bytes.0 as f64
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "amounts of memory that are not negative"
)]
fn bytes(amount: f64) -> Bytes {
    Bytes(amount.max(0.0) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const OPTIONS: PressureOptions = PressureOptions {
        smoothing: 0.5,
        threshold: Bytes::mib(100),
        growth: 5.0,
        apart: Duration::from_secs(5),
        stalled: Some(0.1),
    };

    fn at(second: u64, free_mib: u64) -> Sample {
        Sample { at: Duration::from_secs(second), free: Bytes::mib(free_mib), stalled: None }
    }

    #[test]
    fn free_memory_is_smoothed_by_the_formula() {
        let mut pressure = Pressure::new(OPTIONS);
        pressure.check(at(0, 400));
        assert_eq!(pressure.smoothed(), Some(Bytes::mib(400)));
        pressure.check(at(1, 200));
        assert_eq!(pressure.smoothed(), Some(Bytes::mib(300)));
        pressure.check(at(2, 100));
        assert_eq!(pressure.smoothed(), Some(Bytes::mib(200)));
    }

    #[test]
    fn below_the_threshold_it_grows_to_five_times_as_much() {
        let mut pressure = Pressure::new(OPTIONS);
        assert_eq!(pressure.check(at(0, 100)), Verdict::Hold);
        // Five times the threshold is 500, and 80 are free.
        let by = Bytes::mib(420);
        assert_eq!(pressure.check(at(1, 80)), Verdict::Grow { by, why: Trigger::Free });
        // With nothing free all of that is wanted.
        let mut empty = Pressure::new(OPTIONS);
        let by = Bytes::mib(500);
        assert_eq!(empty.check(at(0, 0)), Verdict::Grow { by, why: Trigger::Free });
    }

    #[test]
    fn what_growing_asks_for_is_never_given_back() {
        let mut pressure = Pressure::new(OPTIONS);
        assert_eq!(pressure.check(at(0, 500)), Verdict::Hold);
        let mut pressure = Pressure::new(OPTIONS);
        assert_eq!(pressure.check(at(0, 512)), Verdict::Shrink { by: Bytes::mib(12) });
    }

    #[test]
    fn directions_change_five_seconds_apart() {
        let mut pressure = Pressure::new(OPTIONS);
        assert!(matches!(pressure.check(at(0, 50)), Verdict::Grow { .. }));
        pressure.grew(Duration::from_secs(1));
        assert_eq!(pressure.check(at(2, 900)), Verdict::Wait);
        // More of the same may follow at once.
        let mut more = pressure.clone();
        more.grew(Duration::from_secs(2));
        assert!(matches!(more.check(at(3, 10)), Verdict::Grow { .. }));
        assert_eq!(pressure.check(at(5, 900)), Verdict::Wait);
        assert!(matches!(pressure.check(at(6, 900)), Verdict::Shrink { .. }));
        pressure.shrank(Duration::from_secs(7));
        assert_eq!(pressure.check(at(8, 10)), Verdict::Wait);
        assert!(matches!(pressure.check(at(12, 10)), Verdict::Grow { .. }));
    }

    #[test]
    fn waiting_tasks_are_pressure_too() {
        let mut pressure = Pressure::new(OPTIONS);
        let stalled =
            |second, ms| Sample { stalled: Some(Duration::from_millis(ms)), ..at(second, 300) };
        assert_eq!(pressure.check(stalled(0, 5_000)), Verdict::Hold);
        assert_eq!(pressure.check(stalled(1, 5_099)), Verdict::Hold);
        let verdict = pressure.check(stalled(2, 5_199));
        assert_eq!(verdict, Verdict::Grow { by: Bytes::mib(200), why: Trigger::Stalls });
        let mut deaf = Pressure::new(PressureOptions { stalled: None, ..OPTIONS });
        deaf.check(stalled(0, 0));
        assert_eq!(deaf.check(stalled(1, 1_000)), Verdict::Hold);
    }

    proptest! {
        /// However memory comes and goes, two opposite shifts are never nearer than asked.
        #[test]
        fn opposite_shifts_are_never_too_near(free in prop::collection::vec(0_u64..2_000, 1..100)) {
            let mut pressure = Pressure::new(OPTIONS);
            let mut last: Option<(bool, u64)> = None;
            for (second, free) in (0..).zip(free) {
                let grew = match pressure.check(at(second, free)) {
                    Verdict::Grow { by, .. } => {
                        prop_assert!(by > Bytes(0));
                        pressure.grew(Duration::from_secs(second));
                        true
                    }
                    Verdict::Shrink { by } => {
                        // What remains is what growing would ask for.
                        prop_assert!(free - (by.0 >> 20) >= 499);
                        pressure.shrank(Duration::from_secs(second));
                        false
                    }
                    Verdict::Hold | Verdict::Wait => continue,
                };
                if let Some((before, when)) = last {
                    prop_assert!(before == grew || second - when >= 5);
                }
                last = Some((grew, second));
            }
        }
    }
}
