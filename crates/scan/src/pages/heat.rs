//! From regions to single pages: what several mappings and processes show of one page becomes one
//! row. It is done for every resident page in every epoch, so it goes by runs of pages whose
//! numbers follow each other, and looks at nothing but a rate and some bits of each.

use super::{Mask, Pages, REGION, turned};
use crate::recorder::heat::{HeatTable, concluded, may_be_accessed};
use crate::survey::glimpse::Glimpsed;
use crate::survey::measured::Measured;
use crate::target::region::Region;
use crate::target::units::{Run, Units};
use pagetide_types::{EpochHeat, EpochId, HeatFlags, NodeId, UnitId};
use std::collections::HashMap;

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
    /// How many times that it is beside other regions, and which part of it at least, but for one chance in ten: what
    /// is off by chance is so for each page by itself, and evens out among those that move; what a visit is off by
    /// beyond that is the same for all of them.
    beside: f32,
    least_part: f32,
    /// Which part of the rate comes in order.
    in_order: f32,
    traffic: f32,
    traffics: Option<&'a [f32; REGION]>,
    /// Bits of single pages count, by the numbers of [`Pages`].
    watched: Mask,
    shared: Mask,
    cores: f32,
    node: NodeId,
    /// The walk's nodes, where not all pages lie on one.
    nodes: &'a [NodeId],
}

/// What a region adds to one page.
#[derive(Default)]
struct Page {
    rate: f32,
    least: f32,
    in_order: f32,
    traffic: f32,
    flags: HeatFlags,
}

/// What a region adds: its pages, or a part of its unit.
struct Piece<'a> {
    unit: UnitId,
    region: usize,
    cores: f32,
    part: Option<Part<'a>>,
}

/// What is known of the regions of an epoch.
pub(crate) struct Seen<'a, M, C> {
    pub(crate) regions: &'a [Region],
    /// What was measured of a region.
    pub(crate) measured: M,
    /// CPU time that a process used per second of the epoch, None if it is lost.
    pub(crate) cores: C,
    /// The walk's nodes.
    pub(crate) nodes: &'a [NodeId],
    /// Every page has a row; else those of a region that nobody has visited yet have one together, for nothing tells them
    /// apart.
    pub(crate) every_page: bool,
    /// Regions that no process maps, and how many pages they have.
    pub(crate) unmapped: &'a [(UnitId, u16)],
}

/// Accumulates the heat of one epoch.
#[derive(Debug, Default)]
pub(crate) struct PageHeat {
    /// Units of the last epoch.
    last: usize,
    uncleared: u64,
    /// Of regions that are one unit.
    whole: HeatTable,
    /// By region, what its rows were in the last epoch.
    forms: Vec<Form>,
}

/// What the rows of a region are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Form {
    /// It has none.
    #[default]
    Absent,
    /// One for all of it.
    Whole,
    /// One for each page.
    Pages,
}

