//! From regions to single pages: what several mappings and processes show of one page becomes one
//! row. It is done for every resident page in every epoch, so it goes by runs of pages whose
//! numbers follow each other, and looks at nothing but a rate and some bits of each.

use super::{Mask, Pages, REGION, turned};
use crate::recorder::heat::{concluded, may_be_accessed};
use crate::survey::measured::Measured;
use crate::target::region::Region;
use crate::target::units::{Run, Units};
use pagetide_types::{EpochHeat, EpochId, HeatFlags, NodeId, UnitId};

/// A region as it contributes to its pages.
struct Part<'a> {
    pages: &'a Pages,
    /// Its pages, by their number in the region of the unit.
    resident: Mask,
    /// Of all pages that can be cleared.
    flags: HeatFlags,
    /// It was observed at least once.
    known: bool,
    /// What is expected of all pages, or of the single ones, and what was measured of them.
    rate: f32,
    rates: Option<&'a [f32; REGION]>,
    traffic: f32,
    traffics: Option<&'a [f32; REGION]>,
    /// Bits of single pages count, by the numbers of [`Pages`].
    watched: Mask,
    shared: Mask,
    cores: f32,
    node: NodeId,
}

/// Accumulates the heat of one epoch.
#[derive(Debug, Default)]
pub(crate) struct PageHeat {
    /// Units of the last epoch.
    last: usize,
    uncleared: u64,
}

impl PageHeat {
    /// The epoch's heat of all resident pages of the regions. `measured`: what was seen of a
    /// region; `cores`: CPU time that its process used per second of the epoch, None if it is lost.
    pub(crate) fn collect<'a>(
        &mut self,
        epoch: EpochId,
        regions: &'a [Region],
        units: &mut Units,
        measured: impl Fn(usize) -> Option<&'a Measured>,
        cores: impl Fn(usize) -> Option<f32>,
    ) -> EpochHeat {
        let mut parts: Vec<(UnitId, Part<'a>)> = regions
            .iter()
            .enumerate()
            .filter_map(|(i, region)| {
                Some((region.unit, Part::of(region, measured(i), cores(region.process)?)?))
            })
            .collect();
        parts.sort_by_key(|(region, _)| *region);
        let mut of_region = vec![0..0; units.len()];
        let mut end = 0;
        for group in parts.chunk_by(|a, b| a.0 == b.0) {
            of_region[group[0].0.index()] = end..end + group.len();
            end += group.len();
            units.number_pages(group[0].0, &union(group));
        }
        let mut heat = EpochHeat::with_capacity(epoch, self.last + self.last / 16);
        for run in units.runs() {
            let group = &parts[of_region[run.region.index()].clone()];
            match group {
                [] => {}
                [(_, part)] => part.add_run(run, &mut heat),
                _ => add_shared_run(group, run, &mut heat),
            }
        }
        self.last = heat.len();
        heat.pages.resize(heat.unit.len(), 1);
        self.uncleared = 0;
        for flags in &mut heat.flags {
            *flags = concluded(*flags, false);
            self.uncleared += u64::from(flags.has(HeatFlags::UNCLEARED));
        }
        let count = |flag| heat.flags.iter().map(move |flags| u16::from(flags.has(flag)));
        heat.watched.extend(count(HeatFlags::SAMPLED));
        heat.touched.extend(count(HeatFlags::ACCESSED));
        heat
    }

    /// Resident pages of this epoch whose bits could not be cleared.
    pub(crate) fn uncleared_pages(&self) -> u64 {
        self.uncleared
    }
}

