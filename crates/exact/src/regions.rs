//! What was counted in the epoch under way, by regions of 2 MiB and the units in them.

use crate::{expected::Expected, shared::Counts};
use pagetide_types::{
    EpochHeat, EpochId, HeatFlags, HeatRow, NodeId, ObjectId, UnitId, UnitKey, UnitSize,
};
use std::collections::HashMap;

/// Base pages of a region.
const PAGES: u64 = 512;

/// One bit for each base page of a region.
#[derive(Clone, Copy, Debug, Default)]
struct Mask([u64; 8]);

impl Mask {
    fn set(&mut self, page: usize) {
        self.0[page / 64] |= 1 << (page % 64);
    }
    fn has(&self, page: usize) -> bool {
        self.0[page / 64] >> (page % 64) & 1 != 0
    }
    fn count(&self) -> u16 {
        u16::try_from(self.0.iter().map(|word| word.count_ones()).sum::<u32>()).unwrap_or(0)
    }
}

/// Counts of a unit in an epoch.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    accesses: u64,
    misses: u64,
    leads: u64,
    /// Lines that the caches wrote back.
    writes: u64,
}

/// A region of 2 MiB of an object.
#[derive(Debug)]
struct Region {
    /// How many pages the thread that accessed it first had accessed before, or of several the least; of what none
    /// accessed, as the kernel may have filled it, the most.
    first: usize,
    resident: Mask,
    touched: Mask,
    dirty: Mask,
    /// The number of each of its units (one, or 512), once it has one.
    units: Box<[Option<UnitId>]>,
    sums: Box<[Sums]>,
    expected: Box<[Expected]>,
}

/// All regions that were met.
#[derive(Debug)]
pub(crate) struct Regions {
    size: UnitSize,
    by_place: HashMap<(ObjectId, u64), usize>,
    regions: Vec<((ObjectId, u64), Region)>,
    /// So many of them were met before the epoch under way.
    before: usize,
    units: u32,
    pub(crate) new_units: Vec<UnitKey>,
}

impl Regions {
    pub(crate) fn new(size: UnitSize) -> Self {
        Self {
            size,
            by_place: HashMap::new(),
            regions: Vec::new(),
            before: 0,
            units: 0,
            new_units: Vec::new(),
        }
    }

    /// The region of a page of an object, and the page's place in it.
    fn at(&mut self, object: ObjectId, page: u64) -> (&mut Region, usize) {
        let place = (object, page / PAGES);
        let next = self.regions.len();
        let at = *self.by_place.entry(place).or_insert(next);
        if at == next {
            let units = usize::try_from(PAGES).unwrap_or(0) / usize::from(self.size.pages());
            let region = Region {
                first: usize::MAX,
                resident: Mask::default(),
                touched: Mask::default(),
                dirty: Mask::default(),
                units: vec![None; units].into(),
                sums: vec![Sums::default(); units].into(),
                expected: vec![Expected::default(); units].into(),
            };
            self.regions.push((place, region));
        }
        (&mut self.regions[at].1, usize::try_from(page % PAGES).unwrap_or(0))
    }

    /// Adds what was counted of a page of an object; `at`: how many pages its thread had accessed before.
    pub(crate) fn count(&mut self, object: ObjectId, (page, at): (u64, usize), counts: &Counts) {
        let per_unit = usize::from(self.size.pages());
        let (region, page) = self.at(object, page);
        region.first = region.first.min(at);
        if counts.accesses > 0 {
            region.touched.set(page);
        }
        if counts.dirty {
            region.dirty.set(page);
        }
        let sums = &mut region.sums[page / per_unit];
        sums.accesses += counts.accesses;
        sums.misses += u64::from(counts.misses);
        sums.leads += u64::from(counts.leads);
        sums.writes += u64::from(counts.writes);
    }

    /// A page of an object is resident.
    pub(crate) fn reside(&mut self, object: ObjectId, page: u64) {
        let (region, page) = self.at(object, page);
        region.resident.set(page);
    }

    /// Puts regions that were met in the epoch into the order in which they were accessed first, for what is first seen in
    /// one epoch is numbered in it, and first touch goes by that. Of several threads it is only known how many pages each
    /// had accessed by then.
    fn in_order(&mut self) {
        let met = &mut self.regions[self.before..];
        met.sort_unstable_by_key(|(place, region)| (region.first, *place));
        let places = met.iter().zip(self.before..).map(|((place, _), at)| (*place, at));
        self.by_place.extend(places);
        self.before = self.regions.len();
    }