impl PageHeat {
    /// The epoch's heat of all resident pages of the regions. Regions without pages, and those of the
    /// same unit, have one row together.
    pub(crate) fn collect<'a, M, C>(
        &mut self,
        epoch: EpochId,
        seen: &Seen<'a, M, C>,
        units: &mut Units,
    ) -> EpochHeat
    where
        M: Fn(usize) -> Option<&'a Measured>,
        C: Fn(usize) -> Option<f32>,
    {
        let piece = |(region, of): (usize, &'a Region)| {
            let cores = (seen.cores)(of.process)?;
            let visited = of.rate.is_some() && of.glimpsed == Glimpsed::Never;
            let told_apart = seen.every_page || visited || of.unknown();
            let part = told_apart
                .then(|| Part::of(of, (seen.measured)(region), cores, seen.nodes))
                .flatten();
            Some(Piece { unit: of.unit, region, cores, part })
        };
        let mut pieces: Vec<Piece<'a>> =
            seen.regions.iter().enumerate().filter_map(piece).collect();
        pieces.sort_by_key(|piece| piece.unit);
        let mut of_region = vec![0..0; units.len()];
        let mut end = 0;
        let mut forms = vec![Form::Absent; units.len()];
        self.whole.begin(units.len());
        for group in pieces.chunk_by(|a, b| a.unit == b.unit) {
            let unit = group[0].unit;
            of_region[unit.index()] = end..end + group.len();
            end += group.len();
            if is_whole(group) {
                forms[unit.index()] = Form::Whole;
                units.number_whole(unit);
                for piece in group {
                    let measured = (seen.measured)(piece.region);
                    self.whole.add(&seen.regions[piece.region], measured, piece.cores);
                }
            } else {
                forms[unit.index()] = Form::Pages;
                units.number_pages(unit, &union(group));
            }
        }
        let before = std::mem::replace(&mut self.forms, forms);
        let renumbered = |region: UnitId, forms: &[Form]| {
            let before = before.get(region.index()).copied().unwrap_or_default();
            before != Form::Absent && before != forms[region.index()]
        };
        for (region, pages) in seen.unmapped {
            units.number_pages(*region, &first_pages(*pages));
        }
        let unmapped: HashMap<UnitId, u16> = seen.unmapped.iter().copied().collect();
        let mut heat = EpochHeat::with_capacity(epoch, self.last + self.last / 16);
        self.uncleared = self.whole.uncleared_pages();
        for run in units.runs() {
            let group = &pieces[of_region[run.region.index()].clone()];
            if group.is_empty() {
                if let Some(pages) = unmapped.get(&run.region) {
                    add_unmapped_run(*pages, run, &mut heat);
                    self.complete(&mut heat);
                }
                continue;
            }
            let from = heat.len();
            if is_whole(group) {
                if run.pages == 0 {
                    self.whole.add_row(run.region, run.first, &mut heat);
                }
            } else {
                match group {
                    [Piece { part: Some(part), .. }] => part.add_run(run, &mut heat),
                    _ => add_shared_run(group, run, &mut heat),
                }
                self.complete(&mut heat);
            }
            if renumbered(run.region, &self.forms) {
                heat.flags[from..].iter_mut().for_each(|flags| *flags |= HeatFlags::RENUMBERED);
            }
        }
        self.last = heat.len();
        heat
    }

    /// What follows from the flags of single pages that were added last.
    fn complete(&mut self, heat: &mut EpochHeat) {
        let from = heat.pages.len();
        heat.pages.resize(heat.unit.len(), 1);
        for flags in &mut heat.flags[from..] {
            *flags = concluded(*flags, false);
            self.uncleared += u64::from(flags.has(HeatFlags::UNCLEARED));
        }
        let count = |flag| heat.flags[from..].iter().map(move |flags| u16::from(flags.has(flag)));
        heat.watched.extend(count(HeatFlags::SAMPLED));
        heat.touched.extend(count(HeatFlags::ACCESSED));
    }

    /// Resident pages of this epoch whose bits could not be cleared.
    pub(crate) fn uncleared_pages(&self) -> u64 {
        self.uncleared
    }
}

/// Whether the regions of a unit are one row.
fn is_whole(group: &[Piece<'_>]) -> bool {
    group.iter().any(|piece| piece.part.is_none())
}

fn parts<'a, 'b>(group: &'b [Piece<'a>]) -> impl Iterator<Item = &'b Part<'a>> {
    group.iter().filter_map(|piece| piece.part.as_ref())
}

