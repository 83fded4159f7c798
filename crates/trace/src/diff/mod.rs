//! Compares two recordings of the same program: two runs, two recorders, or an estimate and the
//! truth. They may number objects and units differently, cut time into other epochs, and even
//! have units of another size: what is compared is the mean rate of each place in memory.

mod hot;
mod matching;
mod means;
mod rates;

pub use hot::HotSets;
pub use rates::RateAgreement;

use crate::{Recording, Result};
use matching::Match;
use means::Means;
use pagetide_types::{Bytes, UnitSize};
use serde::Serialize;

/// How two recordings differ.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Diff {
    /// What a unit is here: the larger of the two.
    pub unit: UnitSize,
    /// The first recording alone.
    pub a: Side,
    /// The second recording alone.
    pub b: Side,
    /// Units that both have.
    pub matched_units: usize,
    /// How well the mean rates of these units agree.
    pub rates: RateAgreement,
    /// How well the sets of hot units agree.
    pub hot: HotSets,
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
/// which it was live, by their length.
///
/// # Errors
/// As for reading either of them.
pub fn diff(a: &Recording, b: &Recording) -> Result<Diff> {
    let unit = if a.header().unit == UnitSize::Huge { UnitSize::Huge } else { b.header().unit };
    let matching = Match::new(&a.areas()?, &a.units()?, &b.areas()?, &b.units()?);
    let means_a = Means::of(a, &matching.a, unit)?;
    let means_b = Means::of(b, &matching.b, unit)?;
    let pairs: Vec<(f64, f64)> = means_a
        .units
        .iter()
        .filter_map(|(place, a)| Some((a.rate(), means_b.units.get(place)?.rate())))
        .collect();
    let unmatched = |means: &Means| means.units.len() - pairs.len();
    Ok(Diff {
        unit,
        a: means_a.side(a, unmatched(&means_a), matching.unmatched_a),
        b: means_b.side(b, unmatched(&means_b), matching.unmatched_b),
        matched_units: pairs.len(),
        rates: RateAgreement::of(&pairs),
        hot: HotSets::of(&means_a, &means_b),
    })
}
