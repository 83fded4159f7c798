//! Conversions on a simulated kernel: every refusal, and what failed is undone.

use crate::simulated::{SECRET, SimKernel, device};
use crate::*;
use pagetide_host::{AutoOnline, DaxDriver};
use pagetide_types::Bytes;
use std::{path::Path, time::Duration};

const HOW: GiveBack = GiveBack {
    limit: Duration::from_secs(10),
    evict: false,
    withdraw: false,
    unless_used_up: None,
};

fn id(number: u64) -> Identity {
    Identity::of(&device(number))
}

fn open(folder: &Path) -> Journal {
    Journal::open(folder, Machine { machine: "m".into(), boot: "b".into() }).unwrap()
}

struct Rig {
    kernel: SimKernel,
    folder: tempfile::TempDir,
    shifter: Shifter<SimKernel>,
}

/// A machine with one device, offered.
fn rig() -> Rig {
    rig_of(1)
}

/// With so many.
fn rig_of(devices: u64) -> Rig {
    let kernel = SimKernel::new(devices);
    let folder = tempfile::tempdir().unwrap();
    let mut shifter = Shifter::new(kernel.clone(), open(folder.path()));
    for number in 1..=devices {
        shifter.offer(&format!("dax1.{number}")).unwrap();
    }
    Rig { kernel, folder, shifter }
}

impl Rig {
    fn driver(&self) -> DaxDriver {
        self.kernel.machine.borrow().devices[0].device.driver.clone()
    }
    fn contents(&self) -> Vec<u8> {
        self.kernel.machine.borrow().devices[0].contents.clone()
    }
    fn online(&self) -> usize {
        let machine = self.kernel.machine.borrow();
        machine.devices[0].blocks.values().filter(|block| block.online).count()
    }
    /// What is refused leaves the device storage, byte for byte as it was.
    #[track_caller]
    fn refused(&mut self, part: &str) {
        let before = self.contents();
        let error = self.shifter.to_memory(&id(1)).unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
        assert_eq!((self.driver(), self.contents()), (DaxDriver::Storage, before));
        assert_eq!(self.shifter.journal().state(&id(1)), Some(State::Storage));
    }
}

#[test]
fn storage_becomes_memory_and_zeroed_storage_again() {
    let mut rig = rig();
    assert_eq!(rig.shifter.to_memory(&id(1)).unwrap(), Bytes::mib(384));
    assert_eq!((rig.driver(), rig.online()), (DaxDriver::Memory, 3));
    assert_eq!(rig.contents(), [SECRET; 4]);
    assert_eq!(rig.shifter.journal().state(&id(1)), Some(State::Memory));
    let back = GaveBack { memory: Bytes::mib(384), moved: Bytes(0) };
    assert_eq!(rig.shifter.to_storage(&id(1), HOW).unwrap(), back);
    assert_eq!((rig.driver(), rig.contents()), (DaxDriver::Storage, vec![0; 4]));
    assert_eq!(rig.shifter.journal().state(&id(1)), Some(State::Storage));
    // And once more.
    rig.shifter.to_memory(&id(1)).unwrap();
}

#[test]
fn what_was_never_offered_is_not_touched() {
    let kernel = SimKernel::new(1);
    let folder = tempfile::tempdir().unwrap();
    let mut shifter = Shifter::new(kernel, open(folder.path()));
    let error = shifter.to_memory(&id(1)).unwrap_err().to_string();
    assert!(
        error.contains("never prepared") && error.contains("prepare --device dax1.1"),
        "{error}"
    );
    assert!(matches!(shifter.to_memory(&id(9)), Err(Refusal::Gone(_))));
    assert!(matches!(shifter.offer("dax7.7"), Err(Refusal::Gone(_))));
}

