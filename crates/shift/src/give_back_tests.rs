//! A device goes back: what is moved, when that is given up, and what can be done until it is zeroed.

use super::*;
use crate::Driver;

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

#[test]
fn what_a_device_of_the_drams_own_node_has_free_is_no_room_for_it() {
    let mut rig = rig();
    rig.kernel.edit(|machine| machine.devices[0].device.target = Some(pagetide_types::NodeId(0)));
    rig.shifter.to_memory(&id(1)).unwrap();
    // Of 128 MiB a block has 100 in use: 84 of what is free go with the device.
    let free = |rig: &Rig, mib| {
        rig.kernel.edit(|machine| {
            machine.devices[0].blocks.values_mut().for_each(|block| block.used = 25_600);
            machine.free_dram = Bytes::mib(mib);
        });
    };
    free(&rig, 983);
    let error = rig.shifter.to_storage(&id(1), HOW).unwrap_err().to_string();
    assert!(error.contains("300 MiB in use") && error.contains("899 MiB"), "{error}");
    free(&rig, 984);
    rig.shifter.to_storage(&id(1), HOW).unwrap();
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

/// Let go of when programs use up memory.
pub(super) const CAREFUL: GiveBack = GiveBack { unless_used_up: Some(Bytes::mib(200)), ..HOW };

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
fn what_holds_anything_after_it_was_zeroed_is_not_called_storage() {
    let mut rig = used(0, Bytes::gib(8));
    rig.shifter.leave(&id(1), HOW).unwrap();
    rig.kernel.edit(|machine| machine.fails = vec!["writes are lost"]);
    let refusal = rig.shifter.zero(&id(1), &mut 0, Duration::MAX).unwrap_err();
    assert!(matches!(refusal, Refusal::HoldsData { offset: 0, .. }), "{refusal}");
    assert_eq!(rig.shifter.journal().state(&id(1)), Some(State::ToStorage));
    rig.kernel.edit(|machine| machine.fails.clear());
    assert!(rig.shifter.zero(&id(1), &mut 0, Duration::MAX).unwrap());
    assert_eq!((rig.driver(), rig.contents()), (DaxDriver::Storage, vec![0; 4]));
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

#[test]
fn what_programs_want_while_pages_are_moved_off_it_is_let_go_of_at_once() {
    let mut rig = used(20_000, Bytes::gib(8));
    rig.kernel.edit(|machine| {
        (machine.emptying, machine.used_up_meanwhile) = (Duration::from_secs(5), Bytes::mib(100));
    });
    let since = rig.kernel.now();
    let refusal = rig.shifter.leave(&id(1), CAREFUL).unwrap_err();
    assert!(matches!(refusal, Refusal::Wanted(_)), "{refusal}");
    // The simulation counts free memory twice: of 384 + 200 MiB three steps leave less.
    assert_eq!(rig.kernel.now() - since, Duration::from_millis(300));
    assert_eq!((rig.driver(), rig.online()), (DaxDriver::Memory, 3));
}

#[test]
fn a_block_that_takes_long_to_go_offline_is_not_begun_again() {
    let mut rig = used(0, Bytes::gib(8));
    rig.kernel.edit(|machine| machine.offlining = Duration::from_secs(3));
    let since = rig.kernel.now();
    rig.shifter.leave(&id(1), CAREFUL).unwrap();
    assert_eq!(rig.kernel.now() - since, Duration::from_secs(9));
    assert_eq!(rig.online(), 0);
}

#[test]
fn what_programs_want_while_a_block_goes_offline_is_let_go_of_at_once() {
    let mut rig = used(0, Bytes::gib(8));
    rig.kernel.edit(|machine| {
        (machine.offlining, machine.used_up_meanwhile) = (Duration::from_secs(3), Bytes::mib(100));
    });
    let since = rig.kernel.now();
    let refusal = rig.shifter.leave(&id(1), CAREFUL).unwrap_err();
    assert!(matches!(refusal, Refusal::Wanted(_)), "{refusal}");
    assert_eq!(rig.kernel.now() - since, Duration::from_millis(300));
    assert_eq!((rig.driver(), rig.online()), (DaxDriver::Memory, 3));
    // Whoever wants storage back gets it.
    let since = rig.kernel.now();
    rig.shifter.leave(&id(1), HOW).unwrap();
    assert_eq!(rig.kernel.now() - since, Duration::from_secs(9));
}

#[test]
fn what_does_not_go_to_its_owner_after_a_kill_is_memory_as_before() {
    let mut rig = used(100, Bytes::gib(8));
    rig.kernel.kill.set(Some((4, true)));
    let how = GiveBack { withdraw: true, ..HOW };
    assert!(rig.shifter.to_storage(&id(1), how).is_err());
    rig.kernel.kill.set(None);
    assert!(rig.online() < 3 && rig.shifter.journal().state(&id(1)) == Some(State::ToStorage));
    rig.kernel.edit(|machine| machine.free_dram = Bytes(0));
    let refusal = rig.shifter.recover().remove(0).is.unwrap_err();
    assert!(matches!(refusal, Refusal::NoRoom { .. }), "{refusal}");
    assert_eq!((rig.driver(), rig.online()), (DaxDriver::Memory, 3));
    assert_eq!(rig.shifter.journal().state(&id(1)), Some(State::Memory));
    // He can ask again.
    rig.kernel.edit(|machine| machine.free_dram = Bytes::gib(8));
    rig.shifter.to_storage(&id(1), how).unwrap();
    assert_eq!(rig.shifter.journal().state(&id(1)), Some(State::Withdrawn));
}
