//! From regions to units: what several mappings and processes show of one unit becomes one row.

use crate::survey::measured::Measured;
use crate::target::region::Region;
use pagetide_types::{EpochHeat, EpochId, HeatFlags, HeatRow, NodeId, UnitId};

#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    seen: bool,
    process: usize,
    /// Resident pages by the process at hand, and most by any: the same pages mapped twice
    /// count once, different parts of a unit add up.
    here: u16,
    most: u16,
    /// The same of pages whose bits cannot be cleared.
    unknown_here: u16,
    unknown_most: u16,
    rate: f32,
    least: f32,
    in_order: f32,
    traffic: f64,
    flags: HeatFlags,
    /// A part was not watched and may have been accessed.
    open: bool,
    watched: u16,
    touched: u16,
    node: NodeId,
}

/// Accumulates the heat of one epoch; kept between epochs for its storage.
#[derive(Debug, Default)]
pub(crate) struct HeatTable {
    sums: Vec<Sum>,
}

impl HeatTable {
    /// Forgets the last epoch; units are numbered below `units`.
    pub(crate) fn begin(&mut self, units: usize) {
        self.sums.clear();
        self.sums.resize(units, Sum::default());
    }

    /// Adds a region; regions come sorted by process. `cores`: CPU time that its process used per
    /// second of the epoch.
    pub(crate) fn add(&mut self, region: &Region, measured: Option<&Measured>, cores: f32) {
        let sum = &mut self.sums[region.unit.index()];
        if !sum.seen || sum.process != region.process {
            (sum.here, sum.unknown_here) = (0, 0);
        }
        sum.seen = true;
        sum.process = region.process;
        sum.here = (sum.here + region.present).min(512);
        sum.most = sum.most.max(sum.here);
        sum.node = region.node;
        let mut flags = HeatFlags::default();
        if region.dirty {
            flags |= HeatFlags::DIRTY;
        }
        if region.huge {
            flags |= HeatFlags::HUGE;
        }
        if region.unknown() {
            flags |= HeatFlags::UNCLEARED;
            sum.unknown_here += region.present;
        } else {
            sum.unknown_here += region.shared();
            let expected = region.rate.unwrap_or(0.0) * cores;
            sum.rate += expected;
            sum.in_order += expected * region.in_order;
            sum.least += if region.rate.is_some() { region.least * cores } else { 0.0 };
            if region.charged_as_expected() {
                sum.traffic += f64::from(expected);
            }
            if region.huge && region.history.is_too_hot_to_measure() {
                flags |= HeatFlags::SATURATED;
            }
        }
        sum.unknown_here = sum.unknown_here.min(512);
        sum.unknown_most = sum.unknown_most.max(sum.unknown_here);
        let measured = measured.filter(|_| !region.unknown());
        if let Some(measured) = measured.filter(|_| !region.charged_as_expected()) {
            sum.traffic += measured.charged * f64::from(cores);
        }
        if let Some(measured) = measured.filter(|measured| !measured.partly) {
            flags |= HeatFlags::SAMPLED;
            if measured.accessed {
                flags |= HeatFlags::ACCESSED;
            }
            if measured.saturated {
                flags |= HeatFlags::SATURATED;
            }
            sum.watched = (sum.watched + measured.pages).min(512);
            sum.touched = (sum.touched + measured.touched.min(measured.pages)).min(512);
        } else {
            sum.open |= may_be_accessed(region.rate, cores);
        }
        sum.flags |= flags;
    }

    /// All processes together map so many pages of a unit, not each of them all.
    pub(crate) fn mapped_together(&mut self, unit: UnitId, pages: u16) {
        let sum = &mut self.sums[unit.index()];
        if sum.seen && pages > sum.most {
            // What is unknown of what one maps is of what all map, as far as anybody can tell.
            if sum.unknown_most == sum.most {
                sum.unknown_most = pages;
            }
            sum.most = pages;
        }
    }

    /// Adds a unit that no process maps, so that none accesses it.
    pub(crate) fn add_unmapped(&mut self, unit: UnitId, pages: u16) {
        self.sums[unit.index()] = Sum {
            seen: true,
            most: pages,
            watched: pages,
            flags: HeatFlags::SAMPLED,
            ..Sum::default()
        };
    }

