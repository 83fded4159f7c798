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
    assert_eq!(devices(&rig.finish()), ["dax1.2", "dax1.3"]);
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

/// A minute later, when what refused is asked again.
fn later(rig: &mut Rig) -> Vec<Happened> {
    rig.daemon.kernel.edit(|machine| machine.fails.clear());
    rig.daemon.kernel.sleep(REST);
    rig.look()
}

fn state(rig: &Rig, number: u64) -> State {
    let seen = Journal::peek(rig.folder.path(), &rig.daemon.options.machine).unwrap();
    seen[&Identity::of(&crate::simulated::device(number))].state
}

#[test]
fn what_refuses_to_be_zeroed_is_tried_again_after_a_minute() {
    for step in ["zero", "read", "users", "bind device_dax"] {
        let mut rig = grown(1600);
        rig.daemon.pressures.clear();
        rig.daemon.kernel.edit(|machine| machine.fails = vec![step]);
        rig.look();
        let happened = rig.zero();
        assert_eq!(happened.len(), 2);
        assert!(happened.iter().all(|it| matches!(it, Happened::Refused { .. })), "{happened:?}");
        assert_eq!(rig.look(), [], "it rests");
        assert_eq!((state(&rig, 2), rig.memory()), (State::ToStorage, 0));
        later(&mut rig);
        assert_eq!(devices(&rig.zero()), ["dax1.2", "dax1.3"], "{step}");
        assert_eq!((rig.contents(2), rig.contents(3)), (vec![0; 4], vec![0; 4]), "{step}");
        assert_eq!((state(&rig, 2), state(&rig, 3)), (State::Storage, State::Storage), "{step}");
    }
}

#[test]
fn a_device_that_does_not_leave_its_driver_is_zeroed_after_a_minute() {
    let mut rig = grown(1200);
    rig.daemon.pressures.clear();
    rig.daemon.kernel.edit(|machine| machine.fails = vec!["unbind"]);
    let happened = rig.look();
    assert!(matches!(&happened[..], [Happened::Refused { .. }, ..]), "{happened:?}");
    assert_eq!(state(&rig, 2), State::ToStorage);
    later(&mut rig);
    assert!(devices(&rig.zero()).contains(&"dax1.2"));
    assert_eq!((state(&rig, 2), rig.contents(2)), (State::Storage, vec![0; 4]));
}

#[test]
fn blocks_that_would_not_come_back_are_memory_again_after_a_minute() {
    let mut rig = grown(1200);
    rig.daemon.pressures.clear();
    rig.daemon.kernel.edit(|machine| {
        machine.devices[1].blocks.values_mut().last().unwrap().pinned = true;
        machine.fails = vec!["online"];
    });
    let happened = rig.look();
    assert!(matches!(&happened[0], Happened::Refused { .. }), "{happened:?}");
    assert_eq!(state(&rig, 2), State::ToStorage, "two of its blocks are out of use");
    let free = |machine: &mut crate::simulated::Machine| machine.free_dram = Bytes::mib(250);
    rig.daemon.kernel.edit(free);
    let happened = later(&mut rig);
    let memory = Bytes::mib(384);
    assert!(
        matches!(&happened[0], Happened::Restored { device, bytes } if device == "dax1.2" && *bytes == memory),
        "{happened:?}"
    );
    assert_eq!(state(&rig, 2), State::Memory);
}

#[test]
fn what_another_is_converting_is_left_to_him_without_waiting() {
    let mut rig = grown(500);
    let machine = rig.daemon.options.machine.clone();
    let lock = Lock::change(rig.folder.path(), Duration::ZERO).unwrap();
    let id = Identity::of(&crate::simulated::device(2));
    let mut journal = Journal::open(rig.folder.path(), machine).unwrap();
    journal.write(Event::ToStorage, &id).unwrap();
    assert_eq!(rig.look(), []);
    assert!(rig.daemon.zeroing.left.is_empty());
    drop(lock);
    // He was killed.
    assert!(matches!(&rig.look()[..], [Happened::Restored { .. }]));
}

#[test]
fn at_its_end_what_refused_is_tried_once_more() {
    let mut rig = grown(1600);
    rig.daemon.pressures.clear();
    rig.look();
    rig.daemon.kernel.edit(|machine| machine.fails = vec!["zero"]);
    rig.zero();
    let happened = rig.finish();
    assert!(matches!(&happened[..], [Happened::Refused { .. }, Happened::Refused { .. }]));
    rig.daemon.kernel.edit(|machine| machine.fails.clear());
    assert_eq!(devices(&rig.finish()), ["dax1.2", "dax1.3"]);
    assert_eq!((rig.contents(2), rig.contents(3)), (vec![0; 4], vec![0; 4]));
}

#[test]
fn at_its_end_anothers_change_is_waited_for_however_long_it_takes() {
    let mut rig = grown(1600);
    rig.daemon.pressures.clear();
    rig.look();
    let lock = Lock::change(rig.folder.path(), Duration::ZERO).unwrap();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            std::thread::sleep(OTHERS + OTHERS / 2);
            drop(lock);
        });
        assert_eq!(devices(&rig.finish()), ["dax1.2", "dax1.3"]);
    });
}

#[test]
fn what_its_owner_wants_goes_on_to_him_however_short_memory_is() {
    // Killed when a block was offline, when all were, and in the middle of zeroing.
    for changes in [1, 2, 4, 6] {
        let mut rig = grown(1600);
        let id = Identity::of(&crate::simulated::device(2));
        let journal = Journal::open(rig.folder.path(), rig.daemon.options.machine.clone()).unwrap();
        let mut owner = Shifter::new(rig.daemon.kernel.clone(), journal);
        rig.daemon.kernel.kill.set(Some((changes, true)));
        let limit = Duration::from_secs(10);
        let how = crate::GiveBack { limit, evict: false, withdraw: true, unless_used_up: None };
        assert!(owner.to_storage(&id, how).is_err());
        rig.daemon.kernel.kill.set(None);
        assert_eq!(state(&rig, 2), State::ToStorage);
        let happened: Vec<Happened> = (0..4).flat_map(|_| rig.check(Bytes::mib(0))).collect();
        assert!(!devices(&happened).contains(&"dax1.2"), "{changes}: {happened:?}");
        assert_eq!(devices(&rig.zero()), ["dax1.2"], "{changes}");
        assert_eq!((state(&rig, 2), rig.contents(2)), (State::Withdrawn, vec![0; 4]), "{changes}");
    }
}
