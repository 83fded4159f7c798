//! Who was born, died, grew or shrank between two epochs; found once for all policies.

use pagetide_types::{EpochHeat, HeatFlags, Succession, UnitId};

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
    /// What did; empty where nothing did.
    pub(crate) units: Succession,
}

impl Change {
    /// Compares `before` with `now`, reusing the buffers.
    pub(crate) fn find(&mut self, before: &Population, now: &EpochHeat) {
        // A unit that becomes a huge page, or none, moves in another way from now on.
        let huge = |flags: &HeatFlags| flags.has(HeatFlags::HUGE);
        self.any = before.unit != now.unit
            || before.pages != now.pages
            || !before.flags.iter().map(huge).eq(now.flags.iter().map(huge));
        if self.any {
            self.units.find(&before.unit, &before.pages, now);
        } else {
            self.units.clear();
        }
    }
}
