//! The units that make up 90 % of the accesses, on either side, and what the sets share.

use super::means::{Means, Place};
use crate::info::whole_bytes;
use pagetide_types::Bytes;
use serde::Serialize;
use std::collections::HashSet;

/// Share of the accesses that the hot set makes up.
const SHARE: f64 = 0.9;

/// The smallest sets of units with 90 % of the accesses, hottest first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct HotSets {
    /// Units in that of `a`.
    pub a_units: usize,
    /// Units in that of `b`.
    pub b_units: usize,
    /// Their resident bytes in `a`.
    pub a_bytes: Bytes,
    /// Their resident bytes in `b`.
    pub b_bytes: Bytes,
    /// Units in both over units in either (Jaccard); none if nothing was accessed.
    pub jaccard: Option<f64>,
}

impl HotSets {
    pub(super) fn of(a: &Means, b: &Means) -> Self {
        let (hot_a, hot_b) = (hot(a), hot(b));
        let both = hot_a.intersection(&hot_b).count();
        let either = hot_a.len() + hot_b.len() - both;
        Self {
            a_units: hot_a.len(),
            b_units: hot_b.len(),
            a_bytes: bytes(a, &hot_a),
            b_bytes: bytes(b, &hot_b),
            jaccard: (either > 0).then(|| both as f64 / either as f64),
        }
    }
}

/// Hottest by rate first, equal ones by place, until the share is reached.
fn hot(means: &Means) -> HashSet<Place> {
    let mut units: Vec<(Place, f64, f64)> = means
        .units
        .iter()
        .filter(|(_, mean)| mean.accesses > 0.0)
        .map(|(place, mean)| (*place, mean.rate(), mean.accesses))
        .collect();
    units.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    let due = SHARE * units.iter().map(|unit| unit.2).sum::<f64>();
    let mut reached = 0.0;
    units
        .into_iter()
        .take_while(|(_, _, accesses)| {
            let more = reached < due;
            reached += accesses;
            more
        })
        .map(|(place, _, _)| place)
        .collect()
}

fn bytes(means: &Means, places: &HashSet<Place>) -> Bytes {
    whole_bytes(places.iter().filter_map(|place| means.units.get(place)).map(|m| m.bytes).sum())
}
