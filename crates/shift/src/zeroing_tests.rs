//! What leaves at a check, and what becomes of it until it is storage.

use super::*;

#[test]
fn all_that_is_too_much_goes_back_at_one_check_and_is_zeroed_after_it() {
    // 512 MiB are to stay, and a device is 384 MiB.
    for (free, gone) in [(1600, ["dax1.2", "dax1.3"].as_slice()), (1200, &["dax1.2"])] {
        let mut rig = grown(free);
        // The free memory is smoothed; after a device went it is looked at anew.
        rig.daemon.pressures.clear();
        let happened = rig.look();
        assert_eq!(devices(&happened), gone, "of {free} MiB");
        assert!(happened.iter().all(|it| matches!(it, Happened::Shrank { .. })), "{happened:?}");
        assert_eq!(rig.contents(2), [crate::simulated::SECRET; 4], "not zeroed yet");
        let happened = rig.zero();
        assert_eq!(devices(&happened), gone);
        assert!(happened.iter().all(|it| matches!(it, Happened::Zeroed { .. })), "{happened:?}");
        assert_eq!(rig.contents(2), [0; 4]);
    }
}

#[test]
fn what_is_wanted_before_it_is_zeroed_is_memory_again_at_once() {
    let mut rig = grown(1600);
    rig.daemon.pressures.clear();
    assert_eq!(devices(&rig.look()), ["dax1.2", "dax1.3"]);
    assert!(rig.daemon.zero(crate::simulated::ZEROING).unwrap());
    assert_eq!(rig.contents(2)[0], 0, "begun");
    // A quarter of what was to stay free is 128 MiB or more.
    rig.use_up(100);
    assert!(rig.daemon.zero(crate::simulated::ZEROING).unwrap());
    assert_eq!(rig.memory(), 0);
    rig.use_up(200);
    assert!(rig.daemon.zero(crate::simulated::ZEROING).unwrap());
    assert_eq!(rig.memory(), 1);
    let happened = rig.look();
    // The one that nobody had begun to zero.
    let [Happened::Again { device, bytes, .. }] = &happened[..] else { panic!("{happened:?}") };
    assert!(device == "dax1.3" && *bytes == Bytes::mib(384), "{happened:?}");
    // The simulation's free memory did not grow: programs want the other one, too.
    assert_eq!(devices(&rig.zero()), ["dax1.2"]);
    assert_eq!((rig.memory(), rig.contents(3)), (2, vec![crate::simulated::SECRET; 4]));
}

#[test]
fn memory_that_grows_takes_what_is_not_zeroed_yet_first() {
    let mut rig = grown(1600);
    rig.daemon.pressures.clear();
    rig.look();
    rig.daemon.kernel.sleep(Duration::from_secs(5));
    let happened: Vec<Happened> = (0..4).flat_map(|_| rig.check(Bytes::mib(0))).collect();
    assert!(
        matches!(&happened[..], [Happened::Again { .. }, Happened::Again { .. }]),
        "{happened:?}"
    );
    assert_eq!(devices(&happened), ["dax1.3", "dax1.2"]);
}

#[test]
fn what_another_made_storage_meanwhile_is_not_gone_on_with() {
    let mut rig = grown(1600);
    rig.daemon.pressures.clear();
    rig.look();
    let machine = rig.daemon.options.machine.clone();
    let journal = Journal::open(rig.folder.path(), machine).unwrap();
    let mut other = Shifter::new(rig.daemon.kernel.clone(), journal);
    assert!(other.recover().iter().all(|it| it.is.is_ok()));
    rig.use_up(1000);
    assert_eq!(rig.zero(), []);
    assert_eq!(rig.memory(), 0);
}

#[test]
fn at_its_end_all_is_zeroed_whoever_wants_it() {
    let mut rig = grown(1600);
    rig.daemon.pressures.clear();
    rig.look();
    rig.use_up(1000);
    assert_eq!(devices(&rig.daemon.finish().unwrap()), ["dax1.2", "dax1.3"]);
    assert_eq!((rig.memory(), rig.contents(2), rig.contents(3)), (0, vec![0; 4], vec![0; 4]));
}

#[test]
fn a_check_comes_early_where_more_than_a_device_became_free() {
    let mut rig = grown(400);
    rig.look();
    let mut freer = |mib: u64| {
        // The simulation counts free memory twice.
        rig.daemon.kernel.edit(|machine| machine.free_dram += Bytes::mib(mib / 2));
        rig.daemon.is_due()
    };
    assert!(!freer(1000), "what is free after a check is taken in");
    assert!(!freer(382));
    assert!(freer(2), "a device has 384 MiB");
    rig.look();
    assert!(!rig.daemon.is_due());
}

#[test]
fn nothing_is_looked_at_between_checks_where_nothing_of_ours_is_memory() {
    let mut rig = rig(|_| {});
    rig.check(Bytes::mib(600));
    assert!(rig.daemon.since.is_empty());
    rig.daemon.kernel.edit(|machine| machine.free_dram = Bytes::gib(8));
    assert!(!rig.daemon.is_due());
}

#[test]
fn a_check_comes_early_where_a_device_has_to_be_begun() {
    let mut rig = rig(|_| {});
    for free in [1600, 1500, 1400] {
        assert!(rig.check(Bytes::mib(free)).is_empty());
    }
    // The threshold is 102.4 MiB; 100 MiB go in each of the 0.98 seconds that a device takes, and in the
    // tenth of one until it is looked again.
    let mut left = |mib: u64| {
        rig.daemon.kernel.edit(|machine| machine.free_dram = Bytes::mib(mib / 2));
        rig.daemon.is_due()
    };
    assert!(!left(400));
    assert!(!left(212));
    assert!(left(208));
    rig.check(Bytes::mib(1600));
    assert!(!rig.daemon.is_due());
}
