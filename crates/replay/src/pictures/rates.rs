//! Rates by rank: how steeply heat falls from the hottest memory to the coldest, and how much of
//! it was too hot to measure. Units are ranked by their accesses per second and MiB over the
//! evaluated epochs, and neighbours in that order share a step when there are many.

use pagetide_types::{Bytes, EpochHeat, HeatFlags};
use serde::Serialize;

/// Each further step holds this many times the units of the one before, or one unit.
const GROWTH: f64 = 1.05;

/// Rates of the units, the hottest first.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct RankedRates {
    /// Units that were resident in the evaluated epochs.
    pub units: usize,
    /// Of them too hot to measure for at least half of the time.
    pub saturated_units: usize,
    /// Of them never seen accessed.
    pub untouched_units: usize,
    /// The units in order of their rates.
    pub steps: Vec<RateStep>,
}

/// Units that follow each other in the order of rates.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct RateStep {
    /// How many.
    pub units: usize,
    /// Resident bytes, mean over time.
    pub bytes: Bytes,
    /// Accesses per second and MiB of them together.
    pub rate_per_mib: f64,
    /// Share of them that was too hot to measure for at least half of the time: their rate is a
    /// lower bound.
    pub saturated_share: f64,
}

/// What one unit adds up to.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    accesses: f64,
    byte_s: f64,
    seconds: f64,
    saturated_s: f64,
}

/// Sums per unit under way.
#[derive(Debug, Default)]
pub(super) struct Gather {
    units: Vec<Sums>,
    seconds: f64,
}

impl Gather {
    /// Adds an evaluated epoch.
    pub(super) fn push(&mut self, heat: &EpochHeat, length_s: f64) {
        self.seconds += length_s;
        let most = heat.unit.last().map_or(0, |unit| unit.index() + 1);
        if self.units.len() < most {
            self.units.resize(most, Sums::default());
        }
        for (row, unit) in heat.unit.iter().enumerate() {
            let sums = &mut self.units[unit.index()];
            sums.accesses += f64::from(heat.rate[row]).max(0.0) * length_s;
            sums.byte_s += heat.bytes(row).as_f64() * length_s;
            sums.seconds += length_s;
            if heat.flags[row].has(HeatFlags::SATURATED) {
                sums.saturated_s += length_s;
            }
        }
    }

    /// The units in order, with as many steps as a screen shows.
    pub(super) fn finish(self) -> RankedRates {
        let saturated = |unit: &Sums| unit.saturated_s * 2.0 >= unit.seconds;
        let density = |unit: &Sums| unit.accesses / unit.byte_s;
        let mut units: Vec<Sums> =
            self.units.into_iter().filter(|unit| unit.byte_s > 0.0 && unit.seconds > 0.0).collect();
        units.sort_by(|a, b| density(b).total_cmp(&density(a)));
        // Untouched units stay apart: on a logarithmic scale they have no place.
        let touched = units.partition_point(|unit| unit.accesses > 0.0);
        let (hot, untouched) = units.split_at(touched);
        let mut steps = Vec::new();
        let mut rest = hot;
        let mut wanted = 1.0;
        while !rest.is_empty() {
            let (step, after) = rest.split_at(whole(wanted).clamp(1, rest.len()));
            steps.push(self::step(step, self.seconds, saturated));
            rest = after;
            // One by one while they are few, then by a share of those before.
            wanted = ((hot.len() - rest.len()) as f64 * (GROWTH - 1.0)).max(1.0);
        }
        if !untouched.is_empty() {
            steps.push(step(untouched, self.seconds, saturated));
        }
        RankedRates {
            units: units.len(),
            saturated_units: units.iter().filter(|unit| saturated(unit)).count(),
            untouched_units: untouched.len(),
            steps,
        }
    }
}

fn step(units: &[Sums], seconds: f64, saturated: impl Fn(&Sums) -> bool) -> RateStep {
    let sum = |value: fn(&Sums) -> f64| units.iter().map(value).sum::<f64>();
    let (accesses, byte_s) = (sum(|unit| unit.accesses), sum(|unit| unit.byte_s));
    let count = units.iter().filter(|unit| saturated(unit)).count();
    RateStep {
        units: units.len(),
        bytes: crate::recording::whole_bytes(if seconds > 0.0 { byte_s / seconds } else { 0.0 }),
        rate_per_mib: accesses / byte_s * f64::from(1 << 20),
        saturated_share: count as f64 / units.len() as f64,
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at least 1")]
fn whole(value: f64) -> usize {
    value as usize
}
