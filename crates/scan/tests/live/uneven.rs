//! Where there are more base pages than may have a row each, those that differ in heat do, the others one for 2 MiB.

use crate::child::{Area, Child, HUGE, PAGE};
use crate::recorded::{alone, recorder};
use pagetide_scan::{Options, Place, SinglePages};
use pagetide_types::{UnitId, UnitSize};
use std::collections::HashSet;
use std::time::Duration;

/// Regions of which a fifth of the pages are read all the time, more than the CPU caches hold, and the others never; and as many of which
/// none is.
const UNEVEN: usize = 16;
const HOT: usize = 100;

#[test]
fn of_more_pages_than_are_told_apart_those_are_that_differ_in_heat() {
    let name = "of_more_pages_than_are_told_apart_those_are_that_differ_in_heat";
    let Some(_alone) = alone(name) else { return };
    let area = Area::private(2 * UNEVEN * HUGE);
    let work = || {
        for region in 0..UNEVEN {
            (0..HOT).for_each(|page| area.read(region * HUGE + page * PAGE, 1));
        }
    };
    let child = Child::fork(|| area.write(0, area.len), work);
    let options = Options {
        epoch: Duration::from_secs(1),
        budget: 0.5,
        unit: UnitSize::Base,
        single_pages: Some(SinglePages { at_most: 3 * UNEVEN as u64 * 512 / 2, matters: 16.0 }),
        ..Options::default()
    };
    let mut recorder = recorder(&[&child], options);
    let inside = area.start as u64..area.start as u64 + area.len as u64;
    let mut found = (0, 0);
    for _ in 0..20 {
        let heat = recorder.epoch(&|| false).unwrap().0.unwrap().heat;
        let rate = |unit: &UnitId| heat.unit.binary_search(unit).map(|row| heat.rate[row]).unwrap();
        let places = recorder.places();
        let places = places.iter().filter(|place| inside.contains(&place.range().start));
        let (single, whole): (Vec<_>, Vec<_>) =
            places.partition(|place| place.range().end - place.range().start == PAGE as u64);
        found = (single.len(), whole.len());
        if found == (UNEVEN * 512, UNEVEN) {
            let hot =
                |place: &Place| place.range().start % HUGE as u64 / (PAGE as u64) < HOT as u64;
            let mean = |which: bool| {
                let rates = single.iter().filter(|place| hot(place) == which);
                let rates: Vec<f32> = rates.map(|place| rate(&place.unit)).collect();
                rates.iter().sum::<f32>() / rates.len() as f32
            };
            if mean(true) > 8.0 * mean(false) {
                return;
            }
        }
    }
    panic!("{} single pages and {} whole regions", found.0, found.1);
}

/// As `run` watches: every page has a row of its own, once somebody has visited its region.
#[test]
fn what_nobody_has_visited_yet_has_a_place_too() {
    let name = "what_nobody_has_visited_yet_has_a_place_too";
    let Some(_alone) = alone(name) else { return };
    let area = Area::private(8 * UNEVEN * HUGE);
    let child = Child::fork(|| area.write(0, area.len), || area.read(0, area.len));
    let options = Options {
        epoch: Duration::from_millis(500),
        opening: Some(Duration::from_millis(100)),
        budget: 0.002,
        unit: UnitSize::Base,
        single_pages: Some(SinglePages { at_most: 1 << 20, matters: 16.0 }),
        // What no process maps lies nowhere: shared memory that the child has from other tests, and let go.
        unmapped: false,
        ..Options::default()
    };
    let mut recorder = recorder(&[&child], options);
    let mut most_unvisited = 0;
    for _ in 0..6 {
        let heat = recorder.epoch(&|| false).unwrap().0.unwrap().heat;
        let places: HashSet<UnitId> = recorder.places().iter().map(|place| place.unit).collect();
        let without = heat.unit.iter().filter(|unit| !places.contains(unit)).count();
        assert_eq!(without, 0, "of {} rows", heat.len());
        let unvisited = heat.rows().filter(|row| row.pages == 512 && row.watched == 0);
        most_unvisited = most_unvisited.max(unvisited.count());
    }
    assert!(most_unvisited >= UNEVEN, "all was visited at once: {most_unvisited}");
}
