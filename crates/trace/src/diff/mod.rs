//! Compares two recordings of the same program: two runs, two recorders, or an estimate and the
//! truth. They may number objects and units differently and cut time into other epochs: what is
//! compared is the mean rate of each place in memory.

mod areas;
mod hot;
mod matching;
mod means;
mod rates;

pub use areas::{AreaChange, AreaSide};
pub use hot::HotSets;
pub use rates::RateAgreement;

use crate::unit_sums::UnitSums;
use crate::{Error, Recording, Result};
use areas::{ByArea, changes};
use matching::Match;
use means::Means;
use pagetide_types::{Bytes, UnitSize};
use serde::Serialize;

/// Share of the memory of either recording that must be matched before units are compared: of two
/// runs at other addresses only files match, and what else does is chance.
const COMPARABLE: f64 = 0.5;

/// How two recordings differ.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Diff {
    /// What a unit is, in both.
    pub unit: UnitSize,
    /// The first recording alone.
    pub a: Side,
    /// The second recording alone.
    pub b: Side,
    /// What changed in every area, most first.
    pub areas: Vec<AreaChange>,
    /// Units that both have.
    pub matched_units: usize,
    /// Share of the resident memory that these units are, of the recording of which they are less.
    pub matched_share: f64,
    /// How well the mean rates of these units agree; none if less than half of the memory matched.
    pub rates: Option<RateAgreement>,
    /// How well the sets of hot units agree; none if less than half of the memory matched.
    pub hot: Option<HotSets>,
}

/// What is known of one of the two.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Side {
    /// Number of epochs.
    pub epochs: usize,
    /// Their length together, seconds.
    pub seconds: f64,
    /// Units ever live.
    pub units: usize,
    /// Units that the other does not have.
    pub unmatched_units: usize,
    /// Objects that the other does not have, by name.
    pub unmatched_objects: Vec<String>,
    /// Resident memory, mean over time.
    pub resident_mean_bytes: Bytes,
    /// Resident memory, greatest of all epochs.
    pub resident_max_bytes: Bytes,
    /// Accesses per second, all units together, mean over time.
    pub rate: f64,
}

/// Compares `a` with `b`. Memory of a process (heap, stacks, anonymous) is matched by process and
/// address, files and shared memory by name and offset; so two runs agree in addresses only if
/// address randomisation was off (`setarch -R`). A unit's rate is its mean over all epochs in
/// which it was live, by their length. Areas are matched by names that survive a restart.
///
/// # Errors
/// [`Error::Units`] if their units differ in size; otherwise as for reading either of them.
pub fn diff(a: &Recording, b: &Recording) -> Result<Diff> {
    let units = [a.header().unit, b.header().unit];
    if units[0] != units[1] {
        let paths = [a.path().to_owned(), b.path().to_owned()];
        return Err(Error::Units { paths, units });
    }
    let (areas_a, units_a, sums_a) = (a.areas()?, a.units()?, UnitSums::of(a)?);
    let (areas_b, units_b, sums_b) = (b.areas()?, b.units()?, UnitSums::of(b)?);
    let matching = Match::new(&areas_a, &units_a, &areas_b, &units_b);
    let means_a = Means::of(&sums_a, &units_a, &matching.a);
    let means_b = Means::of(&sums_b, &units_b, &matching.b);
    let areas =
        changes(&ByArea::of(&areas_a, &units_a, &sums_a), &ByArea::of(&areas_b, &units_b, &sums_b));
    let pairs: Vec<(f64, f64)> = means_a
        .units
        .iter()
        .filter_map(|(place, a)| Some((a.rate(), means_b.units.get(place)?.rate())))
        .collect();
    let unmatched = |means: &Means| means.units.len() - pairs.len();
    let matched_share = means_a.matched_share(&means_b).min(means_b.matched_share(&means_a));
    let comparable = matched_share >= COMPARABLE;
    Ok(Diff {
        unit: units[0],
        a: means_a.side(unmatched(&means_a), matching.unmatched_a),
        b: means_b.side(unmatched(&means_b), matching.unmatched_b),
        areas,
        matched_units: pairs.len(),
        matched_share,
        rates: comparable.then(|| RateAgreement::of(&pairs)),
        hot: comparable.then(|| HotSets::of(&means_a, &means_b)),
    })
}
