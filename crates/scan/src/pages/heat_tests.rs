//! The rows of an epoch, page by page.

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
        visited_alone: false,
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
        visited_alone: false,
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
        visited_alone: false,
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
    let mut memory = crate::pages::memory::Memory::new();
    memory.rates[..2].copy_from_slice(&[8.0, 4.0]);
    // Half of that was borne out.
    (memory.if_alike, memory.comes_true) = (2.0, 0.5);
    of.pages.as_mut().unwrap().memory = Some(memory);
    (of.rate, of.least, of.in_order, of.beside) = (Some(6.0), 1.5, 0.4, 0.5);
    of.sparse = true;
    let heat = collect(&[of], &mut units);
    // On two cores.
    assert_eq!((&heat.rate[..], &heat.least[..]), (&[5.0, 3.0][..], &[1.25, 0.75][..]));
    assert_eq!(heat.in_order, [2.0, 1.2]);
    assert_eq!(heat.traffic, heat.rate, "of a process that is watched sparsely");
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
fn of_units_that_were_visited_alone_all_parts_have_rows_and_others_keep_what_they_were() {
    let mut units = Units::of(UnitSize::Base);
    let mut heat = PageHeat::default();
    // Of the unit at 8 one process was visited, and another one maps it, too. The last is split meanwhile.
    let split = |pages: bool, units: &mut Units| {
        let region = region(0, 9, &[0, 1], units);
        Region { pages: region.pages.filter(|_| pages), ..region }
    };
    let regions = |pages: bool, units: &mut Units| {
        let others =
            [region(0, 7, &[0], units), region(0, 8, &[3], units), region(1, 8, &[4], units)];
        [others.as_slice(), &[split(pages, units)]].concat()
    };
    let before = regions(false, &mut units);
    assert_eq!(next(&mut heat, &before, &mut units).len(), 4);
    let sample = Measured { pages: 1, accessed: true, ..Measured::default() };
    let after = regions(true, &mut units);
    let seen = Seen {
        regions: &after,
        measured: |region| (region == 2 || region == 3).then_some(&sample),
        cores: |_| Some(2.0),
        nodes: &[],
        every_page: true,
        visited_alone: true,
        unmapped: &[],
    };
    let some = heat.collect(EpochId(1), &seen, &mut units);
    assert_eq!(some.unit, [1, 2, 4, 5].map(UnitId), "of 8 and 9, all of them");
    let of = |region: usize| heat.has_rows(after[region].unit);
    assert_eq!([0, 1, 3].map(of), [false, true, true]);
    let all = next(&mut heat, &after, &mut units);
    let renumbered = all.flags.iter().map(|flags| flags.has(HeatFlags::RENUMBERED));
    assert_eq!(renumbered.collect::<Vec<_>>(), [false, false, false, true, true]);
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
        let seen = Seen {
            regions: &regions,
            measured,
            cores,
            nodes: &[],
            every_page,
            visited_alone: false,
            unmapped: &[],
        };
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
        visited_alone: false,
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
            visited_alone: false,
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
        visited_alone: false,
        unmapped: &[],
    };
    let heat = table.collect(EpochId(0), &seen, &mut units);
    assert_eq!(heat.rate, [3.0, 0.0, 0.0]);
    assert_eq!(heat.flags[1..], [HeatFlags::UNCLEARED; 2]);
    assert_eq!(table.uncleared_pages(), 2);
}
