//! The mean rate of each place over the epochs in which it was live.

use super::Side;
use crate::info::whole_bytes;
use crate::unit_sums::UnitSums;
use pagetide_types::{Bytes, ObjectId, UnitKey};
use std::collections::HashMap;

/// A unit: number of the matched object, index in it.
pub(super) type Place = (u32, u64);

/// A unit over the time in which it was live.
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
    epochs: usize,
    seconds: f64,
    resident_byte_s: f64,
    resident_max: Bytes,
    accesses: f64,
}

impl Means {
    /// Of the units `keys` of a recording that adds up to `sums`; `objects` numbers its objects.
    pub(super) fn of(sums: &UnitSums, keys: &[UnitKey], objects: &HashMap<ObjectId, u32>) -> Self {
        let mut means = Self {
            epochs: sums.epochs,
            seconds: sums.seconds,
            resident_byte_s: sums.units.iter().map(|sum| sum.byte_s).sum(),
            resident_max: sums.resident_max,
            ..Self::default()
        };
        for (key, sum) in keys.iter().zip(&sums.units) {
            if let Some(object) = objects.get(&key.object).filter(|_| sum.live_s > 0.0) {
                let mean = Mean {
                    rate: sum.accesses / sum.live_s,
                    accesses: sum.accesses,
                    bytes: sum.byte_s / sum.live_s,
                };
                means.units.insert((*object, key.index), mean);
                means.accesses += sum.accesses;
            }
        }
        means
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
    pub(super) fn side(&self, unmatched_units: usize, unmatched_objects: Vec<String>) -> Side {
        Side {
            epochs: self.epochs,
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
