//! In which order memory came is known within an epoch, too.

use crate::child::{Area, Child, HUGE, PAGE};
use crate::recorded::{alone, recorder};
use pagetide_scan::Options;
use std::cell::Cell;
use std::time::Duration;

const UNITS: usize = 12;

#[test]
fn what_appears_within_an_epoch_is_numbered_in_the_order_in_which_it_appears() {
    let name = "what_appears_within_an_epoch_is_numbered_in_the_order_in_which_it_appears";
    let Some(_alone) = alone(name) else { return };
    let (area, begun) = (Area::private(UNITS * HUGE), Area::shared(PAGE));
    // From the end to the beginning, a unit each quarter of a second.
    let left = Cell::new(UNITS);
    let fill = || {
        // SAFETY: a plain system call; the page lives as long as the test.
        let begun = unsafe {
            libc::usleep(250_000);
            begun.start.read_volatile() == 1
        };
        if begun && left.get() > 0 {
            left.set(left.get() - 1);
            area.write(left.get() * HUGE, HUGE);
        }
    };
    let child = Child::fork(|| (), fill);
    let options = Options { epoch: Duration::from_secs(4), budget: 0.2, ..Options::default() };
    let mut recorder = recorder(&[&child], options);
    begun.write(0, PAGE);
    let records: Vec<_> = (0..2).map(|_| recorder.epoch(&|| false).unwrap().0.unwrap()).collect();
    let ours = area.unit()..area.unit() + UNITS as u64;
    let new = records.iter().flat_map(|record| &record.new_units).map(|unit| unit.index);
    let order: Vec<u64> = new.filter(|index| ours.contains(index)).collect();
    assert_eq!(order.len(), UNITS, "{order:?}");
    let downwards = order.windows(2).filter(|pair| pair[1] < pair[0]).count();
    assert!(downwards > UNITS / 2, "{order:?}");
}