fn union(group: &[(UnitId, Part<'_>)]) -> Mask {
    std::array::from_fn(|i| group.iter().fold(0, |all, (_, part)| all | part.resident[i]))
}

impl<'a> Part<'a> {
    /// None where single pages are not recorded.
    fn of(region: &'a Region, measured: Option<&Measured>, cores: f32) -> Option<Self> {
        let pages = region.pages.as_deref()?;
        let measured = measured.filter(|_| !region.unknown());
        let mut flags = HeatFlags::default();
        if region.huge {
            // One accessed bit for all of them.
            flags |= HeatFlags::HUGE;
            if let Some(measured) = measured {
                flags |= HeatFlags::SAMPLED;
                if measured.accessed {
                    flags |= HeatFlags::ACCESSED;
                }
                if measured.saturated {
                    flags |= HeatFlags::SATURATED;
                }
            }
        }
        let all = [u64::MAX; 8];
        Some(Self {
            pages,
            resident: turned(&pages.resident, pages.skew),
            flags,
            known: region.rate.is_some(),
            rate: region.mean_rate() * cores,
            rates: pages.rates().filter(|_| !region.huge),
            // A huge page is charged with what is expected of it: one bit measures no traffic.
            traffic: region.mean_rate() * cores,
            traffics: pages.traffic().filter(|_| !region.huge),
            watched: if region.huge || measured.is_none() {
                Mask::default()
            } else {
                pages.watched
            },
            shared: if region.unknown() { all } else { pages.shared },
            cores,
            node: region.node,
        })
    }

    /// Rate, traffic and flags of a page, by its number in [`Pages`].
    #[inline]
    fn page(&self, page: usize) -> (f32, f32, HeatFlags) {
        let (word, bit) = (page / 64, page % 64);
        let set = |mask: &Mask, flag: HeatFlags| flag.0 * u8::from(mask[word] >> bit & 1 != 0);
        let dirty = HeatFlags(set(&self.pages.dirty, HeatFlags::DIRTY));
        if self.shared[word] >> bit & 1 != 0 {
            let huge = HeatFlags(self.flags.0 & HeatFlags::HUGE.0);
            return (0.0, 0.0, huge | dirty | HeatFlags::UNCLEARED);
        }
        let mut flags = self.flags | dirty;
        if self.watched[word] >> bit & 1 != 0 {
            flags |= HeatFlags::SAMPLED;
            flags |= HeatFlags(set(&self.pages.accessed, HeatFlags::ACCESSED));
        }
        let of = |each: Option<&[f32; REGION]>, all: f32| {
            each.map_or(all, |each| each[page] * self.cores)
        };
        let base = if self.flags.has(HeatFlags::HUGE) { self.traffic } else { 0.0 };
        (of(self.rates, self.rate), of(self.traffics, base), flags)
    }

    /// The number in [`Pages`] of a page of the region.
    fn number(&self, page: usize) -> usize {
        (page + REGION - self.pages.skew) % REGION
    }

    /// Appends the pages of a run of which this is the only region.
    fn add_run(&self, run: &Run, heat: &mut EpochHeat) {
        each(run, self.resident[run.word], |unit, page| {
            let (rate, traffic, flags) = self.page(self.number(page));
            heat.unit.push(unit);
            heat.rate.push(rate);
            heat.traffic.push(traffic);
            heat.flags.push(flags);
        });
        heat.node.resize(heat.unit.len(), self.node);
    }
}

/// Appends the pages of a run of which several regions hold some.
fn add_shared_run(group: &[(UnitId, Part<'_>)], run: &Run, heat: &mut EpochHeat) {
    each(run, union(group)[run.word], |unit, page| {
        let (mut sum, mut past, mut all, mut node) = (0.0, 0.0, HeatFlags::default(), NodeId(0));
        let mut open = false;
        for (_, part) in group {
            if part.resident[run.word] >> (page % 64) & 1 != 0 {
                let (rate, traffic, flags) = part.page(part.number(page));
                sum += rate;
                past += traffic;
                all |= flags;
                node = part.node;
                let watched = flags.has(HeatFlags::SAMPLED);
                open |= !watched && may_be_accessed(part.known.then_some(rate), part.cores);
            }
        }
        heat.unit.push(unit);
        heat.rate.push(sum);
        heat.traffic.push(past);
        heat.flags.push(concluded(all, open));
        heat.node.push(node);
    });
}

/// Calls `take` with the number and the place in the region of all resident pages of a run.
fn each(run: &Run, resident: u64, mut take: impl FnMut(UnitId, usize)) {
    let mut rest = run.pages & resident;
    while rest != 0 {
        let bit = rest.trailing_zeros();
        rest &= rest - 1;
        let before = run.pages & ((1u64 << bit) - 1);
        take(UnitId(run.first.0 + before.count_ones()), run.word * 64 + bit as usize);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pages::{Mask, Pages};
    use pagetide_types::{ObjectId, UnitKey, UnitSize};

    fn region(process: usize, region: u64, resident: &[usize], units: &mut Units) -> Region {
        let mut mask = Mask::default();
        resident.iter().for_each(|page| mask[page / 64] |= 1 << (page % 64));
        let unit = units.number(UnitKey { object: ObjectId(0), index: region });
        let pages = Pages { resident: mask, ..Pages::default() };
        Region {
            process,
            unit,
            present: u16::try_from(resident.len()).unwrap(),
            rate: Some(3.0 * resident.len() as f32),
            pages: Some(Box::new(pages)),
            ..Region::whole(0, false)
        }
    }

    fn collect(regions: &[Region], units: &mut Units) -> EpochHeat {
        PageHeat::default().collect(EpochId(0), regions, units, |_| None, |_| Some(2.0))
    }

    fn places(units: &mut Units) -> Vec<u64> {
        std::mem::take(&mut units.new_units).iter().map(|key| key.index).collect()
    }

    #[test]
    fn pages_are_numbered_when_they_are_first_seen() {
        let mut units = Units::of(UnitSize::Base);
        let regions = [region(0, 7, &[0, 2], &mut units), region(0, 9, &[511], &mut units)];
        let heat = collect(&regions, &mut units);
        assert_eq!(heat.unit, [0, 1, 2].map(UnitId));
        assert_eq!((heat.pages.as_slice(), heat.watched.as_slice()), (&[1; 3][..], &[0; 3][..]));
        assert_eq!(heat.rate, [6.0; 3], "per second of CPU time, two of them per second");
        assert_eq!(places(&mut units), [7 * 512, 7 * 512 + 2, 9 * 512 + 511]);
        // One more in the first region, one gone in the second.
        let regions = [region(0, 7, &[0, 1, 2], &mut units), region(0, 9, &[], &mut units)];
        assert_eq!(collect(&regions, &mut units).unit, [0, 1, 3].map(UnitId));
        assert_eq!(places(&mut units), [7 * 512 + 1]);
    }

    #[test]
    fn shared_pages_count_once_and_their_rates_add_up() {
        let mut units = Units::of(UnitSize::Base);
        let mut second = region(1, 7, &[3, 4], &mut units);
        // The same file at an address that is 4 pages off.
        second.pages.as_mut().unwrap().skew = 508;
        second.pages.as_mut().unwrap().resident = [0b1100_0000, 0, 0, 0, 0, 0, 0, 0];
        let regions = [region(0, 7, &[1, 2], &mut units), second];
        let heat = collect(&regions, &mut units);
        assert_eq!(places(&mut units), [7 * 512 + 1, 7 * 512 + 2, 7 * 512 + 3]);
        assert_eq!(heat.rate, [6.0, 12.0, 6.0]);
    }

    #[test]
    fn a_page_that_one_process_was_not_watched_on_is_not_idle() {
        let mut units = Units::of(UnitSize::Base);
        let busy = region(0, 7, &[3, 4], &mut units);
        let mut idle = Region { rate: Some(0.0), ..region(1, 7, &[4, 5], &mut units) };
        idle.pages.as_mut().unwrap().watched = [0b11_0000, 0, 0, 0, 0, 0, 0, 0];
        let sample = Measured { pages: 2, ..Measured::default() };
        let heat = PageHeat::default().collect(
            EpochId(0),
            &[busy, idle],
            &mut units,
            |region| (region == 1).then_some(&sample),
            |_| Some(2.0),
        );
        let unseen = HeatFlags::SAMPLED | HeatFlags::UNSEEN;
        assert_eq!(heat.flags, [HeatFlags::default(), HeatFlags::default(), unseen]);
        assert_eq!(heat.watched, [0, 0, 1]);
    }

    #[test]
    fn a_huge_page_is_512_pages_with_a_share_of_its_rate() {
        let mut units = Units::of(UnitSize::Base);
        let all: Vec<usize> = (0..512).collect();
        let huge = Region { huge: true, rate: Some(1024.0), ..region(0, 7, &all, &mut units) };
        let sample = Measured { pages: 512, accessed: true, ..Measured::default() };
        let heat = PageHeat::default().collect(
            EpochId(0),
            &[huge],
            &mut units,
            |_| Some(&sample),
            |_| Some(1.0),
        );
        assert_eq!(heat.len(), 512);
        let flags = HeatFlags::HUGE | HeatFlags::SAMPLED | HeatFlags::ACCESSED;
        assert!(heat.rows().all(|row| row.rate == 2.0 && row.flags == flags && row.touched == 1));
    }

    #[test]
    fn what_cannot_be_cleared_has_no_rate() {
        let mut units = Units::of(UnitSize::Base);
        let mut some = region(0, 7, &[0, 1], &mut units);
        some.pages.as_mut().unwrap().found_shared(&[2, 0, 0, 0, 0, 0, 0, 0]);
        let whole = Region { uncleared: true, ..region(0, 8, &[0], &mut units) };
        let mut table = PageHeat::default();
        let heat = table.collect(EpochId(0), &[some, whole], &mut units, |_| None, |_| Some(1.0));
        assert_eq!(heat.rate, [3.0, 0.0, 0.0]);
        assert_eq!(heat.flags[1..], [HeatFlags::UNCLEARED; 2]);
        assert_eq!(table.uncleared_pages(), 2);
    }
}
