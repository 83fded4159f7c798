//! What a target does between two epochs, while its pages move, is of no epoch, and what our movers do in one is no part
//! of observing.

use crate::child::{Area, Child, HUGE};
use crate::recorded::{alone, recorder};
use nix::time::{ClockId, clock_gettime};
use pagetide_host::Host;
use pagetide_scan::{Meanwhile, Options};
use std::thread;
use std::time::Duration;

#[test]
fn cpu_time_between_two_epochs_is_not_told_as_that_of_short_lived_processes() {
    let name = "cpu_time_between_two_epochs_is_not_told_as_that_of_short_lived_processes";
    let Some(_alone) = alone(name) else { return };
    let area = Area::private(4 * HUGE);
    let child = Child::fork(|| area.write(0, area.len), || area.read(0, area.len));
    let options = Options { epoch: Duration::from_millis(500), ..Options::default() };
    let mut recorder = recorder(&[&child], options);
    let host = Host::live();
    let used = || host.cpu_of(&[child.pid()]);
    let (before, mut of_epochs) = (used(), 0.0);
    for _ in 0..3 {
        of_epochs += recorder.epoch(&|| false).unwrap().0.unwrap().epoch.target_cpu_s;
        // Until it had as much again, at whatever speed.
        let enough = used() + Duration::from_millis(500);
        while used() < enough {
            thread::sleep(Duration::from_millis(20));
        }
    }
    of_epochs += recorder.epoch(&|| false).unwrap().0.unwrap().epoch.target_cpu_s;
    let all = (used() - before).as_secs_f64();
    assert!(of_epochs < all - 1.3, "{of_epochs} s of {all} s, of which 1.5 s passed in between");
    let share = loop {
        // Beside other programs it may not have had a second so far.
        match recorder.too_short_lived() {
            Some(share) => break share,
            None => drop(recorder.epoch(&|| false).unwrap()),
        }
    };
    assert!(share < 0.1, "{share} of the time are said to be of processes that nobody saw");
}

/// Takes so much CPU time when it begins.
struct Spins(Duration);

impl Meanwhile for Spins {
    fn begin(&mut self) {
        let used = || clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).map(Duration::from).unwrap();
        let enough = used() + self.0;
        while used() < enough {}
    }

    fn cpu_ns(&self) -> u64 {
        self.0.as_nanos().try_into().unwrap()
    }
}

#[test]
fn what_others_of_our_threads_do_meanwhile_is_no_part_of_observing() {
    let name = "what_others_of_our_threads_do_meanwhile_is_no_part_of_observing";
    let Some(_alone) = alone(name) else { return };
    let area = Area::private(4 * HUGE);
    let child = Child::fork(|| area.write(0, area.len), || area.read(0, area.len));
    let options = Options { epoch: Duration::from_millis(500), ..Options::default() };
    let mut recorder = recorder(&[&child], options);
    let spins = Duration::from_millis(400);
    let (record, _) = recorder.epoch_of_moves(&|| false, &mut Spins(spins)).unwrap();
    let observing = record.unwrap().epoch.recorder_s;
    assert!(observing > 0.0 && observing < 0.35, "{observing} s, beside 0.4 s of something else");
}
