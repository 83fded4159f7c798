//! A process of which nothing may go up is watched with a part of the budget.

use crate::child::{Area, Child, HUGE};
use crate::recorded::alone;
use pagetide_host::Host;
use pagetide_scan::{Observer, Options, Recorder, Target};
use pagetide_types::HeatFlags;
use std::time::Duration;

const UNITS: usize = 60;

#[test]
fn a_tenth_of_a_process_is_watched_in_an_epoch_if_that_is_asked_for() {
    let name = "a_tenth_of_a_process_is_watched_in_an_epoch_if_that_is_asked_for";
    let Some(_alone) = alone(name) else { return };
    let area = Area::private(UNITS * HUGE);
    let child = Child::fork(|| area.write(0, area.len), || area.read(0, area.len));
    let host = Host::live();
    let observer = Observer::start(&host, &host.features()).unwrap();
    let epoch = Duration::from_secs(1);
    let options = Options { epoch, budget: 0.5, ..Options::default() };
    let target = Target::Pids(vec![child.pid()]);
    let mut recorder = Recorder::start(observer, host, &target, options).unwrap();
    // Units of the area that were watched, and what watching took.
    let watched = |recorder: &mut Recorder| {
        let record = recorder.epoch(&|| false).unwrap().0.unwrap();
        let flags = record.heat.flags.iter();
        let large = flags.zip(&record.heat.pages).filter(|(_, pages)| **pages == 512);
        let units = large.filter(|(flags, _)| flags.has(HeatFlags::SAMPLED)).count();
        (units, record.epoch.clear_s + record.epoch.scan_s)
    };
    let (all, dear) = watched(&mut recorder);
    assert!(all >= UNITS / 2, "{all} of {UNITS}");
    recorder.watch_sparsely(&[child.pid()], 0.1);
    for _ in 0..3 {
        let (some, cheap) = watched(&mut recorder);
        assert!((1..=UNITS / 10 + 1).contains(&some), "{some} of {UNITS}");
        assert!(cheap < dear / 2.0, "{cheap} s for {dear} s");
    }
    recorder.watch_sparsely(&[], 0.1);
    assert!(watched(&mut recorder).0 > 2 * UNITS / 10, "and in full again");
}
