//! CXL memory: the driver of memory takes it by itself when the machine is booted, whatever the journal says.

use super::*;

/// A device that is offered, with this on it, after a reboot in which the driver of memory took it.
fn taken(contents: [u8; 4], policy: AutoOnline) -> Rig {
    let rig = rig();
    rig.kernel.edit(|machine| {
        let device = &mut machine.devices[0];
        (device.boots_as, device.contents) = (DaxDriver::Memory, contents.into());
        machine.auto_online = policy;
    });
    rig.kernel.reboot();
    assert_eq!(rig.driver(), DaxDriver::Memory);
    rig
}

#[test]
fn what_the_driver_of_memory_took_by_itself_is_storage_again_as_it_was() {
    let mut rig = taken([0, 7, 0, 0], AutoOnline::Offline);
    let recovered = rig.shifter.recover().remove(0);
    assert_eq!((recovered.was, recovered.is.unwrap()), (State::Storage, Outcome::Rebound));
    assert_eq!((rig.driver(), rig.contents()), (DaxDriver::Storage, vec![0, 7, 0, 0]));
    assert!(rig.shifter.recover().is_empty(), "nothing is left to be made right");
    rig.refused("holds data");
    // So is what was left between the two drivers.
    rig.kernel.edit(|machine| machine.devices[0].device.driver = DaxDriver::None);
    assert_eq!(rig.shifter.recover().remove(0).is.unwrap(), Outcome::Rebound);
    assert_eq!((rig.driver(), rig.contents()), (DaxDriver::Storage, vec![0, 7, 0, 0]));
}

#[test]
fn what_the_driver_of_memory_took_by_itself_can_grow() {
    let mut rig = taken([0; 4], AutoOnline::Offline);
    assert_eq!(rig.shifter.to_memory(&id(1)).unwrap(), Bytes::mib(384));
    assert_eq!((rig.driver(), rig.online()), (DaxDriver::Memory, 3));
    // It is read as ever.
    let mut rig = taken([0, 0, 7, 0], AutoOnline::Offline);
    assert!(matches!(rig.shifter.to_memory(&id(1)), Err(Refusal::HoldsData { .. })));
    assert_eq!((rig.driver(), rig.contents()), (DaxDriver::Storage, vec![0, 0, 7, 0]));
}

#[test]
fn what_is_in_use_as_memory_since_a_reboot_is_adopted_and_zeroed_when_it_goes_back() {
    let mut rig = taken([0; 4], AutoOnline::Movable);
    let refusal = rig.shifter.to_memory(&id(1)).unwrap_err().to_string();
    assert!(refusal.contains("memory already") && refusal.contains("shift recover"), "{refusal}");
    let recovered = rig.shifter.recover().remove(0);
    assert_eq!(recovered.is.unwrap(), Outcome::Memory(Bytes::mib(384)));
    assert_eq!(rig.shifter.journal().state(&id(1)), Some(State::Memory));
    assert_eq!((rig.online(), rig.contents()), (3, vec![SECRET; 4]));
    rig.shifter.to_storage(&id(1), HOW).unwrap();
    assert_eq!((rig.driver(), rig.contents()), (DaxDriver::Storage, vec![0; 4]));
}

#[test]
fn what_is_in_use_for_pages_that_stay_is_no_storage_by_the_journal() {
    let mut rig = taken([0; 4], AutoOnline::Online);
    let refusal = rig.shifter.recover().remove(0).is.unwrap_err().to_string();
    assert!(refusal.contains("in zone Normal"), "{refusal}");
    assert_eq!(rig.shifter.journal().state(&id(1)), Some(State::ToMemory));
    // As other programs' memory is on it, it is zeroed when it can be.
    rig.kernel.edit(|machine| machine.devices[0].boots_as = DaxDriver::Storage);
    rig.kernel.reboot();
    assert_eq!(rig.shifter.recover().remove(0).is.unwrap(), Outcome::Storage);
    assert_eq!(rig.contents(), [0; 4]);
}

#[test]
fn its_owners_device_is_left_to_the_driver_of_memory() {
    let mut rig = taken([0; 4], AutoOnline::Offline);
    rig.shifter.journal.write(Event::Withdrawn, &id(1)).unwrap();
    assert!(rig.shifter.recover().is_empty());
    assert!(matches!(rig.shifter.to_memory(&id(1)), Err(Refusal::Withdrawn(_))));
    assert_eq!(rig.driver(), DaxDriver::Memory);
}

/// A device that was never ours, which the driver of memory took.
fn unknown(contents: [u8; 4], policy: AutoOnline) -> Rig {
    let rig = taken(contents, policy);
    let folder = tempfile::tempdir().unwrap();
    let shifter = Shifter::new(rig.kernel.clone(), open(folder.path()));
    Rig { kernel: rig.kernel, folder, shifter }
}

#[test]
fn what_the_driver_of_memory_has_and_does_not_use_can_be_prepared() {
    let mut rig = unknown([0; 4], AutoOnline::Offline);
    let would = rig.shifter.could_offer("dax1.1").unwrap();
    assert_eq!((would.driver, rig.driver()), (DaxDriver::Memory, DaxDriver::Memory), "a dry run");
    rig.shifter.offer("dax1.1").unwrap();
    assert_eq!((rig.driver(), rig.contents()), (DaxDriver::Storage, vec![0; 4]));
    assert_eq!(rig.shifter.journal().state(&id(1)), Some(State::Storage));
    let mut rig = unknown([0, 0, 0, 7], AutoOnline::Offline);
    assert!(matches!(rig.shifter.offer("dax1.1"), Err(Refusal::HoldsData { .. })));
    assert_eq!((rig.contents(), rig.shifter.journal().state(&id(1))), (vec![0, 0, 0, 7], None));
}

#[test]
fn memory_in_use_is_not_prepared_and_it_is_told_how_it_could_be() {
    let mut rig = unknown([0; 4], AutoOnline::Movable);
    let refusal = rig.shifter.offer("dax1.1").unwrap_err().to_string();
    assert!(refusal.contains("daxctl offline-memory dax1.1"), "{refusal}");
    assert_eq!((rig.driver(), rig.online()), (DaxDriver::Memory, 3));
}
