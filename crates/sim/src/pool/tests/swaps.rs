//! Who waits while pages are swapped, and for what.

use super::super::settings::SwapStall;
use super::migration::{migration, rereads};
use super::*;

#[test]
fn who_waits_for_swaps_is_a_setting() {
    let with = |swap_stall| {
        let migration = Migration { swap_stall, swap_us: 40.0, ..migration() };
        replay(&machine(1), &rereads(20_000, 100), Placement::Pool, Some(&migration)).unwrap()
    };
    let [node, none, page] = [SwapStall::Node, SwapStall::None, SwapStall::Page].map(with);
    close(node.nodes[0].stalled_s, 88e-6, 0.001);
    close(none.nodes[0].stalled_s, 8e-6, 0.001);
    assert_eq!(page.nodes[0].stalled_s, none.nodes[0].stalled_s);
    // Here all accesses go to pages that come, so marks bring little beside a stall.
    assert!(none.seconds < page.seconds && page.seconds <= node.seconds, "{page:?}");
}

#[test]
fn swaps_that_take_their_turn_in_the_banks_take_longer_than_a_microsecond() {
    let with = |dma_in_banks| {
        let migration = Migration { dma_in_banks, ..migration() };
        replay(&machine(1), &rereads(20_000, 100), Placement::Pool, Some(&migration)).unwrap()
    };
    let [flat, banks] = [false, true].map(with);
    // 64 lines read and 64 written by 16 banks: 5.2 us at least, twice.
    assert!(banks.nodes[0].stalled_s > flat.nodes[0].stalled_s + 2.0 * 4.2e-6, "{banks:?}");
}

#[test]
fn banks_serve_others_while_dma_has_nothing_for_them_yet() {
    // Eight nodes swap nearly all the time: 50 pages of 64 lines, each read for 300 ns and written for 1000 by
    // one of 16 banks, are 2 ms of all banks. So these are at work all the time, and lines are swapped as fast.
    let all: Vec<Misses> =
        (0..2).map(|core| misses(60_000, 40, Kind::Read, |i| core * 60_000 + i)).collect();
    let migration = Migration { dma_in_banks: true, epoch_cycles: 20_000, ..migration() };
    let outcome = replay(&machine(8), &all, Placement::Pool, Some(&migration)).unwrap();
    close(outcome.busy_share, 1.0, 3.0);
    let swapped: u64 = outcome.nodes.iter().map(|node| node.moved_in).sum();
    let fetched: u64 = outcome.nodes.iter().map(|node| node.pool_fetches).sum();
    let work = swapped as f64 * 64.0 * 1300.0 + fetched as f64 * 300.0;
    close(work / 16.0, outcome.seconds * 1e9, 3.0);
}

#[test]
fn only_who_accesses_a_page_under_swap_waits_for_it() {
    // One core rereads eight pages, which come in; the other sweeps lines that are never hot.
    let cores = [
        misses(20_000, 100, Kind::Read, |i| i % 8 * 64 + i / 8 % 64),
        misses(20_000, 100, Kind::Read, |i| (8 + i % 4000) * 64 + i / 4000),
    ];
    let ipc = |swap_stall| {
        let migration = Migration { swap_stall, swap_us: 100.0, ..migration() };
        let outcome = replay(&machine(1), &cores, Placement::Pool, Some(&migration)).unwrap();
        (outcome.nodes[0].moved_in, outcome.nodes[0].ipc)
    };
    let [none, page] = [SwapStall::None, SwapStall::Page].map(ipc);
    let alone = replay(&machine(1), &cores[1..], Placement::Pool, None).unwrap().ipc;
    assert_eq!((none.0, page.0), (8, 8));
    // The mean of both cores: what the second one loses beside the first is next to nothing.
    let first = 2.0 * page.1 - alone;
    assert!(first > 0.0 && first < 2.0 * none.1 - alone, "{none:?} {page:?} {alone}");
    assert!(page.1 > 0.49 * alone, "{page:?} {alone}");
}

