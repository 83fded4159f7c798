//! What an epoch demands of memory for every unit, packed so that a look-up costs one cache line;
//! found once for all policies.

use pagetide_types::{EpochHeat, HeatFlags};

/// What is charged for one unit in one epoch.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Demand {
    /// Accesses per second that are charged, not negative.
    pub(crate) rate: f32,
    /// Resident base pages.
    pub(crate) pages: u16,
    pub(crate) flags: HeatFlags,
}

/// The parts of a unit's accesses per second that only exact counts know.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Counted {
    /// What no prefetcher can have fetched.
    pub(crate) leads: f32,
    pub(crate) writes: f32,
}

/// Those of all units of an epoch, one per row.
#[derive(Debug, Default)]
pub(crate) struct Demands {
    pub(crate) units: Vec<Demand>,
    /// Empty where nothing was counted.
    pub(crate) counted: Vec<Counted>,
}

impl Demands {
    /// Takes in an epoch in place of the one before.
    pub(crate) fn find(&mut self, heat: &EpochHeat) {
        // Without traffic the rate is charged: see `EpochHeat::memory_rate`.
        let rates = if heat.traffic.is_empty() { &heat.rate } else { &heat.traffic };
        let rows = rates.iter().zip(&heat.pages).zip(&heat.flags);
        self.units.clear();
        self.units.extend(rows.map(|((rate, pages), flags)| Demand {
            rate: rate.max(0.0),
            pages: *pages,
            flags: *flags,
        }));
        self.counted.clear();
        if heat.leads.is_empty() && heat.writes.is_empty() {
            return;
        }
        self.counted.extend(self.units.iter().enumerate().map(|(row, unit)| Counted {
            leads: heat.leads.get(row).map_or(unit.rate, |rate| rate.max(0.0)),
            writes: heat.writes.get(row).map_or(0.0, |rate| rate.max(0.0)),
        }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pagetide_types::{EpochId, HeatRow, NodeId, UnitId};

    #[test]
    fn what_is_charged_is_what_memory_serves() {
        let mut heat = EpochHeat::new(EpochId(0));
        for (unit, rate) in [(0, 3.0), (1, -1.0)] {
            let (unit, flags, node) = (UnitId(unit), HeatFlags::SAMPLED, NodeId(0));
            heat.push(HeatRow { unit, rate, flags, pages: 7, watched: 0, touched: 0, node });
        }
        let mut demands = Demands::default();
        for traffic in [vec![], vec![0.5, 9.0]] {
            heat.traffic = traffic;
            demands.find(&heat);
            for (row, unit) in demands.units.iter().enumerate() {
                let (rate, flags) = (heat.memory_rate(row).max(0.0), HeatFlags::SAMPLED);
                assert_eq!(*unit, Demand { rate, pages: 7, flags });
            }
            assert_eq!((demands.units.len(), demands.counted.len()), (2, 0));
        }
        heat.writes = vec![0.25, 0.0];
        demands.find(&heat);
        assert_eq!(demands.counted[0], Counted { leads: 0.5, writes: 0.25 });
    }
}
