//! Whether memory is short, or more than needed: pure.
//!
//! After PMShifter (APSys 2022), section 4.2.1: every second MP = a x free + (1 - a) x MP before, over
//! each pair of DRAM and persistent memory; past a threshold memory grows until its free part is
//! five times as large; 5 s lie between changes of direction. Its text calls MP pressure although
//! it grows with free memory: here memory grows when the smoothed *free* memory falls below the
//! threshold. The smoothing factor and the threshold are unpublished: ours are options. "Increased by
//! five times" is read as five times the threshold, which is what is free when it is met.
//! Two triggers are ours. The lead: what is free would be used up before the next device is memory, at the
//! rate at which it falls (section 5.4 has the paper's Shifter notice a rapid change in the rate of allocation,
//! its formula does not say how). And stall information (PSI), which sees a shortage that free memory does not show.

use crate::slope::Slope;
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
    /// So many times what is used up until the next device is memory is to be free; 0: how fast memory is used up
    /// does not count.
    pub lead: f64,
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
    /// How long it takes until the next device is memory; none where no device is left.
    pub conversion: Option<Duration>,
}

/// Why memory is to grow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Trigger {
    /// The smoothed free memory is below the threshold.
    Free,
    /// What is free would be used up before the next device is memory.
    Lead,
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
    slope: Slope,
    before: Option<Sample>,
    last_shift: Option<(Direction, Duration)>,
}

impl Pressure {
    /// Nothing is known yet.
    #[must_use]
    pub fn new(options: PressureOptions) -> Self {
        Self { options, smoothed: None, slope: Slope::default(), before: None, last_shift: None }
    }

    /// The smoothed free memory, after the first check.
    #[must_use]
    pub fn smoothed(&self) -> Option<Bytes> {
        self.smoothed.map(bytes)
    }

    /// Bytes per second at which free memory is used up, for more than one check.
    #[must_use]
    pub fn used_up(&self) -> Bytes {
        bytes(self.slope.rate())
    }

    /// Takes one check in and says what it means. Checks come in the order of their times.
    pub fn check(&mut self, sample: Sample) -> Verdict {
        let free = amount(sample.free);
        let weight = self.options.smoothing;
        let smoothed = self.smoothed.map_or(free, |before| weight * free + (1.0 - weight) * before);
        self.smoothed = Some(smoothed);
        self.slope.take(sample.at, free, weight);
        let waits = self.stalled_share(sample);
        self.before = Some(sample);
        let threshold = amount(self.options.threshold);
        let ahead = sample
            .conversion
            .map_or(0.0, |conversion| self.options.lead * self.slope.until_done(conversion));
        let why = if smoothed < threshold {
            Some(Trigger::Free)
        } else if free < ahead {
            Some(Trigger::Lead)
        } else if self.options.stalled.zip(waits).is_some_and(|(limit, share)| share >= limit) {
            Some(Trigger::Stalls)
        } else {
            None
        };
        // Five times what is free when the threshold is met. Whoever allocates fast has less left by the time of
        // the check: five times that would ask for the less memory, the faster it goes.
        let goal = (self.options.growth * threshold).max(ahead);
        if let Some(why) = why {
            if self.too_soon(Direction::Shrinking, sample.at) {
                return Verdict::Wait;
            }
            // Tasks that wait while much is free get what there is least of.
            return Verdict::Grow { by: bytes((goal - free).max(1.0)), why };
        }
        // What growing asks for is not too much.
        let surplus = smoothed.min(free) - goal;
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
        self.slope.jump();
    }

    /// Memory has been given back.
    pub fn shrank(&mut self, at: Duration) {
        self.last_shift = Some((Direction::Shrinking, at));
        self.smoothed = None;
        self.slope.jump();
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
#[path = "pressure_tests.rs"]
mod tests;
