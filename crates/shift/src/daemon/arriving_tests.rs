//! Devices that the kernel finds late, or that a pool lends while the daemon runs.

use super::*;
use crate::simulated::SECRET;

/// All devices are gone.
fn gone(rig: &Rig) {
    rig.daemon.kernel.edit(|machine| machine.vanished = std::mem::take(&mut machine.devices));
}

#[test]
fn a_machine_without_devices_is_told_once_and_looked_at_again() {
    let mut rig = rig(|_| {});
    gone(&rig);
    assert_eq!(rig.check(Bytes(0)), [Happened::NoDevice]);
    assert_eq!(rig.check(Bytes(0)), []);
    rig.daemon.kernel.come_back();
    assert_eq!(devices(&rig.check(Bytes(0))), ["dax1.3", "dax1.2"]);
    gone(&rig);
    assert_eq!(rig.check(Bytes(0)), [Happened::NoDevice], "again");
}

#[test]
fn what_was_memory_before_a_reboot_and_comes_late_is_zeroed_between_the_checks() {
    let mut rig = rig(|_| {});
    assert_eq!(rig.check(Bytes(0)).len(), 2);
    rig.daemon.kernel.reboot();
    let booted = Machine { boot: "b2".into(), ..rig.daemon.options.machine.clone() };
    let options = DaemonOptions { machine: booted, ..rig.daemon.options.clone() };
    rig.daemon = Daemon::new(rig.daemon.kernel.clone(), options);
    gone(&rig);
    rig.check(Bytes::mib(800));
    rig.daemon.kernel.come_back();
    assert_eq!(rig.contents(2), [SECRET; 4]);
    let before = rig.daemon.kernel.now.get();
    assert_eq!(rig.check(Bytes::mib(800)), []);
    let took = rig.daemon.kernel.now.get() - before;
    assert_eq!(took, Duration::from_secs(1), "the second before it: the check waits for nothing");
    let happened = rig.zero();
    assert_eq!(devices(&happened), ["dax1.2", "dax1.3"]);
    assert!(happened.iter().all(|it| matches!(it, Happened::Zeroed { .. })), "{happened:?}");
    assert_eq!((rig.memory(), rig.contents(2), rig.contents(3)), (0, vec![0; 4], vec![0; 4]));
    for _ in 0..5 {
        rig.check(Bytes(0));
    }
    assert_eq!(rig.memory(), 3);
}

#[test]
fn what_comes_late_and_may_be_another_s_is_left_as_it_is() {
    let mut rig = rig(|_| {});
    // CXL memory has no labels.
    rig.daemon.kernel.edit(|machine| machine.devices[0].device.uuid = None);
    let id = Identity { uuid: None, ..Identity::of(&crate::simulated::device(1)) };
    let before = Machine { machine: "m".into(), boot: "before".into() };
    let mut journal = Journal::open(rig.folder.path(), before).unwrap();
    journal.write(Event::Memory, &id).unwrap();
    rig.daemon.kernel.edit(|machine| machine.devices[0].contents[1] = 7);
    let happened = rig.check(Bytes::mib(800));
    let [Happened::Refused { device, why }] = &happened[..] else { panic!("{happened:?}") };
    assert!(device == "dax1.1" && why.contains("recover --zero dax1.1"), "{why}");
    assert_eq!(rig.check(Bytes::mib(800)), [], "it rests");
    assert_eq!(rig.contents(1), [0, 7, 0, 0]);
}
