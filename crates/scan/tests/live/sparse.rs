//! A process of which nothing may go up is watched with a part of the budget, and one of which nothing that goes up would
//! bring something.

use crate::child::{Area, Child, HUGE, PAGE};
use crate::recorded::{alone, recorder};
use pagetide_scan::{Options, Recorder, SinglePages};
use pagetide_types::{HeatFlags, MayBring, UnitId, UnitSize};
use std::collections::BTreeSet;
use std::time::Duration;

const UNITS: usize = 60;

#[test]
fn a_tenth_of_a_process_is_watched_in_an_epoch_if_that_is_asked_for() {
    let name = "a_tenth_of_a_process_is_watched_in_an_epoch_if_that_is_asked_for";
    let Some(_alone) = alone(name) else { return };
    let area = Area::private(UNITS * HUGE);
    let child = Child::fork(|| area.write(0, area.len), || area.read(0, area.len));
    let epoch = Duration::from_secs(1);
    // Children inherit what other tests left behind.
    let options = Options { epoch, budget: 0.5, unmapped: false, ..Options::default() };
    let mut recorder = recorder(&[&child], options);
    // Units of the area that were watched, and what watching took.
    let watched = |recorder: &mut Recorder| {
        let record = recorder.epoch(&|| false).unwrap().0.unwrap();
        let heat = &record.heat;
        let rows = (0..heat.len()).filter(|row| heat.pages[*row] == 512);
        let seen = rows.filter(|row| heat.flags[*row].has(HeatFlags::SAMPLED));
        let units: BTreeSet<_> = seen.map(|row| heat.unit[row]).collect();
        (units, record.epoch.clear_s + record.epoch.scan_s)
    };
    let (all, dear) = watched(&mut recorder);
    assert!(all.len() >= UNITS / 2, "{} of {UNITS}", all.len());
    recorder.watch_sparsely(&[child.pid()], 0.1);
    let mut ever = BTreeSet::new();
    for _ in 0..3 {
        let (some, cheap) = watched(&mut recorder);
        // A tenth of all regions, of which some lie elsewhere.
        assert!((1..=UNITS / 5).contains(&some.len()), "{} of {UNITS}", some.len());
        assert!(cheap < dear / 2.0, "{cheap} s for {dear} s");
        ever.extend(some);
    }
    assert!(ever.len() <= UNITS / 5, "the same ones each time: {ever:?}");
    recorder.watch_sparsely(&[], 0.1);
    assert!(watched(&mut recorder).0.len() > 2 * UNITS / 10, "and in full again");
}

/// As `run` watches who is stopped.
#[test]
fn while_nobody_decides_only_what_is_visited_has_rows_and_places() {
    let name = "while_nobody_decides_only_what_is_visited_has_rows_and_places";
    let Some(_alone) = alone(name) else { return };
    let area = Area::private(UNITS * HUGE);
    let child = Child::fork(|| area.write(0, area.len), || area.read(0, area.len));
    let options = Options {
        epoch: Duration::from_secs(1),
        budget: 0.5,
        unit: UnitSize::Base,
        single_pages: Some(SinglePages { at_most: 1 << 20, matters: 16.0 }),
        unmapped: false,
        ..Options::default()
    };
    let mut recorder = recorder(&[&child], options);
    // Pages of all rows, those of them that were watched, and what is resident, where that is told besides.
    let rows = |recorder: &mut Recorder| {
        let heat = recorder.epoch(&|| false).unwrap().0.unwrap().heat;
        let places: BTreeSet<UnitId> = recorder.places().iter().map(|place| place.unit).collect();
        assert!(heat.unit.iter().all(|unit| places.contains(unit)), "each row has a place");
        assert!(
            places.len() <= heat.len(),
            "and no other unit: {} of {}",
            places.len(),
            heat.len()
        );
        let [all, watched] = [&heat.pages, &heat.watched]
            .map(|pages| pages.iter().map(|pages| usize::from(*pages)).sum::<usize>());
        (all, watched, recorder.glance())
    };
    let pages = area.len / PAGE;
    (0..3).for_each(|_| _ = rows(&mut recorder));
    recorder.watch_sparsely(&[child.pid()], 0.1);
    let (all, watched, resident) = rows(&mut recorder);
    assert!(all >= pages && resident.is_none(), "rows of {all} pages of {pages}");
    assert!(watched > 0 && watched < pages / 2, "{watched} of {pages} watched");
    recorder.glances(true);
    for _ in 0..3 {
        let (some, watched, resident) = rows(&mut recorder);
        assert!(watched > 0 && some < pages / 2, "rows of {some}, {watched} watched of {pages}");
        // With what the process has elsewhere.
        let told = resident.unwrap().0;
        let len = area.len as u64;
        assert!((len..2 * len).contains(&told), "{told} B of {len}");
    }
    recorder.glances(false);
    let (again, _, resident) = rows(&mut recorder);
    assert!(again >= pages && resident.is_none(), "rows of {again} pages of {pages}");
}

