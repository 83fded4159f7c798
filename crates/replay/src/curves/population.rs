//! Who was born, died, grew or shrank between two epochs; found once for all policies.

use pagetide_types::{EpochHeat, HeatFlags, UnitId};

/// Stands in [`Change::row_now`] for a unit that died.
pub(crate) const DEAD: u32 = u32::MAX;

/// The units of one epoch, their sizes in base pages and what was observed of them.
#[derive(Debug, Default)]
pub(crate) struct Population {
    pub(crate) unit: Vec<UnitId>,
    pub(crate) pages: Vec<u16>,
    pub(crate) flags: Vec<HeatFlags>,
}

/// What changed from one population to the next.
#[derive(Debug, Default)]
pub(crate) struct Change {
    /// Whether anything did.
    pub(crate) any: bool,
    /// For every row before, its row now or [`DEAD`].
    pub(crate) row_now: Vec<u32>,
    /// Rows now that were not alive before, ascending.
    pub(crate) born: Vec<u32>,
    /// Base pages that the units alive in both gained, all together; 0 if they lost some.
    pub(crate) growth: u64,
}

impl Change {
    /// Compares `before` with `now`, reusing the buffers.
    pub(crate) fn find(&mut self, before: &Population, now: &EpochHeat) {
        // A unit that becomes a huge page, or none, moves in another way from now on.
        let huge = |flags: &HeatFlags| flags.has(HeatFlags::HUGE);
        self.any = before.unit != now.unit
            || before.pages != now.pages
            || !before.flags.iter().map(huge).eq(now.flags.iter().map(huge));
        self.row_now.clear();
        self.born.clear();
        if !self.any {
            return;
        }
        let (mut gained, mut lost) = (0, 0);
        let mut old = 0;
        for (row, unit) in (0..).zip(&now.unit) {
            while before.unit.get(old).is_some_and(|other| other < unit) {
                self.row_now.push(DEAD);
                old += 1;
            }
            if before.unit.get(old) == Some(unit) {
                gained += u64::from(now.pages[row as usize]);
                lost += u64::from(before.pages[old]);
                self.row_now.push(row);
                old += 1;
            } else {
                self.born.push(row);
            }
        }
        self.row_now.resize(before.unit.len(), DEAD);
        self.growth = u64::saturating_sub(gained, lost);
    }
}
