//! Conversions on a simulated kernel: every refusal, and a kill at every step.

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
    let kernel = SimKernel::new(1);
    let folder = tempfile::tempdir().unwrap();
    let mut shifter = Shifter::new(kernel.clone(), open(folder.path()));
    shifter.offer("dax1.1").unwrap();
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
fn a_block_that_never_goes_offline_leaves_all_blocks_in_use() {
    let mut rig = rig();
    rig.shifter.to_memory(&id(1)).unwrap();
    rig.kernel.edit(|machine| {
        let last = machine.devices[0].blocks.values_mut().last().unwrap();
        (last.pinned, last.used) = (true, 10);
    });
    let error = rig.shifter.to_storage(&id(1), HOW).unwrap_err().to_string();
    assert!(error.contains("within") && error.contains("memory as before"), "{error}");
    assert_eq!((rig.driver(), rig.online()), (DaxDriver::Memory, 3));
    assert_eq!(rig.shifter.journal().state(&id(1)), Some(State::Memory));
}

#[test]
fn a_helper_that_is_killed_at_any_block_leaves_all_blocks_in_use() {
    for (block, after) in [1, 2, 3].into_iter().flat_map(|it| [(it, false), (it, true)]) {
        let mut rig = used(0, Bytes::gib(8));
        rig.kernel.helper.set(true);
        rig.kernel.kill.set(Some((block, after)));
        let refusal = rig.shifter.leave(&id(1), HOW).unwrap_err();
        assert!(matches!(refusal, Refusal::Stuck { .. }), "{refusal}");
        assert_eq!((rig.driver(), rig.online()), (DaxDriver::Memory, 3), "{block} {after}");
        assert_eq!(rig.shifter.journal().state(&id(1)), Some(State::Memory));
        rig.shifter.to_storage(&id(1), HOW).unwrap();
        assert_eq!((rig.driver(), rig.contents()), (DaxDriver::Storage, vec![0; 4]));
    }
}

#[test]
fn it_goes_back_only_if_dram_has_three_times_what_is_used() {
    let mut rig = rig();
    rig.shifter.to_memory(&id(1)).unwrap();
    rig.kernel.edit(|machine| {
        machine.devices[0].blocks.values_mut().for_each(|block| block.used = 25_600);
        machine.free_dram = Bytes::mib(899);
    });
    let error = rig.shifter.to_storage(&id(1), HOW).unwrap_err().to_string();
    assert!(error.contains("300 MiB in use") && error.contains("899 MiB"), "{error}");
    assert_eq!(rig.online(), 3);
    let mut evicted = rig;
    evicted.shifter.to_storage(&id(1), GiveBack { evict: true, ..HOW }).unwrap();
    evicted.shifter.to_memory(&id(1)).unwrap();
    evicted.kernel.edit(|machine| {
        machine.devices[0].blocks.values_mut().for_each(|block| block.used = 25_600);
        machine.free_dram = Bytes::mib(900);
    });
    evicted.shifter.to_storage(&id(1), HOW).unwrap();
}

/// A device that is memory, of whose blocks so many pages each are used, with so much DRAM free.
fn used(pages: u64, free: Bytes) -> Rig {
    let mut rig = rig();
    rig.shifter.to_memory(&id(1)).unwrap();
    rig.kernel.edit(|machine| {
        machine.devices[0].blocks.values_mut().for_each(|block| block.used = pages);
        machine.free_dram = free;
    });
    rig
}

impl Rig {
    /// What was asked to leave each block, and what did, in pages.
    fn emptied(&self) -> Vec<(u64, u64, u64)> {
        let machine = self.kernel.machine.borrow();
        let pages = |bytes: Bytes| bytes.0 / 4096;
        machine
            .emptied
            .iter()
            .map(|(id, asked, moved)| (id.0, pages(*asked), pages(*moved)))
            .collect()
    }
}

