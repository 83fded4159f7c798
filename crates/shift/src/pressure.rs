//! Whether memory is short, or more than needed: pure.
//!
//! After PMShifter (APSys 2022), section 4.2.1: every second MP = a x free + (1 - a) x MP before, over
//! each pair of DRAM and persistent memory; past a threshold memory grows until its free part is
//! five times as large; 5 s lie between changes of direction. Its text calls MP pressure although
//! it grows with free memory: here memory grows when the smoothed *free* memory falls below the
//! threshold. The smoothing factor and the threshold are unpublished: ours are options. "Increased by
//! five times" is read as five times the threshold, which is what is free when it is met.
//! Two triggers are ours. The lead: the threshold would be met before the next device is memory, at the rate at which
//! free memory falls (section 5.4 has the paper's Shifter notice a rapid change in the rate of allocation,
//! its formula does not say how). And stall information (PSI), which sees a shortage that free memory does not show.
//! The lead is a guess: it asks for no more than it foresees, and what it took goes back when memory falls no more.

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
    /// So many times what is used up until the next device is memory is to be free above the threshold; 0: how fast
    /// memory is used up does not count.
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
    /// After how long free memory is looked at again, against [`Pressure::short`]; none: at the next check.
    pub again: Option<Duration>,
}

/// Why memory is to grow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Trigger {
    /// The smoothed free memory is below the threshold.
    Free,
    /// The threshold would be met before the next device is memory.
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

/// What the lead took goes back if so many times the threshold stay free without it.
const STAYS: f64 = 2.0;
/// And after so many times the time between changes of direction without a fall.
const RESTS: u32 = 2;
/// Less than this part of the threshold is no fall.
const FALL: f64 = 0.1;

/// The pressure of one pair over time.
#[derive(Clone, Debug)]
pub struct Pressure {
    options: PressureOptions,
    smoothed: Option<f64>,
    slope: Slope,
    before: Option<Sample>,
    last_shift: Option<(Direction, Duration)>,
    /// What the lead took and nothing but the lead has asked for since, in bytes.
    led: f64,
    /// Since when free memory has not fallen, and the most that was free.
    steady: Option<(Duration, f64)>,
    /// With less free than this before the next check, it is time for one.
    short: Option<f64>,
}

impl Pressure {
    /// Nothing is known yet.
    #[must_use]
    pub fn new(options: PressureOptions) -> Self {
        Self {
            options,
            smoothed: None,
            slope: Slope::default(),
            before: None,
            last_shift: None,
            led: 0.0,
            steady: None,
            short: None,
        }
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

    /// With less free than this before the next check, the lead asks for a device: the check must not wait.
    #[must_use]
    pub fn short(&self) -> Option<Bytes> {
        self.short.map(bytes)
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
        let rests = self.rests(sample.at, free, FALL * threshold);
        let ahead = self.ahead(threshold, sample.conversion, None);
        let short = self.ahead(threshold, sample.conversion, sample.again);
        self.short = None;
        let why = if smoothed < threshold {
            Some(Trigger::Free)
        } else if free < short {
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
            let enough = if why == Trigger::Lead { ahead } else { goal };
            if why != Trigger::Lead {
                self.led = 0.0;
            }
            if self.too_soon(Direction::Shrinking, sample.at) {
                return Verdict::Wait;
            }
            // Tasks that wait while much is free get what there is least of.
            return Verdict::Grow { by: bytes((enough - free).max(1.0)), why };
        }
        self.short = sample.again.filter(|_| short > 0.0).map(|_| short);
        // What growing asks for is not too much.
        let least = smoothed.min(free);
        let mut surplus = least - goal;
        if rests {
            let stays = STAYS.min(self.options.growth) * threshold;
            surplus = surplus.max((least - stays.max(ahead)).min(self.led));
        }
        if surplus < 1.0 {
            return Verdict::Hold;
        }
        if self.too_soon(Direction::Growing, sample.at) {
            return Verdict::Wait;
        }
        Verdict::Shrink { by: bytes(surplus) }
    }

    /// Memory has grown by so much; from here on the time between changes of direction runs.
    pub fn grew(&mut self, at: Duration, by: Bytes, why: Trigger) {
        if why == Trigger::Lead {
            self.led += amount(by);
        }
        self.shifted(Direction::Growing, at);
    }

    /// So much memory has been given back.
    pub fn shrank(&mut self, at: Duration, by: Bytes) {
        self.led = (self.led - amount(by)).max(0.0);
        self.shifted(Direction::Shrinking, at);
    }

    fn shifted(&mut self, direction: Direction, at: Duration) {
        self.last_shift = Some((direction, at));
        // What was free before says nothing of what is free now.
        self.smoothed = None;
        self.slope.jump();
        self.steady = None;
    }

    /// What is to be free now so that the threshold is not met before a device is memory that begins to be converted
    /// when it is looked again, or at the next check; nothing where memory does not fall, or no device is left.
    fn ahead(&self, threshold: f64, conversion: Option<Duration>, again: Option<Duration>) -> f64 {
        let until = conversion.map_or(0.0, |time| self.slope.until_done(time, again));
        let used_up = self.options.lead * until;
        if used_up > 0.0 { threshold + used_up } else { 0.0 }
    }

    /// Whether free memory has not fallen for long enough that the lead's guess can be called wrong.
    fn rests(&mut self, at: Duration, free: f64, fall: f64) -> bool {
        let (since, most) = match self.steady {
            Some((since, most)) if free >= most - fall => (since, most.max(free)),
            _ => (at, free),
        };
        self.steady = Some((since, most));
        at.saturating_sub(since) >= self.options.apart * RESTS
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

#[cfg(test)]
#[path = "demand_tests.rs"]
mod demand_tests;
