//! What memory belongs to: numbers for address spaces and files, and the areas that were seen.

use pagetide_host::{Area as MapArea, Dev, Perms};
use pagetide_trace::Area;
use pagetide_types::{ObjectId, UnitSize};
use std::collections::HashMap;

/// What memory belongs to, beyond the life of a mapping.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Thing {
    /// The private memory of the n-th address space.
    Private(u64),
    /// A file or shared memory.
    File(Dev, u64),
}

/// Where the pages of an area lie: the object, and the page's number in it less that of the
/// address, modulo 2^64. The number of a page of private memory is that of its address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mapping {
    pub(crate) object: ObjectId,
    pub(crate) shift: u64,
}

/// Gives numbers to objects, and collects areas that are new.
#[derive(Debug)]
pub(crate) struct Objects {
    size: UnitSize,
    numbers: HashMap<Thing, ObjectId>,
    /// By object and first unit: how far the area is known to reach.
    areas: HashMap<(ObjectId, u64), u64>,
    pub(crate) new_areas: Vec<Area>,
}

impl Objects {
    pub(crate) fn new(size: UnitSize) -> Self {
        Self { size, numbers: HashMap::new(), areas: HashMap::new(), new_areas: Vec::new() }
    }

    fn number(&mut self, thing: Thing) -> ObjectId {
        let next = ObjectId(u32::try_from(self.numbers.len()).unwrap_or(u32::MAX));
        *self.numbers.entry(thing).or_insert(next)
    }

    /// The private memory of an address space.
    pub(crate) fn private(&mut self, space: u64) -> Mapping {
        Mapping { object: self.number(Thing::Private(space)), shift: 0 }
    }

    /// What an area of an address space maps. Private writable mappings of files hold copies,
    /// which belong to the process.
    pub(crate) fn mapping(&mut self, space: u64, area: &MapArea) -> Mapping {
        let shared = area.perms.has(Perms::SHARED) || !area.perms.has(Perms::WRITE);
        match area.backing() {
            Some((dev, inode)) if shared => Mapping {
                object: self.number(Thing::File(dev, inode)),
                shift: (area.offset >> 12).wrapping_sub(area.start.0 >> 12),
            },
            _ => self.private(space),
        }
    }

    /// Notes an area whose `first` and `end` are numbers of pages, unless it is known to reach as
    /// far.
    pub(crate) fn note(&mut self, mut area: Area) {
        let shift = self.size.shift() - 12;
        area.first >>= shift;
        area.end = ((area.end - 1) >> shift) + 1;
        let known = self.areas.entry((area.object, area.first)).or_insert(0);
        if *known < area.end {
            *known = area.end;
            self.new_areas.push(area);
        }
    }
}
