//! What a target does between two epochs, while its pages move, is of no epoch.

use crate::child::{Area, Child, HUGE};
use crate::recorded::alone;
use pagetide_host::Host;
use pagetide_scan::{Observer, Options, Recorder, Target};
use std::thread;
use std::time::Duration;

#[test]
fn cpu_time_between_two_epochs_is_not_told_as_that_of_short_lived_processes() {
    let name = "cpu_time_between_two_epochs_is_not_told_as_that_of_short_lived_processes";
    let Some(_alone) = alone(name) else { return };
    let area = Area::private(4 * HUGE);
    let child = Child::fork(|| area.write(0, area.len), || area.read(0, area.len));
    let host = Host::live();
    let observer = Observer::start(&host, &host.features()).unwrap();
    let options = Options { epoch: Duration::from_millis(500), ..Options::default() };
    let target = Target::Pids(vec![child.pid()]);
    let mut recorder = Recorder::start(observer, host.clone(), &target, options).unwrap();
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
    let share = recorder.too_short_lived().unwrap();
    assert!(share < 0.1, "{share} of the time are said to be of processes that nobody saw");
}