#[test]
fn blocks_are_emptied_a_hundred_megabytes_at_a_time_before_they_go_offline() {
    // 100 MB are 24,414 pages; a block has 32,768.
    let mut rig = used(30_000, Bytes::gib(8));
    let back = rig.shifter.to_storage(&id(1), HOW).unwrap();
    assert_eq!(back.moved, Bytes(90_000 * 4096));
    let steps = |block| [(block, 24_414, 24_414), (block, 5_586, 5_586)];
    assert_eq!(rig.emptied(), [steps(5), steps(6), steps(7)].concat());
}

#[test]
fn blocks_are_emptied_only_while_dram_has_three_times_as_much_free() {
    let evict = GiveBack { evict: true, ..HOW };
    // Three steps of 10,000 pages leave less than three times as much.
    let mut rig = used(10_000, Bytes(49_999 * 4096));
    assert_eq!(rig.shifter.to_storage(&id(1), evict).unwrap().moved, Bytes(20_000 * 4096));
    assert_eq!(rig.emptied(), [(5, 10_000, 10_000), (6, 10_000, 10_000)]);
    // The kernel does the rest, and swaps.
    assert_eq!((rig.driver(), rig.online()), (DaxDriver::Storage, 0));
}

#[test]
fn where_the_kernel_demotes_what_is_free_behind_dram_is_room_too_and_less_moves_at_a_time() {
    // 3 x 2,768 pages of the device's own are free, which go with it.
    let full = |behind: u64| {
        let rig = used(30_000, Bytes(30_000 * 4096));
        rig.kernel.edit(|machine| machine.demotes_to = Some(Bytes(behind * 4096)));
        rig
    };
    let mut rig = full(240_000 + 3 * 2_768);
    assert_eq!(rig.shifter.to_storage(&id(1), HOW).unwrap().moved, Bytes(90_000 * 4096));
    assert_eq!(
        rig.emptied(),
        [[(5, 10_000, 10_000); 3], [(6, 10_000, 10_000); 3], [(7, 10_000, 10_000); 3]].concat()
    );
    let refusal = full(240_000 + 3 * 2_768 - 1).shifter.to_storage(&id(1), HOW).unwrap_err();
    assert!(matches!(refusal, Refusal::NoRoom { .. }), "{refusal}");
    assert!(refusal.to_string().contains("free elsewhere"), "{refusal}");
}

#[test]
fn what_does_not_get_on_is_left_to_the_kernel() {
    // Page cache that nobody maps.
    let mut rig = used(10_000, Bytes::gib(8));
    rig.kernel.edit(|machine| {
        machine.devices[0].blocks.values_mut().for_each(|block| block.unmapped = 4_000);
    });
    assert_eq!(rig.shifter.to_storage(&id(1), HOW).unwrap().moved, Bytes(18_000 * 4096));
    let steps = |block| [(block, 10_000, 6_000), (block, 4_000, 0)];
    assert_eq!(rig.emptied(), [steps(5), steps(6), steps(7)].concat());
    // That we cannot move anything is no reason to give up.
    let mut rig = used(10_000, Bytes::gib(8));
    rig.kernel.edit(|machine| machine.fails = vec!["empty"]);
    assert_eq!(rig.shifter.to_storage(&id(1), HOW).unwrap().moved, Bytes(0));
}

#[test]
fn a_block_that_hangs_is_looked_at_until_the_time_is_up() {
    let mut rig = used(0, Bytes::gib(8));
    rig.kernel.edit(|machine| {
        machine.devices[0].blocks.values_mut().for_each(|block| block.pinned = true);
    });
    let since = rig.kernel.now();
    let careful = GiveBack { unless_used_up: Some(Bytes(0)), ..HOW };
    let refusal = rig.shifter.to_storage(&id(1), careful).unwrap_err();
    assert!(matches!(refusal, Refusal::Stuck { .. }), "{refusal}");
    assert_eq!(rig.kernel.now() - since, HOW.limit);
}

#[test]
fn emptying_leaves_half_of_the_time_to_offlining() {
    // Each step takes a tenth of a second.
    let mut rig = used(32_768, Bytes::gib(8));
    let short = GiveBack { limit: Duration::from_millis(160), ..HOW };
    rig.shifter.to_storage(&id(1), short).unwrap();
    let blocks: Vec<u64> = rig.emptied().into_iter().map(|(block, ..)| block).collect();
    assert_eq!(blocks, [5, 6, 7]);
}

