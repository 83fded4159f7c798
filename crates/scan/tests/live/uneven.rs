//! Base pages that differ in heat have a row each, those that do not one for 2 MiB.

use crate::child::{Area, Child, HUGE, PAGE};
use crate::recorded::alone;
use pagetide_host::Host;
use pagetide_scan::{Observer, Options, Recorder, Target};
use pagetide_types::UnitSize;
use std::time::Duration;

/// Regions of which a fifth of the pages are read all the time, more than the CPU caches hold, and the others never; and as many of which
/// none is.
const UNEVEN: usize = 16;
const HOT: usize = 100;

#[test]
fn pages_that_differ_in_heat_are_told_apart_others_are_one_unit() {
    let name = "pages_that_differ_in_heat_are_told_apart_others_are_one_unit";
    let Some(_alone) = alone(name) else { return };
    let area = Area::private(2 * UNEVEN * HUGE);
    let work = || {
        for region in 0..UNEVEN {
            (0..HOT).for_each(|page| area.read(region * HUGE + page * PAGE, 1));
        }
    };
    let child = Child::fork(|| area.write(0, area.len), work);
    let host = Host::live();
    let observer = Observer::start(&host, &host.features()).unwrap();
    let options = Options {
        epoch: Duration::from_secs(1),
        budget: 0.5,
        unit: UnitSize::Base,
        pages_at_most: Some(1 << 19),
        ..Options::default()
    };
    let target = Target::Pids(vec![child.pid()]);
    let mut recorder = Recorder::start(observer, host, &target, options).unwrap();
    let mut found = (0, 0);
    for _ in 0..20 {
        let record = recorder.epoch(&|| false).unwrap().0.unwrap();
        let heat = &record.heat;
        let single: Vec<usize> = (0..heat.len()).filter(|row| heat.pages[*row] == 1).collect();
        let whole = heat.pages.iter().filter(|pages| **pages == 512).count();
        let mut rates: Vec<f32> = single.iter().map(|row| heat.rate[*row]).collect();
        rates.sort_by(|a, b| b.total_cmp(a));
        let hot = UNEVEN * HOT;
        if rates.len() >= UNEVEN * 512 && whole == UNEVEN && rates[hot - 1] > 8.0 * rates[hot + 50]
        {
            // Every row has its place, and pages are places of their own.
            let places = recorder.places();
            assert!(heat.unit.iter().all(|unit| places.iter().any(|place| place.unit == *unit)));
            let sizes = places.iter().map(|place| place.range.end - place.range.start);
            assert!(sizes.filter(|size| *size == PAGE as u64).count() >= UNEVEN * 512);
            return;
        }
        found = (single.len(), whole);
    }
    panic!("{} single pages and {} whole regions", found.0, found.1);
}
