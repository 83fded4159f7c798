//! What dry runs assume: that every decision was carried out.

use pagetide_types::{Bytes, EpochHeat, UnitId};

/// Where units would be had every decision been carried out: for dry runs.
#[derive(Debug, Default)]
pub(crate) struct Assumed {
    /// By unit; none of those that were not there in the last epoch.
    fast: Vec<Option<bool>>,
}

impl Assumed {
    /// Which rows are fast: as decided before, and newborn units as they were found or, where
    /// there is no fast memory to find them in, fast while there is room.
    pub(crate) fn fast(
        &mut self,
        heat: &EpochHeat,
        found: &[bool],
        first_touch: Option<Bytes>,
    ) -> Vec<bool> {
        let before = std::mem::take(&mut self.fast);
        let known = |unit: &UnitId| before.get(unit.index()).copied().flatten();
        let units = heat.unit.last().map_or(0, |last| last.index() + 1);
        self.fast = vec![None; units];
        let mut held: Bytes = (0..heat.len())
            .filter(|row| known(&heat.unit[*row]) == Some(true))
            .map(|row| heat.bytes(row))
            .sum();
        let mut fast = Vec::with_capacity(heat.len());
        for (row, unit) in heat.unit.iter().enumerate() {
            let is = known(unit).unwrap_or_else(|| match first_touch {
                None => found[row],
                Some(capacity) => {
                    let fits = held + heat.bytes(row) <= capacity;
                    held += if fits { heat.bytes(row) } else { Bytes(0) };
                    fits
                }
            });
            fast.push(is);
            self.fast[unit.index()] = Some(is);
        }
        fast
    }

    /// Whether a unit is fast; none: it was not there in the last epoch that was decided on.
    pub(crate) fn of(&self, unit: UnitId) -> Option<bool> {
        self.fast.get(unit.index()).copied().flatten()
    }

    /// A decision was made.
    pub(crate) fn moved(&mut self, unit: UnitId, fast: bool) {
        if let Some(known) = self.fast.get_mut(unit.index()) {
            *known = Some(fast);
        }
    }
}
