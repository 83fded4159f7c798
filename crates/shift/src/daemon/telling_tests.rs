//! The daemon tells before devices go, and waits for who heeds it between its checks.

use super::*;
use crate::Heeding;

/// Two devices are memory and may go, and what stays of their node has no room for what is used on it. Somebody heeds
/// it, with epochs of two seconds.
fn heeded() -> Rig {
    let mut rig = grown(2800);
    rig.daemon.pressures.clear();
    rig.daemon.kernel.edit(|machine| {
        machine.demotes_to = Some(Bytes::mib(200));
        machine.heeding = vec![Heeding { heeded: 0, epoch: Duration::from_secs(2) }];
    });
    rig
}

/// How much of the node was said to be about to leave, one after the other; none: nothing any more.
fn said(rig: &Rig) -> Vec<Option<u64>> {
    let said = rig.daemon.kernel.machine.borrow().announced.clone();
    said.into_iter().map(|it| it.map(|it| it.bytes.0 >> 20)).collect()
}

fn have_left(happened: &[Happened]) -> usize {
    happened.iter().filter(|it| matches!(it, Happened::Shrank { .. })).count()
}

#[test]
fn all_that_goes_is_told_at_once_and_goes_when_that_was_heeded() {
    let mut rig = heeded();
    assert_eq!((rig.look(), said(&rig)), (vec![], vec![Some(768)]));
    assert_eq!((rig.look(), rig.memory()), (vec![], 2));
    rig.daemon.kernel.edit(|machine| machine.heeding[0].heeded = 1);
    assert_eq!(have_left(&rig.look()), 2);
    assert_eq!(said(&rig), [Some(768), Some(384), None]);
}

#[test]
fn what_is_too_much_later_is_told_too_and_nobody_has_more_time_for_it() {
    let mut rig = heeded();
    rig.daemon.kernel.edit(|machine| machine.free_dram = Bytes::mib(750));
    assert_eq!((rig.look(), said(&rig)), (vec![], vec![Some(384)]));
    rig.daemon.kernel.edit(|machine| machine.free_dram = Bytes::mib(2800));
    for _ in 0..3 {
        assert_eq!(rig.look(), []);
    }
    assert_eq!(said(&rig), [Some(384), Some(768)]);
    assert_eq!(have_left(&rig.look()), 2, "four seconds after the first was told");
}

#[test]
fn who_does_nothing_is_waited_for_two_of_his_epochs_and_who_ends_no_longer() {
    let mut rig = heeded();
    for _ in 0..4 {
        assert_eq!(rig.look(), []);
    }
    assert_eq!(have_left(&rig.look()), 2, "four seconds after it was told");
    let mut rig = heeded();
    rig.look();
    rig.daemon.kernel.edit(|machine| machine.heeding.clear());
    assert_eq!(have_left(&rig.look()), 2);
}

#[test]
fn nobody_is_told_where_nobody_heeds_it_or_what_goes_would_be_refused() {
    let mut rig = heeded();
    rig.daemon.kernel.edit(|machine| machine.heeding.clear());
    assert_eq!(have_left(&rig.look()), 2);
    assert_eq!(said(&rig), []);
    let mut rig = heeded();
    rig.daemon.kernel.edit(|machine| {
        // Three times as much is not free.
        for device in &mut machine.devices {
            device.blocks.values_mut().for_each(|block| block.used = 300 << 20 >> 12);
        }
    });
    assert!(rig.look().iter().all(|it| matches!(it, Happened::Refused { .. })));
    assert_eq!(said(&rig), []);
}

#[test]
fn memory_that_programs_want_meanwhile_stays_and_that_is_told() {
    let mut rig = heeded();
    rig.look();
    rig.daemon.kernel.edit(|machine| machine.free_dram = Bytes::mib(500));
    rig.look();
    rig.look();
    assert_eq!((rig.memory(), said(&rig)), (2, vec![Some(768), None]));
}

#[test]
fn what_stays_with_room_for_all_that_is_used_is_not_waited_for() {
    let mut rig = heeded();
    rig.daemon.kernel.edit(|machine| machine.demotes_to = Some(Bytes::mib(768)));
    assert_eq!(have_left(&rig.look()), 2);
}
