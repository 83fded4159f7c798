//! Which area a unit lies in.

use crate::Area;
use pagetide_types::{ObjectId, UnitKey};
use std::collections::HashMap;

/// Areas by object and place. Where several overlap, as when memory was unmapped and its
/// addresses used again, the one seen last counts.
#[derive(Clone, Debug, Default)]
pub struct AreaMap {
    objects: HashMap<ObjectId, Object>,
    seen: usize,
}

#[derive(Clone, Debug, Default)]
struct Object {
    /// With the order of sight; sorted by first unit.
    areas: Vec<(usize, Area)>,
    /// The greatest end among the areas up to each position.
    reach: Vec<u64>,
}

impl AreaMap {
    /// The map of `areas`, in order of sight.
    #[must_use]
    pub fn new(areas: &[Area]) -> Self {
        let mut map = Self::default();
        map.extend(areas);
        map
    }

    /// Adds areas that were seen later.
    pub fn extend(&mut self, areas: &[Area]) {
        for area in areas {
            let object = self.objects.entry(area.object).or_default();
            object.areas.push((self.seen, area.clone()));
            object.reach.clear();
            self.seen += 1;
        }
        for object in self.objects.values_mut().filter(|object| object.reach.is_empty()) {
            object.areas.sort_by_key(|(seen, area)| (area.first, *seen));
            let mut reach = 0;
            object.reach.extend(object.areas.iter().map(|(_, area)| {
                reach = area.end.max(reach);
                reach
            }));
        }
    }

    /// The area of `unit`, if any is known.
    #[must_use]
    pub fn find(&self, unit: UnitKey) -> Option<&Area> {
        let object = self.objects.get(&unit.object)?;
        let after = object.areas.partition_point(|(_, area)| area.first <= unit.index);
        (0..after)
            .rev()
            .take_while(|i| object.reach[*i] > unit.index)
            .map(|i| &object.areas[i])
            .filter(|(_, area)| area.end > unit.index)
            .max_by_key(|(seen, _)| *seen)
            .map(|(_, area)| area)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pagetide_types::{AreaKind, EpochId, Pid};
    use proptest::{collection::vec, prelude::*};

    fn area(object: u32, first: u64, end: u64, name: &str) -> Area {
        Area {
            object: ObjectId(object),
            first,
            end,
            kind: AreaKind::Anonymous,
            name: name.to_owned(),
            pid: Pid(1),
            command: String::new(),
            since: EpochId(0),
            mapped: None,
        }
    }

    #[test]
    fn the_area_seen_last_counts() {
        let mut map = AreaMap::new(&[area(0, 10, 20, "old"), area(1, 10, 20, "other")]);
        let name = |map: &AreaMap, index| {
            map.find(UnitKey { object: ObjectId(0), index }).map(|area| area.name.clone())
        };
        assert_eq!(name(&map, 15).as_deref(), Some("old"));
        map.extend(&[area(0, 12, 16, "new")]);
        assert_eq!(name(&map, 11).as_deref(), Some("old"));
        assert_eq!(name(&map, 15).as_deref(), Some("new"));
        assert_eq!(name(&map, 16).as_deref(), Some("old"));
        assert_eq!((name(&map, 9), name(&map, 20)), (None, None));
    }

    proptest! {
        #[test]
        fn the_same_as_looking_at_every_area(
            places in vec((0u32..3, 0u64..40, 0u64..20), 0..30),
            split in 0usize..30,
            object in 0u32..3,
            index in 0u64..60,
        ) {
            let areas: Vec<Area> = places
                .iter()
                .map(|(object, first, length)| area(*object, *first, first + length, ""))
                .collect();
            let (early, late) = areas.split_at(split.min(areas.len()));
            let mut map = AreaMap::new(early);
            map.extend(late);
            let expected = areas.iter().rev().find(|area| {
                area.object.0 == object && area.first <= index && index < area.end
            });
            prop_assert_eq!(map.find(UnitKey { object: ObjectId(object), index }), expected);
        }
    }
}
