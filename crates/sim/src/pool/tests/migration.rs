//! What moves, when, and at what cost.

use super::super::settings::Accounting;
use super::*;
use pagetide_machine::PoolTlb;

/// Two hot pages that each core of a node rereads.
pub(super) fn rereads(count: u32, gap: u64) -> Vec<Misses> {
    (0..2).map(|core| misses(count, gap, Kind::Read, |i| core * 64 + i % 64)).collect()
}

pub(super) fn migration() -> Migration {
    Migration { epoch_cycles: 100_000, ..Migration::default() }
}

#[test]
fn hot_pages_come_in_once_and_stay() {
    let outcome = replay(&machine(2), &rereads(50_000, 100), Placement::Pool, Some(&migration()));
    let outcome = outcome.unwrap();
    for node in &outcome.nodes {
        assert_eq!((node.moved_in, node.moved_out, node.stalls), (2, 0, 1));
        // A shootdown of 8 us, and two swaps of 1 us.
        close(node.stalled_s, 10e-6, 0.001);
        assert!(node.local_fetches > 20 * node.pool_fetches, "{node:?}");
    }
    assert_eq!((outcome.epochs_with_moves, outcome.messages), (1, 2 * 4));
}

#[test]
fn what_is_not_above_the_threshold_does_not_move() {
    let still = replay(&machine(2), &rereads(5000, 1000), Placement::Pool, None).unwrap();
    let counted = Migration { most: 0, ..migration() };
    let counted =
        replay(&machine(2), &rereads(5000, 1000), Placement::Pool, Some(&counted)).unwrap();
    assert_eq!((counted.ipc, counted.most_hot() > 0), (still.ipc, true));
    let most = counted.most_accesses();
    for (threshold, moves) in [(most, false), (most - 1, true)] {
        let migration = Migration { threshold, ..migration() };
        let outcome =
            replay(&machine(2), &rereads(5000, 1000), Placement::Pool, Some(&migration)).unwrap();
        assert_eq!(outcome.epochs_with_moves > 0, moves, "{threshold}");
        assert_eq!(outcome.ipc == still.ipc, !moves);
    }
}

#[test]
fn no_more_than_so_many_move_in_an_epoch() {
    // 40 pages, 640 accesses a page and core.
    let all: Vec<Misses> =
        (0..2).map(|core| misses(25_600, 400, Kind::Read, |i| core * 1280 + i % 1280)).collect();
    for most in [1, 7, 40] {
        let migration = Migration { most, epoch_cycles: 1_000_000, ..migration() };
        let outcome = replay(&machine(1), &all, Placement::Pool, Some(&migration)).unwrap();
        let node = &outcome.nodes[0];
        assert!(node.moved_in <= u64::from(most) * outcome.epochs_with_moves, "{outcome:?}");
        assert!(node.moved_in >= u64::from(most) && node.stalls == outcome.epochs_with_moves);
    }
}

#[test]
fn a_full_local_memory_gives_what_was_not_used() {
    let mut machine = machine(1);
    machine.local.capacity = pagetide_types::Bytes(16 * 4096);
    // Pages 0 to 15 are local and idle; 16 and 17 are hot.
    let cores: Vec<Misses> =
        (0..2).map(|core| misses(20_000, 100, Kind::Read, |i| (16 + core) * 64 + i % 64)).collect();
    let migration = Migration { most: 2, ..migration() };
    let outcome = replay(&machine, &cores, Placement::LocalFirst, Some(&migration)).unwrap();
    assert_eq!((outcome.nodes[0].moved_in, outcome.nodes[0].moved_out), (2, 2));
}

#[test]
fn what_was_local_at_first_pays_for_no_move() {
    // Nothing may be owed, so nothing can ever come in; half of the pages are local, and always were.
    let all: Vec<Misses> =
        (0..2).map(|core| misses(400_000, 40, Kind::Read, |i| core * 8192 + i % 8192)).collect();
    let payback = Migration { most_debt: Some(0.0), ..payback() };
    let outcome = replay(&machine(8), &all, Placement::Alternate, Some(&payback)).unwrap();
    assert!(outcome.nodes[0].local_fetches > 100_000 && outcome.nodes[0].moved_in == 0);
}

