//! The verdicts on a machine whose programs ask for memory at many rates and in many ways: what is swapped, and how much
//! of what became memory nobody needs. Devices take time to be memory, and not always the same; nothing is checked
//! meanwhile.

use super::*;

const MIB: f64 = 1024.0 * 1024.0;
/// Seconds of a step.
const STEP: f64 = 0.1;
/// DRAM that is free at rest, the threshold, and what the growth factor asks for, in MiB.
const DRAM: f64 = 900.0;
const THRESHOLD: f64 = 92.0;
const GOAL: f64 = 5.0 * THRESHOLD;
/// Seconds that memory is kept, and before programs begin.
const KEPT: f64 = 60.0;
const BEGIN: f64 = 5.0;

/// Devices of so many MiB, of which so many become memory per second.
#[derive(Clone, Copy, Debug)]
struct Devices {
    size: f64,
    count: u32,
    pace: f64,
}

/// How memory is asked for until `size` MiB are.
#[derive(Clone, Copy, Debug)]
enum Demand {
    /// MiB per second.
    Slope(f64),
    /// MiB per second for four seconds of ten.
    Bursts(f64),
    /// Pieces of so many MiB, so many seconds apart.
    Steps(f64, f64),
    /// MiB per second that change from second to second, from a fifth to twice as many.
    Uneven(f64),
}

impl Demand {
    /// MiB that are asked for so many seconds after the beginning.
    fn at(self, seconds: f64) -> f64 {
        match self {
            Self::Slope(rate) => rate * seconds,
            Self::Bursts(rate) => {
                rate * (4.0 * (seconds / 10.0).floor() + (seconds % 10.0).min(4.0))
            }
            Self::Steps(piece, every) => piece * (1.0 + (seconds / every).floor()),
            Self::Uneven(rate) => {
                let parts = [1.5, 0.2, 2.0, 0.5, 1.0, 2.0, 0.2];
                let mean = parts.iter().sum::<f64>() / 7.0;
                let whole = (seconds / 7.0).floor();
                let rest: f64 = (0..)
                    .zip(parts)
                    .map(|(second, part)| {
                        part * (seconds % 7.0 - f64::from(second)).clamp(0.0, 1.0)
                    })
                    .sum();
                rate * (whole * 7.0 + rest / mean)
            }
        }
    }
}

/// What came of a run.
#[derive(Clone, Copy, Debug, Default)]
struct Outcome {
    /// MiB that were swapped out.
    swapped: f64,
    /// MiB x seconds of what became memory: used, and beyond what growing asks for.
    used: f64,
    beyond: f64,
    conversions: u32,
}

impl Outcome {
    fn add(&mut self, other: Self) {
        self.swapped += other.swapped;
        self.used += other.used;
        self.beyond += other.beyond;
        self.conversions += other.conversions;
    }
}

enum Doing {
    Growing { wanted: f64, gained: f64, why: Trigger },
    Shrinking,
}

/// A program that asks for `size` MiB, keeps them for a minute, and ends.
fn run(
    (options, again): (PressureOptions, Option<Duration>),
    devices: Devices,
    demand: Demand,
    size: f64,
) -> Outcome {
    let mut pressure = Pressure::new(options);
    let (mut outcome, mut memory, mut out) = (Outcome::default(), 0, 0.0);
    let mut doing: Option<(Doing, f64, f64)> = None;
    let (mut next, mut takes, mut full, mut seen) = (0.5, devices.size / 512.0, None, DRAM);
    for step in 0_u32.. {
        let now = f64::from(step) * STEP;
        if now > BEGIN + full.unwrap_or(now) + KEPT && memory == 0 {
            return outcome;
        }
        let asked = if now < BEGIN { 0.0 } else { demand.at(now - BEGIN).min(size) };
        if asked >= size {
            full.get_or_insert(now - BEGIN);
        }
        let asked = if full.is_some_and(|full| now > BEGIN + full + KEPT) { 0.0 } else { asked };
        let behind = f64::from(memory) * devices.size;
        out = f64::min(out, asked);
        let swaps = (asked - out - DRAM - behind).max(0.0);
        (outcome.swapped, out) = (outcome.swapped + swaps, out + swaps);
        let free = DRAM + behind - (asked - out);
        let idle = behind.min(free);
        outcome.used += (behind - idle) * STEP;
        outcome.beyond += idle.min((free - GOAL).max(0.0)) * STEP;
        // Not every conversion takes as long as the one before.
        let time = devices.size / devices.pace * [1.2, 0.8, 1.0][outcome.conversions as usize % 3];
        let at = Duration::from_secs_f64(now);
        if let Some((what, since, end)) = doing.take_if(|(_, _, end)| now >= *end) {
            next = f64::max(next, now + STEP);
            match what {
                Doing::Growing { wanted, gained, why } => {
                    (memory, outcome.conversions) = (memory + 1, outcome.conversions + 1);
                    let gained = gained + devices.size;
                    takes = end - since;
                    if gained < wanted && memory < devices.count {
                        doing = Some((Doing::Growing { wanted, gained, why }, now, now + time));
                    } else {
                        pressure.grew(at, bytes(gained * MIB), why);
                    }
                }
                Doing::Shrinking => pressure.shrank(at, bytes(devices.size * MIB)),
            }
        }
        let due = pressure.short().is_some_and(|short| free * MIB < amount(short))
            || (memory > 0 && free >= seen + devices.size);
        if doing.is_some() || (now < next && !due) {
            continue;
        }
        next = if now < next { now } else { next } + 1.0;
        seen = free;
        let conversion = (memory < devices.count).then(|| Duration::from_secs_f64(takes));
        let sample = Sample { at, free: bytes(free * MIB), stalled: None, conversion, again };
        match pressure.check(sample) {
            Verdict::Grow { by, why } if memory < devices.count => {
                let growing = Doing::Growing { wanted: amount(by) / MIB, gained: 0.0, why };
                doing = Some((growing, now, now + time));
            }
            Verdict::Shrink { by } if memory > 0 && amount(by) >= devices.size * MIB => {
                memory -= 1;
                doing = Some((Doing::Shrinking, now, now + 3.0 * time));
            }
            _ => {}
        }
    }
    outcome
}

