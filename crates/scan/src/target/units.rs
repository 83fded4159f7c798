//! Units and objects: what gets a number when it is first seen, and what is known of each unit.

use crate::pages::{Mask, REGION};
use pagetide_host::{Area as MapArea, Dev, Maps, Perms};
use pagetide_trace::Area;
use pagetide_types::{EpochId, ObjectId, Pid, UnitId, UnitKey, UnitSize};
use std::collections::HashMap;

/// What memory belongs to, beyond the life of a mapping.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Thing {
    /// The private memory of the n-th address space that was followed.
    Private(u64),
    /// A file or shared memory.
    File(Dev, u64),
    /// What nobody maps of an object.
    Unmapped(ObjectId),
}

/// A region of 2 MiB, and which of its pages have numbers.
#[derive(Debug)]
struct Region {
    key: UnitKey,
    numbered: Mask,
    /// It has a number as one unit, too.
    whole: bool,
}

/// Pages of one word of a region's mask that got their numbers together, one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Run {
    pub(crate) region: UnitId,
    pub(crate) word: usize,
    /// None: the number is that of the region as one unit.
    pub(crate) pages: u64,
    /// The number of the first of them.
    pub(crate) first: UnitId,
}

/// Gives numbers to objects and units and notes areas; what is new is collected for the recording.
#[derive(Debug, Default)]
pub(crate) struct Units {
    objects: HashMap<Thing, ObjectId>,
    numbers: HashMap<UnitKey, UnitId>,
    /// In recordings of single pages: the regions of 2 MiB, which have the numbers of units of
    /// 2 MiB, and the units in them.
    regions: Vec<Region>,
    runs: Vec<Run>,
    pages: u32,
    single_pages: bool,
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
        Mapping { object: self.object(thing), shift }
    }

    /// The object that holds what nobody maps of another one.
    pub(crate) fn object_beside(&mut self, object: ObjectId) -> ObjectId {
        self.object(Thing::Unmapped(object))
    }

    fn object(&mut self, thing: Thing) -> ObjectId {
        let next = ObjectId(u32::try_from(self.objects.len()).unwrap_or(u32::MAX));
        *self.objects.entry(thing).or_insert(next)
    }

    /// For a recording of units of this size.
    pub(crate) fn of(size: UnitSize) -> Self {
        Self { single_pages: size == UnitSize::Base, ..Self::default() }
    }

    /// The size of the recording's units.
    pub(crate) fn size(&self) -> UnitSize {
        if self.single_pages { UnitSize::Base } else { UnitSize::Huge }
    }

    /// The number of a unit of 2 MiB, or of a region; new units are noted.
    pub(crate) fn number(&mut self, key: UnitKey) -> UnitId {
        let next = UnitId(u32::try_from(self.numbers.len()).unwrap_or(u32::MAX));
        *self.numbers.entry(key).or_insert_with(|| {
            if self.single_pages {
                self.regions.push(Region { key, numbered: Mask::default(), whole: false });
            } else {
                self.new_units.push(key);
            }
            next
        })
    }

    /// Gives numbers to those of these pages of a region that have none.
    pub(crate) fn number_pages(&mut self, region: UnitId, pages: &Mask) {
        let Region { key, numbered, .. } = &mut self.regions[region.index()];
        for (word, (pages, numbered)) in pages.iter().zip(numbered).enumerate() {
            let pages = pages & !*numbered;
            if pages == 0 {
                continue;
            }
            *numbered |= pages;
            self.runs.push(Run { region, word, pages, first: UnitId(self.pages) });
            self.pages += pages.count_ones();
            let first = key.index * REGION as u64 + word as u64 * 64;
            self.new_units.extend(
                (0..64)
                    .filter(|bit| pages >> bit & 1 != 0)
                    .map(|bit| UnitKey { object: key.object, index: first + bit }),
            );
        }
    }

    /// Gives a number to a region as one unit, if it has none: another than those of its pages, for what is
    /// known of one is not true of the other.
    pub(crate) fn number_whole(&mut self, region: UnitId) {
        let Region { key, whole, .. } = &mut self.regions[region.index()];
        if !std::mem::replace(whole, true) {
            let index = key.index * REGION as u64;
            self.new_units.push(UnitKey { object: key.object, index });
            self.runs.push(Run { region, word: 0, pages: 0, first: UnitId(self.pages) });
            self.pages += 1;
        }
    }

    /// All numbered pages, in the order of their numbers.
    pub(crate) fn runs(&self) -> &[Run] {
        &self.runs
    }

    /// Units of 2 MiB, or regions, numbered so far.
    pub(crate) fn len(&self) -> usize {
        self.numbers.len()
    }

    /// Notes an area, unless it is known to reach as far. `mapped`: see [`Area::mapped`].
    pub(crate) fn note_area(
        &mut self,
        mapping: Mapping,
        (area, maps): (&MapArea, &Maps),
        (pid, command, epoch): (Pid, &str, EpochId),
        mapped: Option<bool>,
    ) {
        let unit_shift = self.size().shift();
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
            mapped,
        });
    }
}
