//! Which units of a recording are the memory that its programs work on: of every address space the
//! largest anonymous area, if that is about as large as the largest of all.

use super::accessed::Epoch;
use pagetide_trace::EpochRecord;
use pagetide_types::{AreaKind, HeatFlags, HeatRow, ObjectId, UnitKey};
use std::collections::BTreeMap;

/// The memory of the programs in a recording.
pub(crate) struct Programs {
    /// By unit number: the program, and which unit of it.
    of_unit: Vec<Option<(usize, usize)>>,
    units: Vec<usize>,
}

const WHOLE: u16 = 512;

impl Programs {
    pub(crate) fn of(records: &[EpochRecord]) -> Self {
        let keys: Vec<UnitKey> =
            records.iter().flat_map(|record| &record.new_units).copied().collect();
        let mut largest: BTreeMap<ObjectId, (u64, u64)> = BTreeMap::new();
        for area in records.iter().flat_map(|record| &record.new_areas) {
            if area.kind == AreaKind::Anonymous {
                let entry = largest.entry(area.object).or_default();
                if area.end - area.first > entry.1 - entry.0 {
                    *entry = (area.first, area.end);
                }
            }
        }
        let mut whole = vec![false; keys.len()];
        let mut order: Vec<ObjectId> = Vec::new();
        let mut indices: BTreeMap<ObjectId, Vec<u64>> = BTreeMap::new();
        for row in records.iter().flat_map(|record| record.heat.rows()) {
            let key = keys[row.unit.index()];
            let within =
                largest.get(&key.object).is_some_and(|(a, b)| (*a..*b).contains(&key.index));
            if within && row.pages == WHOLE && !whole[row.unit.index()] {
                whole[row.unit.index()] = true;
                if !order.contains(&key.object) {
                    order.push(key.object);
                }
                indices.entry(key.object).or_default().push(key.index);
            }
        }
        let most = indices.values().map(Vec::len).max().unwrap_or(0);
        order.retain(|object| indices[object].len() * 10 >= most * 9);
        indices.values_mut().for_each(|indices| indices.sort_unstable());
        let place = |(key, whole): (&UnitKey, &bool)| {
            let program = order.iter().position(|object| *object == key.object)?;
            let unit = indices[&key.object].binary_search(&key.index).ok()?;
            whole.then_some((program, unit))
        };
        Self {
            of_unit: keys.iter().zip(&whole).map(place).collect(),
            units: order.iter().map(|object| indices[object].len()).collect(),
        }
    }

    /// The epoch of the last program whose memory is all there.
    pub(crate) fn epoch(&self, record: &EpochRecord) -> Epoch {
        let mut there = vec![0; self.units.len()];
        let place = |row: &HeatRow| self.of_unit[row.unit.index()].filter(|_| row.pages == WHOLE);
        for (program, _) in record.heat.rows().filter_map(|row| place(&row)) {
            there[program] += 1;
        }
        let program = there.iter().zip(&self.units).rposition(|(there, all)| there == all);
        let len = program.map_or(0, |program| self.units[program]);
        let (mut accessed, mut unwatched) = (vec![false; len], vec![false; len]);
        for row in record.heat.rows() {
            if let Some((owner, unit)) = place(&row)
                && Some(owner) == program
            {
                accessed[unit] = row.flags.has(HeatFlags::ACCESSED);
                unwatched[unit] = !row.flags.has(HeatFlags::SAMPLED);
            }
        }
        Epoch { program, length_s: record.epoch.length_s, accessed, unwatched }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pagetide_trace::Area;
    use pagetide_types::{EpochId, NodeId, Pid, UnitId};

    /// An epoch of units given as (object, index, pages, accessed), numbered by their first sight.
    fn record(keys: &mut Vec<UnitKey>, units: &[(u32, u64, u16, bool)]) -> EpochRecord {
        let mut record = EpochRecord::default();
        let mut rows = Vec::new();
        for (object, index, pages, accessed) in units {
            let key = UnitKey { object: ObjectId(*object), index: *index };
            let known = keys.iter().position(|other| *other == key);
            let unit = known.unwrap_or_else(|| {
                keys.push(key);
                record.new_units.push(key);
                keys.len() - 1
            });
            let seen = if *accessed { HeatFlags::ACCESSED } else { HeatFlags::UNSEEN };
            rows.push(HeatRow {
                unit: UnitId(u32::try_from(unit).unwrap()),
                rate: 0.0,
                flags: HeatFlags::SAMPLED | seen,
                pages: *pages,
                watched: *pages,
                touched: 0,
                node: NodeId(0),
            });
        }
        rows.sort_by_key(|row| row.unit);
        rows.into_iter().for_each(|row| record.heat.push(row));
        record.epoch.length_s = 0.5;
        record
    }

    #[test]
    fn programs_are_the_largest_anonymous_areas_while_all_of_them_is_there() {
        let area = |object, first, end, kind| Area {
            object: ObjectId(object),
            first,
            end,
            kind,
            name: String::new(),
            pid: Pid(1),
            command: String::new(),
            since: EpochId(0),
            mapped: None,
        };
        let mut keys = Vec::new();
        // Program 7 has the units 10 to 13 of an area that begins before, and a library.
        let first: Vec<_> = (10..14).map(|index| (7, index, 512, index == 11)).collect();
        let second: Vec<_> = (90..94).map(|index| (8, index, 512, true)).collect();
        let library = [(7, 50, 512, true), (7, 9, 3, true)];
        let mut records = vec![
            record(&mut keys, &first[..2]),
            record(&mut keys, &[&first[..], &library[..]].concat()),
            record(&mut keys, &[&first[2..], &second[..1]].concat()),
            record(&mut keys, &second),
        ];
        records[0].new_areas = vec![
            area(7, 9, 14, AreaKind::Anonymous),
            area(7, 50, 51, AreaKind::File),
            area(7, 20, 22, AreaKind::Anonymous),
            area(8, 90, 94, AreaKind::Anonymous),
        ];
        let programs = Programs::of(&records);
        let epochs: Vec<Epoch> = records.iter().map(|record| programs.epoch(record)).collect();
        let numbers: Vec<Option<usize>> = epochs.iter().map(|epoch| epoch.program).collect();
        assert_eq!(numbers, [None, Some(0), None, Some(1)]);
        assert_eq!(epochs[1].accessed, [false, true, false, false]);
        assert_eq!(epochs[3].accessed, [true; 4]);
        assert!(epochs[0].accessed.is_empty());
    }
}
