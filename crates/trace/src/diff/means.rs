//! The mean rate of each place over the epochs in which it was live.

use super::Side;
use crate::{Recording, Result, info::whole_bytes};
use pagetide_types::{Bytes, ObjectId};
use std::collections::HashMap;

/// A unit: number of the matched object, index in it.
pub(super) type Place = (u32, u64);

/// Sums over the time in which a unit was live.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Mean {
    /// Accesses / seconds live.
    rate: f64,
    /// Accesses in all.
    pub(super) accesses: f64,
    /// Mean resident bytes while live.
    pub(super) bytes: f64,
}

impl Mean {
    /// Accesses per second while live.
    pub(super) fn rate(&self) -> f64 {
        self.rate
    }
}

/// A recording as means.
#[derive(Debug, Default)]
pub(super) struct Means {
    pub(super) units: HashMap<Place, Mean>,
    seconds: f64,
    resident_byte_s: f64,
    resident_max: Bytes,
    accesses: f64,
}

impl Means {
    /// Reads all of `recording`; `objects` numbers its objects.
    pub(super) fn of(recording: &Recording, objects: &HashMap<ObjectId, u32>) -> Result<Self> {
        let mut means = Self::default();
        // Per unit of the recording: accesses, seconds live, byte-seconds.
        let mut sums = vec![(0.0, 0.0, 0.0); recording.unit_count()];
        for (heat, epoch) in recording.heat().zip(recording.epochs()) {
            let heat = heat?;
            let seconds = if epoch.length_s > 0.0 { epoch.length_s } else { 1.0 };
            let resident = heat.resident();
            means.seconds += seconds;
            means.resident_byte_s += resident.as_f64() * seconds;
            means.resident_max = means.resident_max.max(resident);
            for (i, unit) in heat.unit.iter().enumerate() {
                let (accesses, live, byte_s) = &mut sums[unit.index()];
                *accesses += f64::from(heat.rate[i]) * seconds;
                *live += seconds;
                *byte_s += heat.bytes(i).as_f64() * seconds;
            }
        }
        for (key, (accesses, live, byte_s)) in recording.units()?.into_iter().zip(sums) {
            if let Some(object) = objects.get(&key.object).filter(|_| live > 0.0) {
                let mean = Mean { rate: accesses / live, accesses, bytes: byte_s / live };
                means.units.insert((*object, key.index), mean);
                means.accesses += accesses;
            }
        }
        Ok(means)
    }

    /// Share of the resident memory in places that `other` has as well; 1 if nothing was resident.
    pub(super) fn matched_share(&self, other: &Self) -> f64 {
        let bytes = |all: bool| -> f64 {
            let places = self.units.iter().filter(|(at, _)| all || other.units.contains_key(*at));
            places.map(|(_, mean)| mean.bytes).sum()
        };
        let all = bytes(true);
        if all > 0.0 { bytes(false) / all } else { 1.0 }
    }

    /// The figures of this recording alone.
    pub(super) fn side(
        &self,
        recording: &Recording,
        unmatched_units: usize,
        unmatched_objects: Vec<String>,
    ) -> Side {
        Side {
            epochs: recording.epochs().len(),
            seconds: self.seconds,
            units: self.units.len(),
            unmatched_units,
            unmatched_objects,
            resident_mean_bytes: whole_bytes(self.resident_byte_s / self.seconds),
            resident_max_bytes: self.resident_max,
            rate: self.accesses / self.seconds,
        }
    }
}