#[test]
fn pages_that_do_not_move_are_named() {
    let mut rig = rig();
    rig.shifter.to_memory(&id(1)).unwrap();
    rig.kernel.edit(|machine| {
        machine.devices[0].blocks.values_mut().for_each(|block| block.unmovable = 3);
    });
    let error = rig.shifter.to_storage(&id(1), HOW).unwrap_err().to_string();
    assert!(error.contains("block 5 of dax1.1 holds 3 pages that do not move"), "{error}");
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

/// Let go of when programs use up memory.
const CAREFUL: GiveBack = GiveBack { unless_used_up: Some(Bytes::mib(200)), ..HOW };

#[test]
fn memory_goes_before_it_is_zeroed_and_nobody_can_look_at_it_until_then() {
    let mut rig = used(0, Bytes::gib(8));
    rig.shifter.leave(&id(1), CAREFUL).unwrap();
    assert_eq!((rig.driver(), rig.online()), (DaxDriver::None, 0));
    assert_eq!(rig.contents(), [SECRET; 4]);
    assert_eq!(rig.shifter.journal().state(&id(1)), Some(State::ToStorage));
    let (mut zeroed, mut pieces) = (0, 1);
    while !rig.shifter.zero(&id(1), &mut zeroed, crate::simulated::ZEROING).unwrap() {
        assert_eq!(rig.shifter.journal().state(&id(1)), Some(State::ToStorage));
        pieces += 1;
    }
    assert_eq!(pieces, 4);
    assert_eq!((rig.driver(), rig.contents()), (DaxDriver::Storage, vec![0; 4]));
    assert_eq!(rig.shifter.journal().state(&id(1)), Some(State::Storage));
    // There is nothing to go on with.
    let refusal = rig.shifter.zero(&id(1), &mut 0, Duration::MAX).unwrap_err();
    assert!(refusal.to_string().contains("not being given back"), "{refusal}");
}

#[test]
fn what_is_not_zeroed_to_its_end_can_be_memory_again_and_is_zeroed_the_next_time() {
    for pieces in 0..=4 {
        let mut rig = used(0, Bytes::gib(8));
        rig.shifter.leave(&id(1), CAREFUL).unwrap();
        let mut zeroed = 0;
        for _ in 0..pieces {
            rig.shifter.zero(&id(1), &mut zeroed, crate::simulated::ZEROING).unwrap();
        }
        let again = rig.shifter.again(&id(1));
        if pieces == 4 {
            assert!(matches!(again, Err(Refusal::WrongState { .. })));
            continue;
        }
        assert_eq!(again.unwrap(), Some(Bytes::mib(384)));
        assert_eq!((rig.driver(), rig.online()), (DaxDriver::Memory, 3));
        assert_eq!(rig.shifter.journal().state(&id(1)), Some(State::Memory));
        rig.shifter.to_storage(&id(1), HOW).unwrap();
        assert_eq!((rig.driver(), rig.contents()), (DaxDriver::Storage, vec![0; 4]));
    }
}

#[test]
fn its_owner_gets_what_is_no_memory_any_more_zeroed() {
    let mut rig = used(0, Bytes::gib(8));
    rig.shifter.leave(&id(1), CAREFUL).unwrap();
    let back = rig.shifter.to_storage(&id(1), GiveBack { withdraw: true, ..HOW }).unwrap();
    assert_eq!(back, GaveBack::default(), "it was given back before");
    assert_eq!((rig.driver(), rig.contents()), (DaxDriver::Storage, vec![0; 4]));
    assert_eq!(rig.shifter.journal().state(&id(1)), Some(State::Withdrawn));
    assert!(rig.shifter.again(&id(1)).is_err());
}

#[test]
fn what_somebody_opened_while_it_is_zeroed_is_zeroed_to_the_end() {
    let mut rig = used(0, Bytes::gib(8));
    rig.kernel.edit(|machine| machine.opened_zeroing = true);
    rig.shifter.leave(&id(1), CAREFUL).unwrap();
    let mut zeroed = 0;
    rig.shifter.zero(&id(1), &mut zeroed, crate::simulated::ZEROING).unwrap();
    assert_eq!(rig.shifter.again(&id(1)).unwrap(), None);
    while !rig.shifter.zero(&id(1), &mut zeroed, crate::simulated::ZEROING).unwrap() {}
    assert_eq!((rig.driver(), rig.contents()), (DaxDriver::Storage, vec![0; 4]));
}

#[test]
fn what_the_driver_of_memory_took_by_itself_meanwhile_can_be_zeroed_and_used() {
    for again in [true, false] {
        let mut rig = used(0, Bytes::gib(8));
        rig.shifter.leave(&id(1), CAREFUL).unwrap();
        let it = rig.kernel.devices().unwrap().remove(0);
        rig.kernel.bind(&it, Driver::Memory).unwrap();
        if again {
            assert_eq!(rig.shifter.again(&id(1)).unwrap(), Some(Bytes::mib(384)));
            assert_eq!((rig.driver(), rig.online()), (DaxDriver::Memory, 3));
        } else {
            rig.shifter.zero(&id(1), &mut 0, Duration::MAX).unwrap();
            assert_eq!((rig.driver(), rig.contents()), (DaxDriver::Storage, vec![0; 4]));
        }
    }
}

/// There and back, in pieces, killed after so many changes of the machine, before or after the last of them; `wanted`:
/// and there again, for programs want it while it is zeroed. Whether it got to its end.
fn killed(rig: &mut Rig, changes: u32, after: bool, wanted: bool) -> bool {
    rig.kernel.kill.set(Some((changes, after)));
    let there = rig.shifter.to_memory(&id(1));
    if there.is_err() {
        return false;
    }
    rig.kernel.edit(|machine| {
        machine.devices[0].blocks.values_mut().for_each(|block| block.used = 100);
    });
    if rig.shifter.leave(&id(1), CAREFUL).is_err() {
        return false;
    }
    let mut zeroed = 0;
    loop {
        match rig.shifter.zero(&id(1), &mut zeroed, crate::simulated::ZEROING) {
            Ok(false) if wanted => return rig.shifter.again(&id(1)).is_ok(),
            Ok(false) => {}
            ended => return ended.is_ok(),
        }
    }
}

#[test]
fn killed_at_any_step_it_can_be_made_right_with_and_without_a_reboot() {
    let points = [false, true].map(killed_at_any_step);
    assert!(points[0] > 60 && points[1] > points[0], "{points:?}");
}

/// How many points there are.
fn killed_at_any_step(wanted: bool) -> u32 {
    let mut points = 0;
    for changes in 1.. {
        let mut ended = false;
        for (after, reboot) in [(false, false), (true, false), (false, true), (true, true)] {
            let mut rig = rig();
            ended = killed(&mut rig, changes, after, wanted);
            points += 1;
            if reboot {
                rig.kernel.reboot();
            }
            rig.kernel.kill.set(None);
            let mut later = Shifter::new(rig.kernel.clone(), open(rig.folder.path()));
            for recovered in later.recover() {
                recovered.is.unwrap_or_else(|refusal| panic!("{changes} {after}: {refusal}"));
            }
            let state = later.journal().state(&id(1)).unwrap();
            match rig.driver() {
                // Nobody's secrets on what is storage.
                DaxDriver::Storage => {
                    assert_eq!((state, rig.contents()), (State::Storage, vec![0; 4]), "{changes}");
                }
                DaxDriver::Memory => assert_eq!((state, rig.online()), (State::Memory, 3)),
                other => panic!("{changes} {after}: {other:?}"),
            }
            assert!(later.recover().iter().all(|it| it.is.is_ok()), "again");
            assert!(!reboot || rig.driver() == DaxDriver::Storage);
        }
        if ended {
            break;
        }
    }
    points
}