    /// The epoch's heat, units ascending.
    pub(crate) fn finish(&self, epoch: EpochId) -> EpochHeat {
        let mut heat = EpochHeat::new(epoch);
        (0u32..)
            .map(UnitId)
            .take(self.sums.len())
            .for_each(|unit| self.add_row(unit, unit, &mut heat));
        heat
    }

    /// Appends the row of a unit, if it has one, under a number.
    pub(crate) fn add_row(&self, unit: UnitId, number: UnitId, heat: &mut EpochHeat) {
        let sum = &self.sums[unit.index()];
        if !sum.seen || sum.most == 0 {
            return;
        }
        let flags = concluded(sum.flags, sum.open);
        let sampled = flags.has(HeatFlags::SAMPLED);
        heat.push(HeatRow {
            unit: number,
            rate: sum.rate,
            flags,
            pages: sum.most,
            watched: if sampled { sum.watched.min(sum.most) } else { 0 },
            touched: if sampled { sum.touched.min(sum.most) } else { 0 },
            node: sum.node,
        });
        heat.least.push(sum.least);
        heat.in_order.push(sum.in_order);
        #[expect(clippy::cast_possible_truncation, reason = "a rate")]
        heat.traffic.push(sum.traffic as f32);
    }

    /// Resident pages of this epoch whose bits could not be cleared.
    pub(crate) fn uncleared_pages(&self) -> u64 {
        self.sums.iter().map(|sum| u64::from(sum.unknown_most)).sum()
    }
}

/// Whether a part of a unit that was not watched may have been accessed all the same: nobody has
/// ever looked, or it was accessed before; and its process ran.
pub(crate) fn may_be_accessed(rate: Option<f32>, cores: f32) -> bool {
    cores > 0.0 && rate != Some(0.0)
}