fn union(group: &[Piece<'_>]) -> Mask {
    std::array::from_fn(|i| parts(group).fold(0, |all, part| all | part.resident[i]))
}

impl<'a> Part<'a> {
    /// None where single pages are not recorded.
    fn of(
        region: &'a Region,
        measured: Option<&Measured>,
        cores: f32,
        nodes: &'a [NodeId],
    ) -> Option<Self> {
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
            beside: region.beside,
            least_part: region.least_part(),
            in_order: region.in_order,
            traffic: if region.charged_as_expected() { region.mean_rate() * cores } else { 0.0 },
            traffics: match (region.huge, region.sparse) {
                (true, _) => None,
                (false, true) => pages.rates(),
                (false, false) => pages.traffic(),
            },
            watched: if region.huge || measured.is_none() {
                Mask::default()
            } else {
                pages.watched
            },
            shared: if region.unknown() { all } else { pages.shared },
            cores,
            node: region.node,
            nodes: if region.huge || region.spread.iter().filter(|pages| **pages > 0).count() < 2 {
                &[]
            } else {
                nodes
            },
        })
    }

    /// What it adds to a page, by its number in [`Pages`].
    #[inline]
    fn page(&self, page: usize) -> Page {
        let (word, bit) = (page / 64, page % 64);
        let set = |mask: &Mask, flag: HeatFlags| flag.0 * u8::from(mask[word] >> bit & 1 != 0);
        let dirty = HeatFlags(set(&self.pages.dirty, HeatFlags::DIRTY));
        if self.shared[word] >> bit & 1 != 0 {
            let huge = HeatFlags(self.flags.0 & HeatFlags::HUGE.0);
            return Page { flags: huge | dirty | HeatFlags::UNCLEARED, ..Page::default() };
        }
        let mut flags = self.flags | dirty;
        if self.watched[word] >> bit & 1 != 0 {
            flags |= HeatFlags::SAMPLED;
            flags |= HeatFlags(set(&self.pages.accessed, HeatFlags::ACCESSED));
        }
        let own = |each: &[f32; REGION]| self.pages.drawn(each[page]) * self.cores * self.beside;
        let rate = self.rates.map_or(self.rate, own);
        let traffic = self.traffics.map_or(self.traffic, |each| each[page] * self.cores);
        let (least, in_order) = (rate * self.least_part, rate * self.in_order);
        Page { rate, least, in_order, traffic, flags }
    }

    /// Where a page lies, by its number in [`Pages`].
    fn node(&self, page: usize) -> NodeId {
        if self.nodes.is_empty() {
            return self.node;
        }
        self.nodes.get(self.pages.node(page)).copied().unwrap_or(self.node)
    }

    /// Appends the pages of a run of which this is the only region.
    fn add_run(&self, run: &Run, heat: &mut EpochHeat) {
        each(run, self.resident[run.word], |unit, page| {
            let page = self.pages.in_table(page);
            let Page { rate, least, in_order, traffic, flags } = self.page(page);
            heat.unit.push(unit);
            heat.rate.push(rate);
            heat.least.push(least);
            heat.in_order.push(in_order);
            heat.traffic.push(traffic);
            heat.flags.push(flags);
            heat.node.push(self.node(page));
        });
    }
}

