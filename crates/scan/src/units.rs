//! Units and objects: what gets a number when it is first seen, and what is known of each unit.

use pagetide_host::{Area as MapArea, Dev, Maps, Perms};
use pagetide_trace::Area;
use pagetide_types::{EpochId, ObjectId, Pid, UnitId, UnitKey};
use std::collections::HashMap;

/// What memory belongs to, beyond the life of a mapping.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Thing {
    /// The private memory of the n-th address space that was followed.
    Private(u64),
    /// A file or shared memory.
    File(Dev, u64),
}

/// Gives numbers to objects and units and notes areas; what is new is collected for the recording.
#[derive(Debug, Default)]
pub(crate) struct Units {
    objects: HashMap<Thing, ObjectId>,
    numbers: HashMap<UnitKey, UnitId>,
    areas: HashMap<(ObjectId, u64), u64>,
    pub(crate) new_units: Vec<UnitKey>,
    pub(crate) new_areas: Vec<Area>,
}

/// How an area's addresses become units of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mapping {
    pub(crate) object: ObjectId,
    /// Offset in the object less the address, modulo 2^64; the object's offset of an address of
    /// private memory is the address.
    pub(crate) shift: u64,
}

impl Units {
    /// The object that a mapped area belongs to. Private writable mappings of files hold copies,
    /// which belong to the process.
    pub(crate) fn mapping(&mut self, space: u64, area: &MapArea) -> Mapping {
        let shared = area.perms.has(Perms::SHARED) || !area.perms.has(Perms::WRITE);
        let (thing, shift) = match area.backing() {
            Some((dev, inode)) if shared => {
                (Thing::File(dev, inode), area.offset.wrapping_sub(area.start.0))
            }
            _ => (Thing::Private(space), 0),
        };
        let next = ObjectId(u32::try_from(self.objects.len()).unwrap_or(u32::MAX));
        Mapping { object: *self.objects.entry(thing).or_insert(next), shift }
    }

    /// The unit's number; new ones are noted.
    pub(crate) fn number(&mut self, key: UnitKey) -> UnitId {
        let next = UnitId(u32::try_from(self.numbers.len()).unwrap_or(u32::MAX));
        *self.numbers.entry(key).or_insert_with(|| {
            self.new_units.push(key);
            next
        })
    }

    /// Units numbered so far.
    pub(crate) fn len(&self) -> usize {
        self.numbers.len()
    }

    /// Notes an area, unless it is known to reach as far.
    pub(crate) fn note_area(
        &mut self,
        mapping: Mapping,
        area: &MapArea,
        maps: &Maps,
        unit_shift: u32,
        (pid, command, epoch): (Pid, &str, EpochId),
    ) {
        let first = area.start.0.wrapping_add(mapping.shift) >> unit_shift;
        let end = ((area.end.0.wrapping_add(mapping.shift) - 1) >> unit_shift) + 1;
        let known = self.areas.entry((mapping.object, first)).or_insert(0);
        if *known >= end {
            return;
        }
        *known = end;
        self.new_areas.push(Area {
            object: mapping.object,
            first,
            end,
            kind: area.kind,
            name: maps.name(area).into_owned(),
            pid,
            command: command.to_owned(),
            since: epoch,
        });
    }
}
