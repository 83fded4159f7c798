//! What is to be expected of memory that is born, by what was born before it.

use crate::{EpochView, observed};
use pagetide_types::{EpochHeat, HeatFlags, KEEP, UnitId};

/// How much is accessed in the epoch in which it is born. What was born longer ago counts less.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Births {
    accesses_per_s: f64,
    pages: f64,
}

/// What is born is written once, line by line, whatever becomes of it. That says nothing of what it is worth: 64 lines pay
/// for no move, let alone for one down to make room and two that undo it.
const WRITTEN_ONCE: f64 = 64.0;
/// In so many seconds it fades as much as the recorder's memory does in an epoch of the usual length.
const FADES_IN_S: f64 = 5.0;

impl Births {
    /// Learns from an epoch. By its accesses alone: what is expected of a unit stands on what was seen of other memory.
    pub(crate) fn observe(&mut self, view: &EpochView<'_>) {
        let kept = f64::from(KEEP).powf(view.length_s / FADES_IN_S);
        self.accesses_per_s *= kept;
        self.pages *= kept;
        // What is there in the first epoch was not born in it.
        if view.history.epochs() == 1 || view.length_s <= 0.0 {
            return;
        }
        for (accesses_per_s, pages) in seen(view.heat, view.history.newborn()) {
            self.accesses_per_s += (accesses_per_s - WRITTEN_ONCE * pages / view.length_s).max(0.0);
            self.pages += pages;
        }
    }

    /// Accesses per second and page; none if nothing was born.
    pub(crate) fn rate(&self) -> Option<f64> {
        (self.pages > 0.0).then(|| self.accesses_per_s / self.pages)
    }
}

/// Accesses per second and pages of those units that tell. Traffic of base pages stands for those of the epoch that nobody looked
/// at, too (each look counts for as many as its chance was small); that of huge pages, and rates, for their own unit alone.
fn seen<'a>(heat: &'a EpochHeat, units: &'a [UnitId]) -> impl Iterator<Item = (f64, f64)> + 'a {
    let rows = units.iter().filter_map(|unit| heat.unit.binary_search(unit).ok());
    let tells = |row: &usize| {
        let flags = heat.flags[*row];
        let for_all = !heat.traffic.is_empty() && !flags.has(HeatFlags::HUGE);
        observed(flags) || for_all && !flags.has(HeatFlags::UNCLEARED)
    };
    rows.filter(tells).map(|row| (f64::from(heat.memory_rate(row)), f64::from(heat.pages[row])))
}