/// Appends the pages of a run of which several regions hold some.
fn add_shared_run(group: &[Piece<'_>], run: &Run, heat: &mut EpochHeat) {
    each(run, union(group)[run.word], |unit, page| {
        let mut sum = Page::default();
        let (mut node, mut open) = (NodeId(0), false);
        for part in parts(group) {
            if part.resident[run.word] >> (page % 64) & 1 != 0 {
                let page = part.pages.in_table(page);
                let Page { rate, least, in_order, traffic, flags } = part.page(page);
                sum.rate += rate;
                sum.least += least;
                sum.in_order += in_order;
                sum.traffic += traffic;
                sum.flags |= flags;
                node = part.node(page);
                let watched = flags.has(HeatFlags::SAMPLED);
                open |= !watched && may_be_accessed(part.known.then_some(rate), part.cores);
            }
        }
        heat.unit.push(unit);
        heat.rate.push(sum.rate);
        heat.least.push(sum.least);
        heat.in_order.push(sum.in_order);
        heat.traffic.push(sum.traffic);
        heat.flags.push(concluded(sum.flags, open));
        heat.node.push(node);
    });
}

/// The set of the first pages of a region.
fn first_pages(pages: u16) -> Mask {
    std::array::from_fn(|word| match usize::from(pages).saturating_sub(64 * word) {
        0 => 0,
        left => u64::MAX >> 64_usize.saturating_sub(left),
    })
}

/// Appends the pages of a run of a region that no process maps, so that none accesses them.
fn add_unmapped_run(pages: u16, run: &Run, heat: &mut EpochHeat) {
    each(run, first_pages(pages)[run.word], |unit, _| {
        heat.unit.push(unit);
        heat.rate.push(0.0);
        heat.least.push(0.0);
        heat.in_order.push(0.0);
        heat.traffic.push(0.0);
        heat.flags.push(HeatFlags::SAMPLED);
        heat.node.push(NodeId(0));
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
    use pagetide_types::{HeatRow, ObjectId, UnitKey, UnitSize};

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
        next(&mut PageHeat::default(), regions, units)
    }

    fn next(heat: &mut PageHeat, regions: &[Region], units: &mut Units) -> EpochHeat {
        let seen = Seen {
            regions,
            measured: |_| None,
            cores: |_| Some(2.0),
            nodes: &[],
            every_page: true,
            unmapped: &[],
        };
        heat.collect(EpochId(0), &seen, units)
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
        let regions = [busy, idle];
        let measured = |region| (region == 1).then_some(&sample);
        let seen = Seen {
            regions: &regions,
            measured,
            cores: |_| Some(2.0),
            nodes: &[],
            every_page: true,
            unmapped: &[],
        };
        let heat = PageHeat::default().collect(EpochId(0), &seen, &mut units);
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
        let measured = |_| Some(&sample);
        let seen = Seen {
            regions: &[huge],
            measured,
            cores: |_| Some(1.0),
            nodes: &[],
            every_page: true,
            unmapped: &[],
        };
        let heat = PageHeat::default().collect(EpochId(0), &seen, &mut units);
        assert_eq!(heat.len(), 512);
        let flags = HeatFlags::HUGE | HeatFlags::SAMPLED | HeatFlags::ACCESSED;
        assert!(heat.rows().all(|row| row.rate == 2.0 && row.flags == flags && row.touched == 1));
    }

    #[test]
    fn a_page_is_as_hot_as_beside_other_regions_and_as_sure_as_its_region() {
        let mut units = Units::of(UnitSize::Base);
        let mut of = region(0, 1, &[0, 1], &mut units);
        let mut memory = super::super::memory::Memory::new();
        memory.rates[..2].copy_from_slice(&[8.0, 4.0]);
        // Half of that was borne out.
        (memory.if_alike, memory.comes_true) = (2.0, 0.5);
        of.pages.as_mut().unwrap().memory = Some(memory);
        (of.rate, of.least, of.in_order, of.beside) = (Some(6.0), 1.5, 0.4, 0.5);
        let heat = collect(&[of], &mut units);
        // On two cores.
        assert_eq!((&heat.rate[..], &heat.least[..]), (&[5.0, 3.0][..], &[1.25, 0.75][..]));
        assert_eq!(heat.in_order, [2.0, 1.2]);
    }

    #[test]
    fn a_region_without_pages_is_one_row_among_single_pages() {
        let mut units = Units::of(UnitSize::Base);
        let whole = |units: &mut Units| {
            let region = region(0, 9, &[0, 1, 2], units);
            Region { pages: None, rate: Some(7.0), least: 5.0, in_order: 0.5, ..region }
        };
        let regions = [region(0, 7, &[0, 2], &mut units), whole(&mut units)];
        let heat = collect(&regions, &mut units);
        assert_eq!(heat.unit, [0, 1, 2].map(UnitId));
        assert_eq!(heat.pages, [1, 1, 3]);
        assert_eq!(heat.rate[2], 14.0, "per second of CPU time, two of them per second");
        assert_eq!((heat.least[2], heat.in_order[2]), (10.0, 7.0));
        assert_eq!(places(&mut units), [7 * 512, 7 * 512 + 2, 9 * 512]);
        // Its pages differ, as it turns out: what was known of all of them is not true of any.
        let regions = [region(0, 7, &[0, 2], &mut units), region(0, 9, &[0, 1, 2], &mut units)];
        let heat = collect(&regions, &mut units);
        assert_eq!((heat.unit, heat.pages), ([0, 1, 3, 4, 5].map(UnitId).to_vec(), vec![1; 5]));
        assert_eq!(places(&mut units), [9 * 512, 9 * 512 + 1, 9 * 512 + 2]);
        // And another process maps them, of which no pages are known: one row, once.
        let other = Region { process: 1, ..whole(&mut units) };
        let regions = [region(0, 9, &[0, 1, 2], &mut units), other];
        let heat = collect(&regions, &mut units);
        assert_eq!((heat.unit, heat.pages), (vec![UnitId(2)], vec![3]));
    }

    #[test]
    fn what_was_there_as_another_unit_is_not_taken_for_new_memory() {
        let mut units = Units::of(UnitSize::Base);
        let mut heat = PageHeat::default();
        let mut new = |regions: &[Region], units: &mut Units| -> Vec<bool> {
            let heat = next(&mut heat, regions, units);
            heat.flags.iter().map(|flags| flags.has(HeatFlags::RENUMBERED)).collect()
        };
        let pages = |units: &mut Units| region(0, 7, &[0, 2], units);
        let whole = |units: &mut Units| Region { pages: None, ..region(0, 7, &[0, 2], units) };
        let first = [whole(&mut units)];
        assert_eq!(new(&first, &mut units), [false]);
        let split = [pages(&mut units), region(0, 9, &[1], &mut units)];
        assert_eq!(new(&split, &mut units), [true, true, false], "the last is new");
        assert_eq!(new(&split, &mut units), [false; 3]);
        let back = [whole(&mut units), region(0, 9, &[1, 2], &mut units)];
        assert_eq!(new(&back, &mut units), [true, false, false]);
        assert_eq!(new(&[], &mut units), [false; 0]);
        assert_eq!(new(&split, &mut units), [false; 3], "it was away");
    }

    #[test]
    fn a_region_that_nobody_has_visited_is_one_row_where_not_every_page_has_one() {
        let mut units = Units::of(UnitSize::Base);
        let visited = region(0, 7, &[0, 2], &mut units);
        let regions = [visited, Region { rate: None, ..region(0, 9, &[0, 1, 2], &mut units) }];
        let mut rows = |every_page| {
            let (measured, cores) = (|_| None, |_| Some(1.0));
            let seen =
                Seen { regions: &regions, measured, cores, nodes: &[], every_page, unmapped: &[] };
            PageHeat::default().collect(EpochId(0), &seen, &mut units).pages
        };
        assert_eq!((rows(false), rows(true)), (vec![1, 1, 3], vec![1; 5]));
    }

    #[test]
    fn pages_of_a_region_on_two_nodes_lie_each_on_its_own() {
        let mut units = Units::of(UnitSize::Base);
        let mut region = region(0, 7, &[0, 1, 2], &mut units);
        region.spread[..2].copy_from_slice(&[2, 1]);
        region.pages.as_mut().unwrap().node[0][0] = 0b10;
        let nodes = [NodeId(3), NodeId(5)];
        let regions = [region];
        let seen = Seen {
            regions: &regions,
            measured: |_| None,
            cores: |_| Some(1.0),
            nodes: &nodes,
            every_page: true,
            unmapped: &[],
        };
        let heat = PageHeat::default().collect(EpochId(0), &seen, &mut units);
        assert_eq!(heat.node, [3, 5, 3].map(NodeId));
    }

    #[test]
    fn of_what_nobody_maps_every_page_was_watched_and_not_accessed() {
        let mut units = Units::of(UnitSize::Base);
        let nobodys = units.number(UnitKey { object: ObjectId(1), index: 0 });
        let mapped = region(0, 7, &[0], &mut units);
        let mut rows = |pages| {
            let seen = Seen {
                regions: std::slice::from_ref(&mapped),
                measured: |_| None,
                cores: |_| Some(1.0),
                nodes: &[],
                every_page: true,
                unmapped: &[(nobodys, pages)],
            };
            PageHeat::default().collect(EpochId(0), &seen, &mut units)
        };
        let heat = rows(130);
        assert_eq!((heat.len(), heat.resident()), (131, pagetide_types::Bytes::kib(4 * 131)));
        let cold = |row: &HeatRow| row.flags.has(HeatFlags::UNSEEN);
        assert_eq!(heat.rows().filter(cold).count(), 130);
        let idle = |row: HeatRow| (row.rate, row.watched, row.touched) == (0.0, 1, 0);
        assert!(heat.rows().filter(cold).all(idle));
        assert_eq!(rows(2).len(), 3, "some of it is mapped by now");
        assert_eq!(units.new_units.len(), 131);
    }

    #[test]
    fn what_cannot_be_cleared_has_no_rate() {
        let mut units = Units::of(UnitSize::Base);
        let mut some = region(0, 7, &[0, 1], &mut units);
        some.pages.as_mut().unwrap().found_shared(&[2, 0, 0, 0, 0, 0, 0, 0]);
        let whole = Region { uncleared: true, ..region(0, 8, &[0], &mut units) };
        let mut table = PageHeat::default();
        let regions = [some, whole];
        let seen = Seen {
            regions: &regions,
            measured: |_| None,
            cores: |_| Some(1.0),
            nodes: &[],
            every_page: true,
            unmapped: &[],
        };
        let heat = table.collect(EpochId(0), &seen, &mut units);
        assert_eq!(heat.rate, [3.0, 0.0, 0.0]);
        assert_eq!(heat.flags[1..], [HeatFlags::UNCLEARED; 2]);
        assert_eq!(table.uncleared_pages(), 2);
    }
}