/// What the flags of all parts of a unit say of the whole: one part that was seen makes it seen,
/// but as long as one is unknown, or was not watched (`open`), nobody knows that it was not.
pub(crate) fn concluded(flags: HeatFlags, open: bool) -> HeatFlags {
    if !flags.has(HeatFlags::SAMPLED) || flags.has(HeatFlags::ACCESSED) {
        flags
    } else if flags.has(HeatFlags::UNCLEARED) || open {
        HeatFlags(flags.0 & !HeatFlags::SAMPLED.0)
    } else {
        flags | HeatFlags::UNSEEN
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::survey::mixture::{Brackets, flat};
    use crate::survey::visit::Visit;
    use crate::walk::row::Range;

    fn region(process: usize, start: u64, present: u16, rate: f32) -> Region {
        let range = Range { start, end: start + u64::from(present) * 4096 };
        Region { process, range, present, rate: Some(rate), ..Region::whole(0, false) }
    }

    #[test]
    fn shared_pages_count_once_and_their_rates_add_up() {
        let mut table = HeatTable::default();
        table.begin(1);
        table.add(&region(0, 0, 300, 5.0), None, 1.0);
        table.add(&region(1, 0x1000_0000, 300, 7.0), None, 1.0);
        let heat = table.finish(EpochId(0));
        assert_eq!((heat.pages[0], heat.rate[0]), (300, 12.0));
        assert_eq!(table.uncleared_pages(), 0);
        // A third process has locked them, and a fourth a part of them.
        let locked =
            |process, present| Region { uncleared: true, ..region(process, 0, present, 0.0) };
        table.add(&locked(2, 300), None, 1.0);
        table.add(&locked(3, 200), None, 1.0);
        assert_eq!((table.finish(EpochId(0)).pages[0], table.uncleared_pages()), (300, 300));
    }

    #[test]
    fn a_sample_that_stays_the_same_is_charged_as_the_rest_is() {
        let seen = Measured { pages: 300, accessed: true, ..Measured::default() };
        let charged = |sparse, measured| {
            let mut table = HeatTable::default();
            table.begin(1);
            let region = Region { sparse, ..region(0, 0, 300, 5.0) };
            table.add(&region, measured, 2.0);
            table.finish(EpochId(0)).traffic[0]
        };
        assert_eq!((charged(true, None), charged(true, Some(&seen))), (10.0, 10.0), "as expected");
        assert_eq!((charged(false, None), charged(false, Some(&seen))), (0.0, 0.0), "as measured");
    }

    #[test]
    fn a_huge_page_that_is_too_hot_to_measure_is_marked_whether_this_epoch_looked_or_not() {
        let marked = |seen: u16, measured: Option<&Measured>| {
            let mut looks = Visit { pages: 1, huge: true, ..Visit::default() };
            [26e3, 1e6].into_iter().for_each(|gap_ns| looks.take(gap_ns, seen, None));
            let mut brackets = Brackets::default();
            (0..4).for_each(|_| brackets.add(&looks));
            let mut region = Region { rate: Some(5.0), ..Region::whole(0, true) };
            region.history.learn(&brackets, &flat(), true);
            let mut table = HeatTable::default();
            table.begin(1);
            table.add(&region, measured, 1.0);
            table.finish(EpochId(0)).flags[0].has(HeatFlags::SATURATED)
        };
        let looked = Measured { pages: 512, ..Measured::default() };
        assert_eq!([None, Some(&looked)].map(|measured| marked(1, measured)), [true; 2]);
        assert_eq!([None, Some(&looked)].map(|measured| marked(0, measured)), [false; 2]);
    }

    #[test]
    fn glimpses_of_pages_that_differ_tell_traffic_and_nothing_else() {
        let mut table = HeatTable::default();
        table.begin(1);
        let (pages, charged) = (64, 700.0);
        let seen = Measured { pages, charged, accessed: true, partly: true, ..Measured::default() };
        table.add(&region(0, 0, 512, 5.0), Some(&seen), 2.0);
        let heat = table.finish(EpochId(0));
        assert_eq!((heat.traffic[0], heat.flags[0]), (1400.0, HeatFlags::default()));
        assert_eq!((heat.watched[0], heat.touched[0]), (0, 0));
    }

    #[test]
    fn a_unit_with_an_unknown_part_is_not_unseen() {
        let (sampled, unknown) = (HeatFlags::SAMPLED, HeatFlags::UNCLEARED);
        assert_eq!(concluded(sampled, false), sampled | HeatFlags::UNSEEN);
        assert_eq!(concluded(sampled | unknown, false), unknown);
        let seen = sampled | HeatFlags::ACCESSED | unknown;
        assert_eq!(concluded(seen, true), seen);
    }

    #[test]
    fn a_unit_with_a_part_that_nobody_watched_is_not_idle() {
        // Two processes map the same pages; of the second it was seen that it does not touch them.
        let flags = |rate, cores| {
            let mut table = HeatTable::default();
            table.begin(1);
            table.add(&region(0, 0, 300, rate), None, cores);
            let second = region(1, 0x1000_0000, 300, 0.0);
            let sample = Measured { pages: 300, ..Measured::default() };
            table.add(&second, Some(&sample), 1.0);
            table.finish(EpochId(0)).flags[0]
        };
        assert_eq!(flags(5.0, 1.0), HeatFlags::default());
        let unseen = HeatFlags::SAMPLED | HeatFlags::UNSEEN;
        assert_eq!(flags(0.0, 1.0), unseen, "nor did the first when it was watched");
        assert_eq!(flags(5.0, 0.0), unseen, "it did not run");
    }

    #[test]
    fn what_several_processes_map_parts_of_is_as_large_as_all_parts() {
        let pages = |uncleared| {
            let mut table = HeatTable::default();
            table.begin(1);
            table.add(&Region { uncleared, ..region(0, 0, 300, 5.0) }, None, 1.0);
            table.mapped_together(UnitId(0), 400);
            (table.finish(EpochId(0)).pages[0], table.uncleared_pages())
        };
        assert_eq!((pages(false), pages(true)), ((400, 0), (400, 400)));
    }

    #[test]
    fn what_nobody_maps_was_watched_and_not_accessed() {
        let mut table = HeatTable::default();
        table.begin(1);
        table.add_unmapped(UnitId(0), 300);
        let heat = table.finish(EpochId(0));
        assert_eq!(heat.flags, [HeatFlags::SAMPLED | HeatFlags::UNSEEN]);
        assert_eq!((heat.pages[0], heat.watched[0], heat.touched[0]), (300, 300, 0));
        assert_eq!((heat.rate[0], table.uncleared_pages()), (0.0, 0));
    }

    #[test]
    fn parts_of_a_unit_in_one_process_add_up() {
        let mut table = HeatTable::default();
        table.begin(2);
        table.add(&region(0, 0, 100, 1.0), None, 1.0);
        table.add(&region(0, 0x10_0000, 50, 1.0), None, 1.0);
        let heat = table.finish(EpochId(0));
        assert_eq!(heat.pages, [150], "and a unit without regions has no row");
    }
}
