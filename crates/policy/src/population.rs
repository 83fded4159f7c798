//! Which units were born, died, grew or shrank from one epoch to the next.

use pagetide_types::{EpochHeat, UnitId};

/// Stands in [`Population::row_now`] for a unit that died.
pub(crate) const DEAD: u32 = u32::MAX;

/// The units alive in the last epoch, and how they differ from those of the epoch before.
#[derive(Debug, Default)]
pub(crate) struct Population {
    unit: Vec<UnitId>,
    /// Base pages per row.
    pages: Vec<u16>,
    /// Base pages per row of the epoch before, where something differs.
    pub(crate) pages_before: Vec<u16>,
    /// For every row of the epoch before its row now, or [`DEAD`]; empty if nothing differs.
    pub(crate) row_now: Vec<u32>,
    /// Rows that were not alive in the epoch before, ascending.
    pub(crate) born: Vec<u32>,
    /// Base pages that the units alive in both gained, all together; 0 if they lost some.
    pub(crate) growth: u64,
}

impl Population {
    /// Takes in the next epoch, and says whether anything differs.
    pub(crate) fn update(&mut self, heat: &EpochHeat) -> bool {
        self.row_now.clear();
        self.born.clear();
        if self.unit == heat.unit && self.pages == heat.pages {
            return false;
        }
        let (mut now, mut before) = (0u64, 0u64);
        let mut old = 0;
        for (row, unit) in (0..).zip(&heat.unit) {
            while self.unit.get(old).is_some_and(|other| other < unit) {
                self.row_now.push(DEAD);
                old += 1;
            }
            if self.unit.get(old) == Some(unit) {
                now += u64::from(heat.pages[row as usize]);
                before += u64::from(self.pages[old]);
                self.row_now.push(row);
                old += 1;
            } else {
                self.born.push(row);
            }
        }
        self.row_now.resize(self.unit.len(), DEAD);
        self.growth = now.saturating_sub(before);
        self.pages_before.clone_from(&self.pages);
        self.unit.clone_from(&heat.unit);
        self.pages.clone_from(&heat.pages);
        true
    }
}
