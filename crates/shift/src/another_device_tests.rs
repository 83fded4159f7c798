//! A device without labels is known by its place alone: after a reboot, or when one is made anew there, it may be another.

use super::*;

/// A device that its place alone tells from others, which was memory when the machine was booted.
fn without_a_name() -> (Rig, Identity) {
    let mut rig = rig();
    rig.kernel.edit(|machine| machine.devices[0].device.uuid = None);
    rig.shifter.offer("dax1.1").unwrap();
    let id = Identity { uuid: None, ..id(1) };
    rig.shifter.to_memory(&id).unwrap();
    rig.kernel.reboot();
    let later = Machine { machine: "m".into(), boot: "c".into() };
    rig.shifter.journal = Journal::open(rig.folder.path(), later).unwrap();
    (rig, id)
}

#[test]
fn after_a_reboot_what_is_known_by_its_place_alone_is_zeroed_only_if_that_is_said() {
    let (mut rig, id) = without_a_name();
    let refusal = rig.shifter.recover_device(&id, false).unwrap().is.unwrap_err().to_string();
    assert!(refusal.contains("recover --zero dax1.1"), "{refusal}");
    assert_eq!(rig.contents(), [SECRET; 4]);
    assert_eq!(rig.shifter.journal().state(&id), Some(State::Memory));
    let is = rig.shifter.recover_device(&id, true).unwrap().is;
    assert_eq!((is.unwrap(), rig.contents()), (Outcome::Storage, vec![0; 4]));
    // The daemon leaves it alone as well.
    let (mut rig, id) = without_a_name();
    rig.shifter.journal.write(Event::ToStorage, &id).unwrap();
    rig.kernel.reboot();
    let later = Machine { machine: "m".into(), boot: "d".into() };
    rig.shifter.journal = Journal::open(rig.folder.path(), later).unwrap();
    assert_eq!(rig.shifter.go_on(&id).unwrap(), crate::recover::GoOn::Unsure);
    assert_eq!(rig.contents(), [SECRET; 4]);
}

#[test]
fn after_a_reboot_a_device_of_nothing_but_zeros_is_storage_whatever_it_is_known_by() {
    let (mut rig, id) = without_a_name();
    rig.kernel.edit(|machine| machine.devices[0].contents = vec![0; 4]);
    assert_eq!(rig.shifter.recover_device(&id, false).unwrap().is.unwrap(), Outcome::Storage);
    let (mut rig, id) = without_a_name();
    rig.kernel.edit(|machine| machine.devices[0].users.push("db (3)".into()));
    let is = rig.shifter.recover_device(&id, true).unwrap().is;
    assert!(matches!(is, Err(Refusal::InUse { .. })), "{is:?}");
}

/// What may take a device by itself.
const BOOTS: [DaxDriver; 3] = [DaxDriver::Storage, DaxDriver::None, DaxDriver::Memory];

#[test]
fn after_a_reboot_what_may_be_another_device_is_not_zeroed_whatever_drives_it() {
    for boots_as in BOOTS {
        let (mut rig, id) = without_a_name();
        let mut reboot = |contents: [u8; 4]| {
            rig.kernel.edit(|machine| {
                let device = &mut machine.devices[0];
                (device.boots_as, device.contents) = (boots_as.clone(), contents.into());
            });
            rig.kernel.reboot();
            let is = rig.shifter.recover_device(&id, false).unwrap().is;
            (is, rig.driver(), rig.contents())
        };
        let (is, driver, contents) = reboot([0, 0, 7, 0]);
        assert!(matches!(is, Err(Refusal::Unsure { .. })), "{boots_as:?}: {is:?}");
        assert_eq!((driver, contents), (DaxDriver::Storage, vec![0, 0, 7, 0]), "{boots_as:?}");
        let (is, driver, _) = reboot([0; 4]);
        assert_eq!((is.unwrap(), driver), (Outcome::Storage, DaxDriver::Storage), "{boots_as:?}");
    }
}