#[test]
fn a_device_with_data_is_refused_even_if_it_was_offered_empty() {
    let mut rig = rig();
    rig.kernel.edit(|machine| machine.devices[0].contents[2] = 7);
    rig.refused("holds data (the first at byte 268435456)");
    assert!(matches!(rig.shifter.offer("dax1.1"), Err(Refusal::HoldsData { .. })));
}

#[test]
fn a_device_that_is_open_or_cannot_be_looked_at_is_refused() {
    let mut rig = rig();
    rig.kernel.edit(|machine| machine.devices[0].users.push("postgres (17)".into()));
    rig.refused("in use by postgres (17)");
    rig.kernel.edit(|machine| machine.devices[0].users.clear());
    for blind in ["users", "read"] {
        rig.kernel.edit(|machine| machine.fails = vec![blind]);
        rig.refused("left as it is");
    }
}

#[test]
fn a_device_that_somebody_writes_to_and_closes_while_it_is_read_is_refused() {
    let mut rig = rig();
    rig.kernel.edit(|machine| machine.opened_reading = true);
    let error = rig.shifter.to_memory(&id(1)).unwrap_err().to_string();
    assert!(error.contains("in use by somebody who opened"), "{error}");
    assert_eq!((rig.driver(), rig.contents()), (DaxDriver::Storage, vec![7, 0, 0, 0]));
    assert_eq!(rig.shifter.journal().state(&id(1)), Some(State::Storage));
}

#[test]
fn a_kernel_that_would_not_give_it_back_is_refused() {
    let mut rig = rig();
    for policy in [AutoOnline::Online, AutoOnline::Kernel] {
        rig.kernel.edit(|machine| machine.auto_online = policy);
        rig.refused("echo offline >/sys/devices/system/memory/auto_online_blocks");
    }
    rig.kernel.edit(|machine| {
        machine.auto_online = AutoOnline::Offline;
        machine.drivers = false;
    });
    rig.refused("modprobe kmem");
    rig.kernel.edit(|machine| {
        machine.drivers = true;
        machine.devices[0].device.target = None;
    });
    rig.refused("does not say to which node");
    // Where the kernel takes it for movable pages by itself all is well.
    rig.kernel.edit(|machine| {
        machine.devices[0].device.target = Some(pagetide_types::NodeId(1));
        machine.auto_online = AutoOnline::Movable;
    });
    rig.shifter.to_memory(&id(1)).unwrap();
}

#[test]
fn a_device_without_a_whole_block_is_refused() {
    let mut rig = rig();
    rig.kernel.edit(|machine| machine.devices[0].device.size = Bytes::mib(120));
    let small = Identity { size: Bytes::mib(120), ..id(1) };
    let error = rig.shifter.offer("dax1.1").unwrap_err().to_string();
    assert!(error.contains("no whole memory block of 128 MiB"), "{error}");
    assert_eq!(rig.shifter.journal().state(&small), None);
}

#[test]
fn a_device_of_several_ranges_is_refused_whatever_it_was() {
    let mut rig = rig();
    rig.kernel.edit(|machine| machine.devices[0].device.ranges = 2);
    rig.refused("lies in 2 ranges of addresses");
    let refusal = rig.shifter.offer("dax1.1").unwrap_err().to_string();
    assert!(refusal.contains("daxctl create-device"), "{refusal}");
    // Its memory is not looked for elsewhere, and not taken from its driver.
    rig.kernel.edit(|machine| machine.devices[0].device.ranges = 1);
    rig.shifter.to_memory(&id(1)).unwrap();
    rig.kernel.edit(|machine| machine.devices[0].device.ranges = 2);
    assert!(matches!(rig.shifter.recover().remove(0).is, Err(Refusal::InRanges { .. })));
    assert!(matches!(rig.shifter.to_storage(&id(1), HOW), Err(Refusal::InRanges { .. })));
    assert_eq!((rig.driver(), rig.online()), (DaxDriver::Memory, 3));
}