    /// The heat of an epoch that took `seconds` of the program's own time; the next begins.
    pub(crate) fn heat(&mut self, epoch: EpochId, seconds: f64) -> EpochHeat {
        self.in_order();
        let per_unit = self.size.pages();
        let mut rows = Vec::new();
        for (place, region) in &mut self.regions {
            for unit in 0..region.units.len() {
                let (pages, touched) = match per_unit {
                    1 => (region.resident.has(unit).into(), region.touched.has(unit).into()),
                    _ => (region.resident.count(), region.touched.count()),
                };
                // Of memory that is not there any more: what it was in this epoch.
                let pages = if pages == 0 { touched } else { pages };
                if pages == 0 {
                    // Lines of it that the caches write back now have no row to stand in; they
                    // are not what comes to lie there later.
                    region.sums[unit] = Sums::default();
                    continue;
                }
                let number = *region.units[unit].get_or_insert_with(|| {
                    let first = place.1 * PAGES / u64::from(per_unit);
                    self.new_units.push(UnitKey { object: place.0, index: first + unit as u64 });
                    self.units += 1;
                    UnitId(self.units - 1)
                });
                let dirty = match per_unit {
                    1 => region.dirty.has(unit),
                    _ => region.dirty.count() > 0,
                };
                let mut flags = HeatFlags::SAMPLED;
                if touched > 0 {
                    flags |= HeatFlags::ACCESSED;
                }
                if dirty {
                    flags |= HeatFlags::DIRTY;
                }
                let sums = std::mem::take(&mut region.sums[unit]);
                let row = HeatRow {
                    unit: number,
                    rate: single(region.expected[unit].learn(sums.misses, seconds)),
                    flags,
                    pages,
                    watched: pages,
                    touched: touched.min(pages),
                    node: NodeId(0),
                };
                rows.push((row, sums));
            }
            region.resident = Mask::default();
            region.touched = Mask::default();
        }
        rows.sort_unstable_by_key(|(row, _)| row.unit);
        let mut heat = EpochHeat::with_capacity(epoch, rows.len());
        for (row, sums) in rows {
            heat.push(row);
            heat.traffic.push(rate(sums.misses, seconds));
            heat.accesses.push(rate(sums.accesses, seconds));
            heat.leads.push(rate(sums.leads, seconds));
            heat.writes.push(rate(sums.writes, seconds));
        }
        heat
    }
}

/// Per second.
fn rate(count: u64, seconds: f64) -> f32 {
    single(count as f64 / seconds.max(1e-9))
}

#[expect(clippy::cast_possible_truncation, reason = "24 bits of a rate are enough")]
fn single(rate: f64) -> f32 {
    rate as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(accesses: u64, misses: u32) -> Counts {
        Counts { accesses, misses, leads: misses / 2, writes: 1, dirty: true }
    }

    #[test]
    fn units_get_what_their_pages_got() {
        let mut regions = Regions::new(UnitSize::Huge);
        let object = ObjectId(3);
        for page in [1024, 1025, 1026] {
            regions.reside(object, page);
        }
        regions.count(object, (1025, 0), &counts(100, 10));
        regions.count(object, (1025, 0), &counts(20, 0));
        let heat = regions.heat(EpochId(0), 2.0);
        assert_eq!(regions.new_units, [UnitKey { object, index: 2 }]);
        let row = heat.row(0);
        assert_eq!((row.pages, row.watched, row.touched, row.rate), (3, 3, 1, 5.0));
        assert_eq!((heat.accesses[0], heat.leads[0], heat.writes[0]), (60.0, 2.5, 1.0));
        assert!(row.flags.has(HeatFlags::SAMPLED | HeatFlags::ACCESSED | HeatFlags::DIRTY));

        // Nothing happened, and that is known.
        regions.reside(object, 1024);
        let heat = regions.heat(EpochId(1), 2.0);
        assert_eq!((heat.traffic[0], heat.row(0).pages), (0.0, 1));
        assert!(!heat.row(0).flags.has(HeatFlags::ACCESSED));
        assert!(!heat.row(0).flags.has(HeatFlags::UNSEEN));
        assert!(regions.heat(EpochId(2), 2.0).is_empty(), "it is gone");
    }

    #[test]
    fn lines_are_written_back_when_their_page_is_not_accessed() {
        let late = Counts { writes: 3, ..Counts::default() };
        let mut regions = Regions::new(UnitSize::Base);
        let object = ObjectId(0);
        regions.reside(object, 7);
        regions.count(object, (7, 0), &late);
        let heat = regions.heat(EpochId(0), 1.0);
        assert_eq!((heat.writes[0], heat.traffic[0], heat.row(0).touched), (3.0, 0.0, 0));
        assert!(!heat.row(0).flags.has(HeatFlags::ACCESSED));

        // Of memory that is gone, and of what comes to lie there.
        regions.count(object, (7, 0), &late);
        assert!(regions.heat(EpochId(1), 1.0).is_empty());
        regions.reside(object, 7);
        assert_eq!(regions.heat(EpochId(2), 1.0).writes, [0.0]);
    }

    #[test]
    fn single_pages_are_units_of_their_own_and_regions_numbered_as_they_were_accessed_first() {
        let mut regions = Regions::new(UnitSize::Base);
        let object = ObjectId(0);
        // Of two threads: one accessed 1024 and then 513, the other many pages before 512.
        regions.count(object, (1024, 0), &counts(2, 2));
        regions.count(object, (513, 1), &counts(4, 4));
        regions.count(object, (512, 9), &counts(1, 1));
        regions.reside(object, 5);
        let heat = regions.heat(EpochId(0), 1.0);
        let index = |regions: &Regions| -> Vec<u64> {
            regions.new_units.iter().map(|key| key.index).collect()
        };
        assert_eq!(index(&regions), [1024, 512, 513, 5]);
        assert_eq!((heat.row(2).rate, heat.row(2).pages), (4.0, 1));
        assert_eq!((heat.row(3).rate, heat.row(3).touched), (0.0, 0));
        // What was met before keeps its number.
        regions.count(object, (513, 1), &counts(8, 8));
        regions.reside(ObjectId(1), 600);
        regions.reside(object, 2000);
        let heat = regions.heat(EpochId(1), 1.0);
        let rows: Vec<u32> = heat.unit.iter().map(|unit| unit.0).collect();
        assert_eq!((rows, heat.rate[0] > 4.0), (vec![2, 4, 5], true));
        assert_eq!(
            regions.new_units[4..],
            [(object, 2000), (ObjectId(1), 600)].map(|(object, index)| UnitKey { object, index })
        );
    }
}
