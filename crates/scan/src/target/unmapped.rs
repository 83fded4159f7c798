//! Shared memory that the kernel holds and no process of the target maps: the cold pages of a buffer pool, whose last
//! user has ended. No page table leads to them; how much there is in all says the file behind the memory. It counts as
//! watched and not accessed, for whoever accesses a page maps it.

use crate::pages::{Mask, REGION};
use crate::target::units::{Mapping, Units};
use pagetide_host::{Area as MapArea, Host, Maps};
use pagetide_trace::Area;
use pagetide_types::{AreaKind, Bytes, EpochId, ObjectId, Pid, UnitId, UnitKey, UnitSize};
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

const PAGE: u64 = 4096;

/// See the module; as of the last walk of what is resident.
#[derive(Debug, Default)]
pub(crate) struct Unmapped(BTreeMap<ObjectId, Shared>);

/// Some shared memory, in base pages.
#[derive(Debug)]
struct Shared {
    /// What the kernel holds of it; none if that is not known.
    held: Option<u64>,
    /// The part of it that areas map, whether they touch it or not; none as long as nobody is known to.
    within: Option<Range<u64>>,
    /// By unit, what processes map.
    mapped: HashMap<UnitId, Mask>,
    /// What nobody maps, as an area of an object of its own.
    area: Area,
    /// The regions of 2 MiB of that object that have numbers.
    regions: Vec<UnitId>,
}

impl Shared {
    fn unmapped(&self) -> u64 {
        let within = self.within.as_ref().map_or(0, |within| within.end - within.start);
        let mapped = self.mapped.values().map(ones).sum();
        self.held.unwrap_or(0).min(within).saturating_sub(mapped)
    }
}

fn ones(mask: &Mask) -> u64 {
    mask.iter().map(|word| u64::from(word.count_ones())).sum()
}

fn of_region(pages: u64) -> u16 {
    u16::try_from(pages.min(REGION as u64)).unwrap_or(u16::MAX)
}

impl Unmapped {
    /// A walk begins.
    pub(crate) fn begin(&mut self) {
        for shared in self.0.values_mut() {
            (shared.held, shared.within) = (None, None);
            shared.mapped.clear();
        }
    }

    /// A process maps an area of shared memory. Of what was not met yet in this walk the kernel is asked what it holds.
    pub(crate) fn meet(
        &mut self,
        host: &Host,
        units: &mut Units,
        (area, maps): (&MapArea, &Maps),
        (pid, command, since): (Pid, &str, EpochId),
        mapping: Mapping,
    ) {
        if area.backing().is_none() {
            return;
        }
        let shared = self.0.entry(mapping.object).or_insert_with(|| Shared {
            held: None,
            within: None,
            mapped: HashMap::new(),
            area: Area {
                object: units.object_beside(mapping.object),
                first: 0,
                end: 0,
                kind: AreaKind::Shared,
                name: maps.name(area).into_owned(),
                pid,
                command: command.to_owned(),
                since,
                mapped: Some(false),
            },
            regions: Vec::new(),
        });
        let [first, end] =
            [area.start.0, area.end.0].map(|address| address.wrapping_add(mapping.shift) / PAGE);
        let within = shared.within.get_or_insert_with(|| {
            let held = host.held_behind(pid, area);
            shared.held = held.ok().map(|held| held.0 / PAGE);
            first..end
        });
        *within = within.start.min(first)..within.end.max(end);
    }

    /// Whether what nobody maps of an object is counted; none of it where that cannot be.
    pub(crate) fn is_counted(&self, object: ObjectId) -> bool {
        self.0.get(&object).is_none_or(|shared| shared.held.is_some())
    }

    /// A process maps these pages of a unit.
    pub(crate) fn mapped(&mut self, object: ObjectId, unit: UnitId, pages: &Mask) {
        if let Some(shared) = self.0.get_mut(&object) {
            let all = shared.mapped.entry(unit).or_default();
            all.iter_mut().zip(pages).for_each(|(all, pages)| *all |= pages);
        }
    }

    /// Units of shared memory, and how many of their pages some process maps.
    pub(crate) fn mapped_pages(&self) -> impl Iterator<Item = (UnitId, u16)> {
        let mapped = self.0.values().flat_map(|shared| &shared.mapped);
        mapped.map(|(unit, pages)| (*unit, of_region(ones(pages))))
    }

    /// How much nobody maps.
    pub(crate) fn bytes(&self) -> Bytes {
        Bytes(PAGE * self.0.values().map(Shared::unmapped).sum::<u64>())
    }

    /// The same as regions of 2 MiB, and how many pages each has: all but the last of an object are full. New ones
    /// get numbers, and are noted as areas.
    pub(crate) fn regions(&mut self, units: &mut Units, epoch: EpochId) -> Vec<(UnitId, u16)> {
        let mut all = Vec::new();
        for shared in self.0.values_mut() {
            let pages = shared.unmapped();
            let regions = pages.div_ceil(REGION as u64);
            if regions > shared.regions.len() as u64 {
                let more = shared.regions.len() as u64..regions;
                let object = shared.area.object;
                shared.regions.extend(more.map(|index| units.number(UnitKey { object, index })));
                shared.area.end = regions << (UnitSize::Huge.shift() - units.size().shift());
                units.new_areas.push(Area { since: epoch, ..shared.area.clone() });
            }
            let left = (0..regions).map(|index| of_region(pages - index * REGION as u64));
            all.extend(shared.regions.iter().copied().zip(left));
        }
        all
    }
}