#[test]
fn visits_take_a_tenth_of_their_budget_where_no_placement_would_bring_anything() {
    let name = "visits_take_a_tenth_of_their_budget_where_no_placement_would_bring_anything";
    let Some(_alone) = alone(name) else { return };
    let area = Area::private(UNITS * HUGE);
    let child = Child::fork(|| area.write(0, area.len), || area.read(0, area.len));
    let took = |thrifty: bool| {
        let epoch = Duration::from_secs(1);
        let options =
            Options { epoch, budget: 0.1, thrifty, unmapped: false, ..Options::default() };
        let mut recorder = recorder(&[&child], options);
        // CPU time of three epochs each.
        let more = |more_s| Some(MayBring { more_s, ..MayBring::default() });
        [None, more(0.0), more(1.0)].map(|may_bring| {
            let one = |_| {
                recorder.may_bring(may_bring);
                let epoch = recorder.epoch(&|| false).unwrap().0.unwrap().epoch;
                epoch.clear_s + epoch.scan_s
            };
            (0..3).map(one).sum::<f64>()
        })
    };
    let [unknown, nothing, much] = took(true);
    assert!(nothing > 0.0 && nothing < unknown / 3.0, "{nothing} s for {unknown} s");
    assert!(much > 2.0 * nothing, "{much} s for {nothing} s");
    let [_, all, _] = took(false);
    assert!(all > 2.0 * nothing, "who records has all of it: {all} s for {nothing} s");
}

#[test]
fn what_is_new_is_visited_even_where_no_placement_would_bring_anything() {
    let name = "what_is_new_is_visited_even_where_no_placement_would_bring_anything";
    let Some(_alone) = alone(name) else { return };
    let (area, half) = (Area::private(2 * UNITS * HUGE), UNITS * HUGE);
    let told = Area::shared(PAGE);
    let grows = || {
        area.read(0, half);
        // SAFETY: inside the mapping.
        if unsafe { told.start.read_volatile() } != 0 {
            area.write(half, half);
        }
    };
    let child = Child::fork(|| area.write(0, half), grows);
    let epoch = Duration::from_secs(1);
    let opening = Some(epoch / 2);
    let options = Options {
        epoch,
        opening,
        budget: 0.006,
        thrifty: true,
        unmapped: false,
        ..Options::default()
    };
    let mut recorder = recorder(&[&child], options);
    // Units that were watched, of those numbered from there on, and how many there are.
    let mut watched = |from: usize| {
        recorder.may_bring(Some(MayBring::default()));
        let heat = recorder.epoch(&|| false).unwrap().0.unwrap().heat;
        let new = (0..heat.len()).filter(|row| heat.unit[*row].index() >= from);
        let seen = new.filter(|row| heat.flags[*row].has(HeatFlags::SAMPLED)).count();
        (seen, heat.unit.last().map_or(0, |last| last.index() + 1))
    };
    let before = [(); 5].map(|()| watched(0));
    assert!(before[0].0 > UNITS / 2 && before[4].0 < UNITS / 2, "{before:?}");
    told.write(0, PAGE);
    let after = [(); 6].map(|()| watched(before[4].1).0);
    // It comes first; the first of the epochs may have begun before there was anything, and on a busy machine one may have
    // nothing left for visits. A tenth of the budget would see 1 to 3 in each.
    assert!(after.iter().sum::<usize>() > 3 * UNITS / 4, "{after:?}");
}
