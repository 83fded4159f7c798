//! What every unit of a recording adds up to, over the epochs that were asked for.

use crate::{Recording, Result};
use pagetide_types::Bytes;

/// One unit over the time in which it was live.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct UnitSum {
    /// Accesses in all.
    pub(crate) accesses: f64,
    /// Seconds in which it was live.
    pub(crate) live_s: f64,
    /// Resident bytes x seconds.
    pub(crate) byte_s: f64,
}

/// A recording, summed up by unit.
#[derive(Debug, Default)]
pub(crate) struct UnitSums {
    /// A unit's number is its position.
    pub(crate) units: Vec<UnitSum>,
    /// Epochs that were summed up.
    pub(crate) epochs: usize,
    /// Their length together.
    pub(crate) seconds: f64,
    /// Most resident bytes in one of them.
    pub(crate) resident_max: Bytes,
}

impl UnitSums {
    /// Reads all of the part of `recording` that was asked for.
    pub(crate) fn of(recording: &Recording) -> Result<Self> {
        let units = vec![UnitSum::default(); recording.unit_count()];
        let mut sums = Self { units, ..Self::default() };
        let first = recording.first_epoch();
        for (heat, epoch) in recording.heat().zip(recording.epochs()).skip(first) {
            let heat = heat?;
            let seconds = if epoch.length_s > 0.0 { epoch.length_s } else { 1.0 };
            sums.epochs += 1;
            sums.seconds += seconds;
            sums.resident_max = sums.resident_max.max(heat.resident());
            for (i, unit) in heat.unit.iter().enumerate() {
                let sum = &mut sums.units[unit.index()];
                sum.accesses += f64::from(heat.rate[i]) * seconds;
                sum.live_s += seconds;
                sum.byte_s += heat.bytes(i).as_f64() * seconds;
            }
        }
        Ok(sums)
    }
}