#[test]
fn what_is_memory_after_a_reboot_is_written_down_as_of_this_boot() {
    for number in [0, 1] {
        let (mut rig, mut id) = without_a_name();
        if number == 0 {
            // One with labels is told from others by them, and goes back as any.
            rig.kernel.edit(|machine| machine.devices[0].device.uuid = Some("uuid-1".into()));
            id = self::id(1);
            rig.shifter.journal.write(Event::Memory, &id).unwrap();
            let next = Machine { machine: "m".into(), boot: "d".into() };
            rig.shifter.journal = Journal::open(rig.folder.path(), next).unwrap();
        }
        rig.kernel.edit(|machine| {
            machine.devices[0].boots_as = DaxDriver::Memory;
            machine.auto_online = AutoOnline::Movable;
        });
        rig.kernel.reboot();
        let is = rig.shifter.recover_device(&id, false).unwrap().is.unwrap();
        assert_eq!(is, Outcome::Memory(Bytes::mib(384)));
        let boot = &rig.shifter.journal().devices()[&id].boot;
        assert_eq!(boot, if number == 0 { "d" } else { "c" });
        rig.shifter.to_storage(&id, HOW).unwrap();
        assert_eq!((rig.driver(), rig.contents()), (DaxDriver::Storage, vec![0; 4]));
    }
}

/// A device that its place alone tells from others, and that has left when another is lent at the same place.
fn exchanged(boots_as: DaxDriver) -> (Rig, Identity) {
    let mut rig = rig();
    rig.kernel.edit(|machine| machine.devices[0].device.uuid = None);
    rig.shifter.offer("dax1.1").unwrap();
    let id = Identity { uuid: None, ..id(1) };
    rig.shifter.to_memory(&id).unwrap();
    rig.shifter.leave(&id, HOW).unwrap();
    rig.kernel.edit(|machine| machine.devices[0].boots_as = boots_as);
    rig.kernel.exchange([0, 7, 0, 0]);
    (rig, id)
}

#[test]
fn a_device_that_was_lent_at_the_place_of_another_is_not_zeroed() {
    type Way = fn(&mut Rig, &Identity) -> bool;
    let ways: [(&str, Way); 6] = [
        ("zero", |rig, id| {
            let ended = rig.shifter.zero(id, &mut 0, Duration::MAX);
            matches!(ended, Err(Refusal::Unsure { .. }))
        }),
        ("on", |rig, id| {
            let ended = rig.shifter.zero(id, &mut (128 << 20), Duration::MAX);
            matches!(ended, Err(Refusal::Unsure { .. }))
        }),
        ("beside", |rig, id| rig.shifter.begin_beside(id, 0).is_err()),
        ("again", |rig, id| matches!(rig.shifter.again(id), Ok(None))),
        ("give back", |rig, id| {
            matches!(rig.shifter.to_storage(id, HOW), Err(Refusal::Unsure { .. }))
        }),
        ("recover", |rig, id| {
            let is = rig.shifter.recover_device(id, false).unwrap().is;
            matches!(is, Err(Refusal::Unsure { .. }))
        }),
    ];
    for (boots_as, (name, way)) in
        BOOTS.into_iter().flat_map(|it| ways.map(|way| (it.clone(), way)))
    {
        let (mut rig, id) = exchanged(boots_as.clone());
        assert!(way(&mut rig, &id), "{name} {boots_as:?}");
        assert_eq!(rig.contents(), [0, 7, 0, 0], "{name} {boots_as:?}");
        assert_eq!(rig.shifter.go_on(&id).unwrap(), crate::recover::GoOn::Unsure);
        assert_eq!(rig.shifter.recover_device(&id, true).unwrap().is.unwrap(), Outcome::Storage);
        assert_eq!(rig.contents(), [0; 4], "it was said that nobody wants it");
    }
}

#[test]
fn a_device_in_the_place_of_one_that_was_memory_is_not_given_back() {
    let (mut rig, id) = exchanged(DaxDriver::Memory);
    rig.shifter.journal.write(Event::Memory, &id).unwrap();
    let refusal = rig.shifter.leave(&id, HOW).unwrap_err().to_string();
    assert!(refusal.contains("perhaps another device at the same place"), "{refusal}");
    assert_eq!((rig.driver(), rig.contents()), (DaxDriver::Memory, vec![0, 7, 0, 0]));
}

#[test]
fn an_empty_device_in_the_place_of_another_is_storage() {
    let (mut rig, id) = exchanged(DaxDriver::Storage);
    rig.kernel.exchange([0; 4]);
    assert_eq!(rig.shifter.recover_device(&id, false).unwrap().is.unwrap(), Outcome::Storage);
    rig.shifter.to_memory(&id).unwrap();
    rig.shifter.to_storage(&id, HOW).unwrap();
    assert_eq!(rig.contents(), [0; 4]);
}
