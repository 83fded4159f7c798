//! What a machine or a user may do to us: each is told with its remedy, and the machine is left as it was.

use super::*;
use crate::Lock;

/// What is refused says all of this, and the devices are as before.
#[track_caller]
fn told(rig: &Rig, refusal: &impl ToString, parts: &[&str], before: &[Vec<u8>]) {
    let refusal = refusal.to_string();
    for part in parts {
        assert!(refusal.contains(part), "{part}: {refusal}");
    }
    let machine = rig.kernel.machine.borrow();
    let now: Vec<Vec<u8>> = machine.devices.iter().map(|it| it.contents.clone()).collect();
    assert_eq!(now, before);
    assert!(machine.devices.iter().all(|it| it.device.driver == DaxDriver::Storage), "{refusal}");
}

const EMPTY: [u8; 4] = [0; 4];

#[test]
fn a_machine_without_a_dax_device_may_have_one_later() {
    can_run(&rig_of(0).kernel).unwrap();
}

#[test]
fn a_kernel_without_kmem_is_told_before_anything_begins() {
    let rig = rig();
    rig.kernel.edit(|machine| machine.drivers = false);
    let refusal = can_run(&rig.kernel).unwrap_err();
    let parts = ["no driver kmem", "modprobe kmem", "CONFIG_DEV_DAX_KMEM"];
    told(&rig, &refusal, &parts, &[EMPTY.into()]);
}

#[test]
fn a_kernel_that_takes_memory_into_use_by_policy_is_told_before_anything_begins() {
    let rig = rig();
    rig.kernel.edit(|machine| machine.auto_online = AutoOnline::Online);
    let refusal = can_run(&rig.kernel).unwrap_err();
    let parts = ["by itself", "echo offline >/sys/devices/system/memory/auto_online_blocks"];
    told(&rig, &refusal, &parts, &[EMPTY.into()]);
    rig.kernel.edit(|machine| machine.auto_online = AutoOnline::Offline);
    can_run(&rig.kernel).unwrap();
}

#[test]
fn a_block_that_never_goes_offline_is_named_with_what_to_do() {
    let mut rig = rig();
    rig.shifter.to_memory(&id(1)).unwrap();
    let pin = |machine: &mut crate::simulated::Machine| {
        machine.devices[0].blocks.values_mut().for_each(|block| block.pinned = true);
    };
    rig.kernel.edit(pin);
    let refusal = rig.shifter.to_storage(&id(1), HOW).unwrap_err().to_string();
    for part in ["block 5 of dax1.1 did not go offline", "within 10 s", "Pinned pages", "--time"] {
        assert!(refusal.contains(part), "{part}: {refusal}");
    }
    assert_eq!((rig.driver(), rig.online()), (DaxDriver::Memory, 3));
    assert_eq!(rig.kernel.now(), HOW.limit, "not longer than it may take");
}

#[test]
fn a_second_manager_is_told_who_the_first_one_is() {
    let rig = rig();
    let manager = || Lock::manager(rig.folder.path(), &rig.folder.path().join("machine"));
    let _first = manager().unwrap();
    let refusal = manager().unwrap_err();
    let us = format!("is held by process {} (", std::process::id());
    told(&rig, &refusal, &[&us, "wait for it, or end it"], &[EMPTY.into()]);
}

#[test]
fn a_journal_of_another_machine_is_told_and_nothing_is_converted() {
    let rig = rig();
    let other = Machine { machine: "other".into(), boot: "b".into() };
    let refusal = Journal::open(rig.folder.path(), other).unwrap_err();
    told(&rig, &refusal, &["machine m", "this is other", "--state"], &[EMPTY.into()]);
}

#[test]
fn what_a_torn_journal_announced_had_not_begun() {
    let mut rig = rig();
    let path = rig.folder.path().join("journal");
    let whole = std::fs::read(&path).unwrap().len();
    rig.shifter.to_memory(&id(1)).unwrap();
    rig.kernel.reboot();
    let all = std::fs::read(&path).unwrap();
    let first = all[whole..].iter().position(|byte| *byte == b'\n').unwrap();
    // Nothing but the announcement was on its way to the disk: the machine was not changed yet.
    rig.kernel.edit(|machine| machine.devices[0].contents = EMPTY.into());
    for length in whole + 1..whole + first {
        std::fs::write(&path, &all[..length]).unwrap();
        let mut later = Shifter::new(rig.kernel.clone(), open(rig.folder.path()));
        assert!(later.journal().was_torn(), "{length}");
        assert_eq!(later.journal().state(&id(1)), Some(State::Storage));
        assert!(later.recover().is_empty(), "nothing is to be made right");
    }
    assert_eq!((rig.driver(), rig.contents()), (DaxDriver::Storage, EMPTY.into()));
}

#[test]
fn a_device_that_is_gone_is_told_with_how_to_see_what_is_there() {
    let mut rig = rig();
    rig.kernel.edit(|machine| machine.devices.clear());
    for refusal in
        [rig.shifter.to_memory(&id(1)).unwrap_err(), rig.shifter.offer("dax1.1").unwrap_err()]
    {
        told(&rig, &refusal, &["is not there", "pagetide shift status"], &[]);
    }
}

#[test]
fn a_device_that_disappears_at_any_step_is_made_right_when_it_is_back() {
    let steps =
        ["unbind", "memmap", "bind kmem", "online", "empty", "offline", "bind device_dax", "zero"];
    for (step, way) in steps.iter().flat_map(|step| [(*step, "there"), (*step, "back")]) {
        let mut rig = rig();
        let vanish = |machine: &mut crate::simulated::Machine| machine.vanish_at = Some(step);
        if way == "there" {
            rig.kernel.edit(vanish);
        }
        let mut came = rig.shifter.to_memory(&id(1)).map(|_| ());
        if way == "back" {
            rig.kernel.edit(|machine| {
                machine.devices[0].blocks.values_mut().for_each(|block| block.used = 100);
            });
            rig.kernel.edit(vanish);
            came = rig.shifter.to_storage(&id(1), HOW).map(|_| ());
        }
        let gone = rig.kernel.machine.borrow().devices.is_empty();
        assert_eq!(came.is_err(), gone, "{step} {way}: {came:?}");
        if !gone {
            continue;
        }
        let recovered = rig.shifter.recover();
        assert!(recovered.iter().all(|it| matches!(it.is, Err(Refusal::Gone(_)))), "{step} {way}");
        assert_ne!(rig.shifter.journal().state(&id(1)), Some(State::Storage), "{step} {way}");
        rig.kernel.come_back();
        assert!(rig.shifter.recover().iter().all(|it| it.is.is_ok()), "{step} {way}");
        assert_eq!(
            (rig.driver(), rig.contents()),
            (DaxDriver::Storage, EMPTY.into()),
            "{step} {way}"
        );
        assert_eq!(rig.shifter.journal().state(&id(1)), Some(State::Storage), "{step} {way}");
    }
}