#[test]
fn a_step_that_fails_on_the_way_to_memory_is_undone() {
    for step in ["unbind", "bind kmem", "online"] {
        let mut rig = rig();
        rig.kernel.edit(|machine| machine.fails = vec![step]);
        rig.refused("Device or resource busy");
        assert_eq!((rig.contents(), rig.online()), (vec![0; 4], 0), "{step}");
    }
    // Page structures in DRAM are no reason to go without memory.
    let mut rig = rig();
    rig.kernel.edit(|machine| machine.fails = vec!["memmap"]);
    rig.shifter.to_memory(&id(1)).unwrap();
}

#[test]
fn what_its_owner_took_back_is_not_taken_again_until_it_is_offered() {
    let mut rig = rig();
    rig.shifter.to_memory(&id(1)).unwrap();
    rig.shifter.to_storage(&id(1), GiveBack { withdraw: true, ..HOW }).unwrap();
    assert!(matches!(rig.shifter.to_memory(&id(1)), Err(Refusal::Withdrawn(_))));
    rig.shifter.offer("dax1.1").unwrap();
    rig.shifter.to_memory(&id(1)).unwrap();
}

#[test]
fn a_device_whose_address_has_changed_is_the_one_that_it_was() {
    let mut rig = rig();
    rig.shifter.to_memory(&id(1)).unwrap();
    rig.shifter.to_storage(&id(1), GiveBack { withdraw: true, ..HOW }).unwrap();
    // More DRAM, say: all that lies behind it begins later.
    rig.kernel.edit(|machine| machine.devices[0].device.start.0 += 1 << 30);
    rig.shifter.offer("dax1.1").unwrap();
    assert_eq!(rig.shifter.journal().devices().len(), 1);
    assert_eq!(rig.shifter.journal().state(&id(1)), Some(State::Storage));
    rig.shifter.to_memory(&id(1)).unwrap();
    assert!(matches!(rig.shifter.offer("dax1.1"), Err(Refusal::WrongState { .. })));
}

#[test]
fn memory_that_was_unbound_by_somebody_is_said_to_need_a_reboot() {
    let mut rig = rig();
    rig.shifter.to_memory(&id(1)).unwrap();
    let it = rig.kernel.devices().unwrap().remove(0);
    rig.kernel.unbind(&it, Driver::Memory).unwrap();
    let recovered = rig.shifter.recover().remove(0);
    assert!(recovered.is.unwrap_err().to_string().contains("only a reboot"));
    rig.kernel.reboot();
    assert_eq!(rig.shifter.recover().remove(0).is.unwrap(), Outcome::Storage);
    assert_eq!(rig.contents(), [0; 4]);
}

#[test]
fn after_a_reboot_a_device_that_somebody_uses_is_not_zeroed() {
    let mut rig = rig();
    rig.shifter.to_memory(&id(1)).unwrap();
    rig.kernel.reboot();
    rig.kernel.edit(|machine| machine.devices[0].users.push("db (3)".into()));
    assert!(matches!(rig.shifter.recover().remove(0).is, Err(Refusal::InUse { .. })));
    assert_eq!(rig.contents(), [SECRET; 4]);
}

#[test]
fn a_device_that_is_gone_stays_in_the_journal() {
    let mut rig = rig();
    rig.shifter.to_memory(&id(1)).unwrap();
    rig.kernel.edit(|machine| machine.devices.clear());
    assert!(matches!(rig.shifter.recover().remove(0).is, Err(Refusal::Gone(_))));
    assert_eq!(rig.shifter.journal().state(&id(1)), Some(State::Memory));
}

#[path = "another_device_tests.rs"]
mod another_device_tests;

#[path = "bad_input_tests.rs"]
mod bad_input_tests;

#[path = "give_back_tests.rs"]
mod give_back_tests;

#[path = "killed_tests.rs"]
mod killed_tests;

#[path = "taken_by_itself_tests.rs"]
mod taken_by_itself_tests;

#[path = "undo_tests.rs"]
mod undo_tests;
