//! Single pages taken together by regions of 2 MiB: what placing by regions would cost.

use pagetide_types::{EpochHeat, HeatFlags, HeatRow, ObjectId, UnitId, UnitKey};
use std::collections::HashMap;

/// Base pages of a region.
const PAGES: u64 = 512;

/// Which region each page lies in.
#[derive(Clone, Debug)]
pub(crate) struct Regions {
    of_unit: Vec<UnitId>,
}

impl Regions {
    /// Of the units of a recording of single pages, in the order of their numbers.
    pub(crate) fn of(units: &[UnitKey]) -> Self {
        let mut numbers: HashMap<(ObjectId, u64), UnitId> = HashMap::new();
        let number = |key: &UnitKey| {
            let next = UnitId(u32::try_from(numbers.len()).unwrap_or(u32::MAX));
            *numbers.entry((key.object, key.index / PAGES)).or_insert(next)
        };
        Self { of_unit: units.iter().map(number).collect() }
    }

    /// The heat of an epoch by regions.
    pub(crate) fn heat(&self, pages: &EpochHeat) -> EpochHeat {
        let region = |row: usize| self.of_unit[pages.unit[row].index()];
        let mut rows: Vec<usize> = (0..pages.len()).collect();
        rows.sort_by_key(|row| region(*row));
        let mut heat = EpochHeat::new(pages.epoch);
        for of_region in rows.chunk_by(|a, b| region(*a) == region(*b)) {
            let sum = |column: &[f32]| of_region.iter().map(|row| column[*row]).sum::<f32>();
            let count = |column: &[u16]| of_region.iter().map(|row| column[*row]).sum::<u16>();
            let all =
                of_region.iter().fold(HeatFlags::default(), |all, row| all | pages.flags[*row]);
            let accessed = all.has(HeatFlags::ACCESSED);
            heat.push(HeatRow {
                unit: region(of_region[0]),
                rate: sum(&pages.rate),
                // One page that was seen makes the region seen.
                flags: if accessed { all.without(HeatFlags::UNSEEN) } else { all },
                pages: count(&pages.pages),
                watched: count(&pages.watched),
                touched: count(&pages.touched),
                node: pages.node[of_region[0]],
            });
            let measured = [
                (&mut heat.traffic, &pages.traffic),
                (&mut heat.accesses, &pages.accesses),
                (&mut heat.leads, &pages.leads),
                (&mut heat.writes, &pages.writes),
            ];
            for (sums, column) in measured.into_iter().filter(|(_, column)| !column.is_empty()) {
                sums.push(sum(column));
            }
        }
        heat
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pagetide_types::{EpochId, NodeId};

    #[test]
    fn nothing_is_lost_when_pages_are_taken_together() {
        let key = |object, index| UnitKey { object: ObjectId(object), index };
        let regions = Regions::of(&[key(0, 511), key(0, 512), key(1, 0), key(0, 513)]);
        let mut pages = EpochHeat::new(EpochId(2));
        for unit in 0..4u16 {
            pages.push(HeatRow {
                unit: UnitId(unit.into()),
                rate: f32::from(unit) + 1.0,
                flags: HeatFlags::SAMPLED
                    | if unit == 3 { HeatFlags::ACCESSED } else { HeatFlags::UNSEEN },
                pages: 1,
                watched: 1,
                touched: u16::from(unit == 3),
                node: NodeId(0),
            });
            pages.traffic.push(f32::from(unit) * 10.0);
        }
        let heat = regions.heat(&pages);
        assert_eq!(heat.unit, [0, 1, 2].map(UnitId));
        assert_eq!((heat.pages, heat.rate), (vec![1, 2, 1], vec![1.0, 6.0, 3.0]));
        assert_eq!(heat.traffic, [0.0, 40.0, 20.0]);
        assert!(heat.leads.is_empty());
        assert!(heat.flags[1].has(HeatFlags::ACCESSED) && !heat.flags[1].has(HeatFlags::UNSEEN));
        assert!(heat.flags[0].has(HeatFlags::UNSEEN));
    }
}