#[test]
fn epochs_go_by_while_a_node_stands_still_unless_they_wait() {
    let with = |tick_in_stall| {
        let migration =
            Migration { tick_in_stall, epoch_cycles: 10_000, threshold: 3, ..migration() };
        // A new page every 64 lines: something is always hot.
        let cores = [misses(60_000, 100, Kind::Read, |i| i)];
        replay(&machine(1), &cores, Placement::Pool, Some(&migration)).unwrap()
    };
    let [ticks, waits] = [true, false].map(with);
    assert!(ticks.epochs > waits.epochs && waits.nodes[0].stalls > 10, "{waits:?}");
    for outcome in [&ticks, &waits] {
        let node = &outcome.nodes[0];
        assert!(node.stalled_s >= node.stalls as f64 * 8e-6);
    }
    // Between two stalls lies an epoch, where they wait for each other.
    let running = waits.seconds - waits.nodes[0].stalled_s;
    close(running, waits.epochs as f64 * 5e-6, 5.0);
}

#[test]
fn counting_in_the_way_costs_what_it_reads_and_writes() {
    let with = |accounting| {
        let migration =
            Migration { accounting, threshold: 1000, pact_entries: Some(4), ..migration() };
        // Eight pages in turn do not fit four entries.
        let cores = [misses(20_000, 100, Kind::Read, |i| i % 8 * 64 + i / 8 % 64)];
        replay(&machine(1), &cores, Placement::Pool, Some(&migration)).unwrap()
    };
    let [free, beside, within] =
        [Accounting::Free, Accounting::Beside, Accounting::Within].map(with);
    assert_eq!((free.ipc, free.spilled_counts), (beside.ipc, 0));
    assert!(beside.spilled_counts > 9000 && beside.filled_counts > 9000, "{beside:?}");
    assert!(within.ipc < 0.8 * free.ipc, "{within:?}");
}

#[test]
fn a_count_that_comes_back_waits_for_its_own_bank_alone() {
    // Two pages in turn, whose counts lie in two lines, and so in two banks; each access is long after the one before.
    let migration = Migration {
        accounting: Accounting::Within,
        threshold: 1_000_000,
        epoch_cycles: 1_000_000_000_000,
        pact_entries: Some(1),
        ..migration()
    };
    let cores = [misses(2000, 20_000, Kind::Read, |i| i % 2 * 8 * 64 + 5)];
    let outcome = replay(&machine(1), &cores, Placement::Pool, Some(&migration)).unwrap();
    // The other page's count is written meanwhile, for 1000 ns, to the other bank.
    close(outcome.delay_ns(), 80.0 + 2.0 * 300.0, 1.0);
}

#[test]
fn a_table_larger_than_all_pages_is_one_of_all_pages() {
    let with = |pact_entries| {
        let accounting = Accounting::Beside;
        let migration = Migration { accounting, pact_entries, ..migration() };
        replay(&machine(1), &rereads(10_000, 100), Placement::Pool, Some(&migration)).unwrap()
    };
    let (all, more) = (with(Some(100_000)), with(Some(u32::MAX)));
    assert_eq!((all.spilled_counts, all.ipc), (more.spilled_counts, more.ipc));
}

#[test]
fn what_takes_too_long_to_be_told_apart_is_refused() {
    let mut machine = machine(64);
    machine.core.count = 64;
    (machine.pool.read_ns, machine.pool.write_ns) = (1e9, 1e9);
    let core = misses(400, 0, Kind::Read, |i| i);
    let said = replay(&machine, &vec![core; 64], Placement::Pool, None).unwrap_err().to_string();
    assert!(said.contains("days would be simulated"), "{said}");
}

