//! Who wants a first answer soon has short epochs first.

use crate::child::{Area, Child, HUGE};
use crate::recorded::{alone, recorder};
use pagetide_scan::Options;
use pagetide_types::HeatFlags;
use std::time::Duration;

const UNITS: usize = 8;

#[test]
fn the_first_epochs_are_short_and_the_first_one_watches_what_its_budget_allows() {
    let name = "the_first_epochs_are_short_and_the_first_one_watches_what_its_budget_allows";
    let Some(_alone) = alone(name) else { return };
    let area = Area::private(UNITS * HUGE);
    let child = Child::fork(|| area.write(0, area.len), || area.read(0, area.len));
    let options = Options {
        epoch: Duration::from_secs(1),
        opening: Some(Duration::from_millis(300)),
        budget: 0.2,
        ..Options::default()
    };
    let mut recorder = recorder(&[&child], options);
    let records: Vec<_> = (0..4).map(|_| recorder.epoch(&|| false).unwrap().0.unwrap()).collect();
    // An epoch ends when it is over, or a little later where the machine is busy.
    for (record, least) in records.iter().zip([0.3, 0.3, 0.6, 1.0]) {
        let length = record.epoch.length_s;
        assert!(length >= least && length < least + 0.6, "{least}: {length}");
    }
    let watched = records[0].heat.flags.iter().filter(|flags| flags.has(HeatFlags::SAMPLED));
    assert!(watched.count() >= UNITS, "{:?}", records[0].heat);
}