/// Devices that are smaller than what lies between the threshold and what growing asks for: then nothing need be wasted.
const DEVICES: [Devices; 4] = [
    Devices { size: 128.0, count: 16, pace: 400.0 },
    Devices { size: 128.0, count: 16, pace: 1_500.0 },
    Devices { size: 352.0, count: 6, pace: 400.0 },
    Devices { size: 352.0, count: 6, pace: 1_500.0 },
];
const SIZES: [f64; 11] =
    [500.0, 700.0, 850.0, 1000.0, 1200.0, 1350.0, 1500.0, 1700.0, 1950.0, 2200.0, 2500.0];
const RATES: [f64; 5] = [15.0, 30.0, 60.0, 120.0, 240.0];

/// All sizes on all devices, where a device brings more than what is used up meanwhile.
fn all(lead: f64, demand: impl Fn(f64) -> Demand, peak: f64) -> Outcome {
    watched(lead, Some(crate::GLANCE), demand, peak)
}

/// Where it is looked again so long after a check.
fn watched(
    lead: f64,
    again: Option<Duration>,
    demand: impl Fn(f64) -> Demand,
    peak: f64,
) -> Outcome {
    let options = PressureOptions {
        smoothing: 0.7,
        threshold: bytes(THRESHOLD * MIB),
        growth: GOAL / THRESHOLD,
        lead,
        apart: Duration::from_secs(5),
        stalled: None,
    };
    let mut outcome = Outcome::default();
    for devices in DEVICES {
        for rate in RATES {
            if peak * rate > 0.7 * devices.size / (devices.size / devices.pace + 1.0) {
                continue;
            }
            for size in SIZES {
                outcome.add(run((options, again), devices, demand(rate), size));
            }
        }
    }
    outcome
}

#[test]
fn nothing_is_swapped_at_a_steady_rate_and_little_is_wasted() {
    let (with, without) = (all(1.0, Demand::Slope, 1.0), all(0.0, Demand::Slope, 1.0));
    assert!(with.swapped < 0.001, "{with:?}");
    assert!(without.swapped > 1_000.0, "{without:?}");
    assert!(with.beyond < 0.2 * with.used, "{with:?}");
    // A guess costs less than what comes too late has to bring at once.
    assert!(with.beyond < without.beyond, "{with:?} {without:?}");
}

#[test]
fn bursts_and_uneven_rates_swap_little_and_waste_little() {
    for (demand, peak) in [(Demand::Bursts as fn(f64) -> Demand, 1.0), (Demand::Uneven, 2.0)] {
        let (with, without) = (all(1.0, demand, peak), all(0.0, demand, peak));
        assert!(with.swapped < 0.3 * without.swapped, "{with:?} {without:?}");
        assert!(with.beyond < 0.2 * with.used, "{with:?}");
    }
}

#[test]
fn steps_take_no_more_than_without_a_lead() {
    // A piece is there before any check: no lead helps where each is larger than what is free.
    let steps = |rate| Demand::Steps(2.0 * rate, 2.0);
    let (with, without) = (all(1.0, steps, 2.0), all(0.0, steps, 2.0));
    assert!(with.swapped <= without.swapped, "{with:?} {without:?}");
    assert!(with.beyond < 0.2 * with.used, "{with:?}");
}

#[test]
fn looking_between_checks_wastes_less_and_swaps_no_more() {
    for (demand, peak) in
        [(Demand::Slope as fn(f64) -> Demand, 1.0), (Demand::Bursts, 1.0), (Demand::Uneven, 2.0)]
    {
        let (with, without) = (all(1.0, demand, peak), watched(1.0, None, demand, peak));
        assert!(with.beyond < 0.95 * without.beyond, "{with:?} {without:?}");
        assert!(with.swapped <= without.swapped, "{with:?} {without:?}");
        assert!(with.conversions < without.conversions, "{with:?} {without:?}");
    }
}
