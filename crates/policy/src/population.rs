//! Which units were born, died, grew or shrank from one epoch to the next.

use pagetide_types::{EpochHeat, Succession, UnitId};

/// The units alive in the last epoch, and how they differ from those of the epoch before.
#[derive(Debug, Default)]
pub(crate) struct Population {
    unit: Vec<UnitId>,
    /// Base pages per row.
    pages: Vec<u16>,
    /// Base pages per row of the epoch before, where something differs.
    pub(crate) pages_before: Vec<u16>,
    /// Where something differs.
    pub(crate) change: Succession,
}

impl Population {
    /// Takes in the next epoch, and says whether anything differs.
    pub(crate) fn update(&mut self, heat: &EpochHeat) -> bool {
        if self.unit == heat.unit && self.pages == heat.pages {
            self.change.clear();
            return false;
        }
        self.change.find(&self.unit, &self.pages, heat);
        std::mem::swap(&mut self.pages_before, &mut self.pages);
        self.unit.clone_from(&heat.unit);
        self.pages.clone_from(&heat.pages);
        true
    }
}
