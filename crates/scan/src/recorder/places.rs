//! Where the units of an epoch lie: what a mover needs to find them.

use super::Recorder;
use crate::walk::row::Range;
use pagetide_types::{NodeId, Pid, UnitId};

/// The part of a unit of 2 MiB that one mapping of one process holds. A unit that is mapped
/// several times has several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Which unit.
    pub unit: UnitId,
    /// Whose mapping.
    pub pid: Pid,
    /// Its addresses.
    pub range: Range,
    /// Mapped by a huge page.
    pub huge: bool,
    /// Resident base pages on each node that holds some.
    pub nodes: Vec<(NodeId, u16)>,
}

impl Recorder {
    /// Where the units of the last epoch lay at its beginning, by process and address. In
    /// recordings of single pages the units named are the regions that the pages lie in.
    #[must_use]
    pub fn places(&self) -> Vec<Place> {
        let nodes = self.live.walker.nodes();
        let alive = self.regions.iter().filter(|region| self.known[region.process].alive);
        alive
            .map(|region| Place {
                unit: region.unit,
                pid: self.known[region.process].pid,
                range: region.range,
                huge: region.huge,
                nodes: nodes
                    .iter()
                    .copied()
                    .zip(region.spread)
                    .filter(|(_, pages)| *pages > 0)
                    .collect(),
            })
            .collect()
    }

    /// Pages were moved: the next epoch walks what is resident, whatever it costs.
    pub fn look_again(&mut self) {
        self.moved = true;
    }
}