#[test]
fn what_makes_no_sense_is_refused_before_anything_runs() {
    let refused = |machine: &PoolMachine, migration: &Migration| {
        let found = replay(machine, &rereads(10, 1), Placement::Pool, Some(migration));
        found.unwrap_err().to_string()
    };
    let epoch = Migration { epoch_cycles: 0, ..migration() };
    assert!(refused(&machine(1), &epoch).contains("epoch_cycles = 0"));
    let most = Migration { most: 65_537, ..migration() };
    let said = refused(&machine(1), &most);
    assert!(said.contains("most = 65537") && said.contains("65536 pages of its own"), "{said}");
    let mut small = machine(8);
    small.pool.capacity = pagetide_types::Bytes(4096 * 15);
    let said = refused(&small, &migration());
    assert!(said.contains("nodes = 8") && said.contains("the pool holds 15 pages"), "{said}");
    let shoot = Migration { shootdown_us: -1.0, ..migration() };
    assert!(refused(&machine(1), &shoot).contains("shootdown_us = -1"));
}

#[test]
fn payback_moves_what_pays_and_nothing_else() {
    let payback = payback();
    let gain = |cores: &[Misses]| {
        let still = replay(&machine(8), cores, Placement::Pool, None).unwrap();
        let moving = replay(&machine(8), cores, Placement::Pool, Some(&payback)).unwrap();
        (moving.ipc / still.ipc, moving.nodes[0].moved_in)
    };
    // 128 pages of a core, over and over: all but those that are watched come in.
    let again: Vec<Misses> =
        (0..2).map(|core| misses(400_000, 40, Kind::Read, |i| core * 8192 + i % 8192)).collect();
    let (gained, moved) = gain(&again);
    assert!(gained > 1.5 && (200..256).contains(&moved), "{gained} {moved}");
    // Each line once: a page that is hot is nearly over.
    let once: Vec<Misses> =
        (0..2).map(|core| misses(60_000, 40, Kind::Read, |i| core * 60_000 + i)).collect();
    assert!(gain(&once).0 > 0.98, "{:?}", gain(&once));
    // Nothing waits for memory: nothing is gained, and nothing moves.
    let idle: Vec<Misses> =
        (0..2).map(|core| misses(2000, 40_000, Kind::Read, |i| core * 64 + i % 64)).collect();
    assert_eq!(gain(&idle), (1.0, 0));
}

#[test]
fn walks_take_their_time_and_shootdowns_add_some() {
    let tlb = |walk_ns, flush_all| PoolTlb {
        first: 64,
        first_ways: 4,
        second: 0,
        second_ways: 0,
        second_ns: 0.0,
        walk_ns,
        flush_all,
    };
    let with = |tlb| PoolMachine { tlb, ..machine(1) };
    // Each core rereads a page, whose translation it has to walk for every thousandth time.
    let mut cores = Vec::new();
    for core in 0..2_u32 {
        let mut all = Misses::default();
        for i in 0..50_000 {
            if i % 1000 == 0 {
                all.translate((core * 64) | 1, 0);
            }
            all.push(core * 64 + i % 64, Kind::Read, 100);
        }
        cores.push(all);
    }
    let run =
        |tlb, migration| replay(&with(tlb), &cores, Placement::LocalFirst, migration).unwrap();
    // So much memory waits for nothing but its walks.
    let [none, walked] = [None, Some(tlb(3000.0, false))].map(|tlb| run(tlb, None));
    assert_eq!((none.nodes[0].walks, walked.nodes[0].walks), (0, 100));
    close(walked.seconds - none.seconds, 50.0 * 3e-6, 1.0);
    assert_eq!(walked.requests, 100_000);
    let of = |flush_all| {
        let machine = with(Some(tlb(30.0, flush_all)));
        replay(&machine, &cores, Placement::Pool, Some(&migration())).unwrap().nodes[0].clone()
    };
    // Both pages move at once, and each core has one of them.
    for flush_all in [false, true] {
        let node = of(flush_all);
        assert_eq!((node.stalls, node.walks_again), (1, 2), "{node:?}");
        assert_eq!(node.walks, 102);
    }
}
