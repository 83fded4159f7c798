//! One device is zeroed while the next one leaves.

use super::*;
use crate::simulated::{BLOCK, SECRET};

/// Two devices are memory, and too much.
fn too_much() -> Rig {
    let mut rig = grown(1600);
    rig.daemon.pressures.clear();
    rig.daemon.kernel.edit(|machine| machine.one_by_one = false);
    rig
}

fn state(rig: &Rig, number: u64) -> State {
    let seen = Journal::peek(rig.folder.path(), &rig.daemon.options.machine).unwrap();
    seen[&Identity::of(&crate::simulated::device(number))].state
}

#[test]
fn the_first_one_is_storage_when_the_next_one_has_left() {
    let mut rig = too_much();
    let happened = rig.look();
    assert_eq!(devices(&happened), ["dax1.2", "dax1.3", "dax1.2"]);
    // Two blocks of it were zeroed meanwhile, and two were waited for.
    let waited = (crate::simulated::ZEROING * 2).as_secs_f64();
    let [
        Happened::Shrank { .. },
        Happened::Shrank { seconds: 0.0, .. },
        Happened::Zeroed { seconds, .. },
    ] = happened[..]
    else {
        panic!("{happened:?}")
    };
    assert!((seconds - waited).abs() < 1e-9, "{seconds}");
    assert_eq!((state(&rig, 2), rig.contents(2)), (State::Storage, vec![0; 4]));
    assert_eq!((state(&rig, 3), rig.contents(3)), (State::ToStorage, vec![SECRET; 4]));
    assert_eq!(devices(&rig.zero()), ["dax1.3"]);
}

#[test]
fn it_is_storage_when_it_is_zeroed_however_long_the_next_one_takes_to_leave() {
    let mut rig = too_much();
    rig.daemon.kernel.edit(|machine| machine.offlining = Duration::from_secs(2));
    assert_eq!(devices(&rig.look()), ["dax1.2"]);
    rig.daemon.kernel.edit(|machine| machine.free_dram = Bytes::mib(800));
    let before = rig.daemon.kernel.now.get();
    let happened = rig.look();
    assert_eq!(devices(&happened), ["dax1.3", "dax1.2"]);
    let [_, Happened::Zeroed { seconds, .. }] = happened[..] else { panic!("{happened:?}") };
    // The second before the check; it was zeroed in the middle of the second of three blocks.
    assert!((seconds - 3.8).abs() < 0.15, "{seconds}");
    assert_eq!((rig.daemon.kernel.now.get() - before).as_secs(), 7);
}

#[test]
fn it_is_given_up_where_programs_want_memory_and_is_memory_again() {
    let mut rig = too_much();
    // A quarter of what is to stay free is 128 MiB; the simulation counts free memory twice.
    rig.daemon.kernel.edit(|machine| machine.used_up_zeroing = Bytes::mib(100));
    assert_eq!(devices(&rig.look()), ["dax1.2", "dax1.3"]);
    assert!(rig.daemon.kernel.beside.borrow().is_none(), "nobody zeroes it any more");
    assert_eq!((state(&rig, 2), rig.memory()), (State::ToStorage, 0));
    assert!(rig.contents(2).contains(&0) && rig.contents(2).contains(&SECRET));
    rig.use_up(300);
    assert!(rig.daemon.zero(Duration::from_secs(1)).unwrap());
    assert_eq!(rig.memory(), 1);
}

#[test]
fn it_is_given_up_where_the_next_one_stays() {
    let mut rig = too_much();
    rig.daemon.kernel.edit(|machine| {
        // More than DRAM has room for.
        machine.devices[2].blocks.values_mut().for_each(|block| block.used = 100_000);
    });
    let happened = rig.look();
    let refused =
        |it: &Happened| matches!(it, Happened::Refused { device, .. } if device == "dax1.3");
    assert!(happened.iter().any(refused), "{happened:?}");
    assert!(rig.daemon.kernel.beside.borrow().is_none());
    assert_eq!((state(&rig, 2), state(&rig, 3)), (State::ToStorage, State::Memory));
    assert_eq!(devices(&rig.zero()), ["dax1.2"]);
    assert_eq!((state(&rig, 2), rig.contents(2)), (State::Storage, vec![0; 4]));
}

#[test]
fn what_is_not_zeros_when_it_is_read_is_zeroed_again_from_there_on() {
    let mut rig = too_much();
    rig.daemon.kernel.edit(|machine| machine.written_zeroing = true);
    assert_eq!(devices(&rig.look()), ["dax1.2", "dax1.3"]);
    assert_eq!((state(&rig, 2), rig.contents(2)), (State::ToStorage, vec![0, 0, 7, 0]));
    assert_eq!(rig.daemon.zeroing.left[0].zeroed, 2 * BLOCK.0);
    assert_eq!(devices(&rig.zero()), ["dax1.2", "dax1.3"]);
    assert_eq!((state(&rig, 2), rig.contents(2)), (State::Storage, vec![0; 4]));
}

#[test]
fn one_that_cannot_be_zeroed_rests() {
    let mut rig = too_much();
    rig.daemon.kernel.edit(|machine| machine.fails = vec!["zero beside"]);
    let happened = rig.look();
    let [.., Happened::Refused { device, why }] = &happened[..] else { panic!("{happened:?}") };
    assert!(device == "dax1.2" && why.contains("cannot clear it"), "{device}: {why}");
    assert_eq!(state(&rig, 2), State::ToStorage);
    assert_eq!(devices(&rig.zero()), ["dax1.3"]);
    rig.daemon.kernel.edit(|machine| machine.fails.clear());
    rig.daemon.kernel.sleep(REST);
    rig.look();
    assert_eq!(devices(&rig.zero()), ["dax1.2"]);
}

#[test]
fn one_that_somebody_made_storage_meanwhile_is_not_begun() {
    let mut rig = too_much();
    rig.daemon.kernel.edit(|machine| machine.one_by_one = true);
    rig.look();
    let machine = rig.daemon.options.machine.clone();
    let mut journal = Journal::open(rig.folder.path(), machine).unwrap();
    let [other, id] = [1, 2].map(|number| Identity::of(&crate::simulated::device(number)));
    journal.write(Event::Withdrawn, &id).unwrap();
    Shifter::new(rig.daemon.kernel.clone(), journal).to_memory(&other).unwrap();
    rig.daemon.kernel.edit(|machine| {
        machine.one_by_one = false;
        machine.devices[1].contents = vec![1; 4];
    });
    let how = crate::GiveBack {
        limit: Duration::from_secs(10),
        evict: false,
        withdraw: false,
        unless_used_up: None,
    };
    rig.daemon.leave_beside(NodeId(0), &BTreeSet::new(), &other, how).unwrap().0.unwrap();
    assert_eq!(rig.contents(2), [1; 4], "it is his");
}