/// Reads pages of one node, so many times each, after so many instructions; swaps take 40 us, and who accesses a
/// page meanwhile waits. The first epoch ends after 5 us, and a shootdown takes 8.
fn read((frames, most): (u64, u32), reads: &[(u64, u32, u32)], dma_in_banks: bool) -> PoolOutcome {
    let mut machine = machine(1);
    machine.local.capacity = pagetide_types::Bytes(frames * 4096);
    let mut core = Misses::default();
    for (instructions, page, times) in reads {
        core.compute(*instructions);
        (0..*times).for_each(|line| core.push(page * 64 + line % 64, Kind::Read, 4));
    }
    let migration = Migration {
        most,
        epoch_cycles: 10_000,
        swap_us: 40.0,
        swap_stall: SwapStall::Page,
        dma_in_banks,
        ..migration()
    };
    replay(&machine, &[core], Placement::Pool, Some(&migration)).unwrap()
}

#[test]
fn a_page_is_where_it_was_until_its_turn_comes() {
    // Page 0 is swapped from 13 us to 53, page 1 from then to 93.
    let hot = [(0, 0, 30), (0, 1, 20)];
    for dma_in_banks in [false, true] {
        // At 25 us it is read from the pool, at 61 it is waited for, at 95 it is local.
        for (instructions, done_us, local) in
            [(66_000, 25.0, 0), (210_000, 93.0, 1), (346_000, 95.0, 1)]
        {
            let reads = [hot[0], hot[1], (instructions, 1, 1)];
            let outcome = read((2, 2), &reads, dma_in_banks);
            let node = &outcome.nodes[0];
            assert_eq!(
                (node.stalls, node.local_fetches, node.pool_fetches),
                (1, local, 51 - local)
            );
            close(node.seconds * 1e6, done_us, 3.0);
        }
    }
}

#[test]
fn a_page_is_not_swapped_again_before_its_swap_is_done() {
    // One frame: page 0 comes in from 13 us to 53. Page 1, which is hot at 14 us, takes its place, but not before
    // the first epoch that ends with DMA at rest: from 63 us to 103. Who reads page 0 meanwhile waits until then.
    let reads = [(0, 0, 20), (20_000, 1, 20), (200_000, 0, 1)];
    for dma_in_banks in [false, true] {
        let outcome = read((1, 1), &reads, dma_in_banks);
        let node = &outcome.nodes[0];
        assert_eq!((node.moved_in, node.moved_out, node.local_fetches), (2, 1, 0));
        close(node.seconds * 1e6, 103.0, 1.0);
    }
}

#[test]
fn a_swap_that_no_node_stands_still_for_has_no_price() {
    // 256 pages over and over; a swap of 50 ms would never pay, if a node waited for it.
    let again: Vec<Misses> =
        (0..2).map(|core| misses(100_000, 40, Kind::Read, |i| core * 8192 + i % 8192)).collect();
    let moved = |swap_stall| {
        let payback = Migration { swap_us: 50_000.0, swap_stall, ..payback() };
        replay(&machine(8), &again, Placement::Pool, Some(&payback)).unwrap().nodes[0].moved_in
    };
    assert_eq!(moved(SwapStall::Node), 0);
    assert!(moved(SwapStall::None) > 100);
}

#[test]
fn payback_knows_what_swaps_take_that_wait_for_their_turn_in_the_banks() {
    // Three times through 1,024 pages of a core: one that comes in saves less of the banks than its swap takes.
    let cores: Vec<Misses> = (0..2)
        .map(|core| misses(200_000, 40, Kind::Read, |i| core * 65_536 + i % 65_536))
        .collect();
    let payback = Migration { dma_in_banks: true, ..payback() };
    let still = replay(&machine(8), &cores, Placement::Pool, None).unwrap();
    let moving = replay(&machine(8), &cores, Placement::Pool, Some(&payback)).unwrap();
    assert!(moving.ipc > 0.98 * still.ipc, "{} for {}", moving.ipc, still.ipc);
}
