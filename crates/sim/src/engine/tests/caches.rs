//! What caches make of accesses: times and traffic.

use super::*;
use pagetide_machine::{Cache, Tlb};
use pagetide_types::Bytes;

/// 32 KiB of 2 ns, 256 KiB of 6 ns, and a last level of 20 ns.
fn levels(last: Bytes, shared: bool) -> Vec<Cache> {
    let level = |size, ways, hit_ns, shared| Cache { size, ways, hit_ns, shared };
    vec![
        level(Bytes::kib(32), 8, 2.0, false),
        level(Bytes::kib(256), 8, 6.0, false),
        level(last, 16, 20.0, shared),
    ]
}

fn behind<'a>(tlb: Option<&Tlb>, caches: &[Cache], tier: u8) -> Engine<'a> {
    let hardware = Hardware::new(tlb, caches, 1.0).unwrap();
    let pages = Pages::all_in(tier, 64 << 20);
    Engine::new(World::new(&machine(), pages).behind(hardware))
}

/// Accesses to so many bytes in a circle, `from` a byte on.
fn circle(from: u64, bytes: u64, count: u64, access: Access) -> impl FnMut(f64) -> Option<Access> {
    let mut at = 0;
    move |_| {
        let address = from + at * 64 % bytes;
        at += 1;
        (at <= count).then_some(Access { address, ..access })
    }
}

const CHASE: Access = Access { address: 0, write: false, dependent: true, compute_ns: 0.0 };
const READ: Access = Access { dependent: false, ..CHASE };
const WRITE: Access = Access { write: true, ..READ };

#[test]
fn a_chase_takes_what_the_level_takes_that_holds_it() {
    for shared in [false, true] {
        // Of a circle that does not fit, a cache with LRU holds nothing when it is asked for.
        for (kib, each_ns) in [(16u64, 2.0), (128, 6.0), (512, 20.0), (4096, 100.0)] {
            let mut engine = behind(None, &levels(Bytes::mib(1), shared), 0);
            let (lines, rounds) = (kib * 16, if kib < 4096 { 50 } else { 2 });
            let chase = circle(0, kib << 10, lines * rounds, CHASE);
            engine.thread(chase, 0, Core::default(), 0.0);
            let right = lines as f64 * (100.0 + (rounds - 1) as f64 * each_ns);
            near(engine.run(f64::INFINITY), right);
            let world = engine.world();
            let missed = lines * if kib < 4096 { 1 } else { rounds };
            assert_eq!(world.served(0)[0], missed, "the first round, or all");
            assert_eq!(world.hits(0), lines * rounds - missed);
            assert_eq!(world.memory[0].bytes(), [missed as f64 * 64.0, 0.0]);
        }
    }
}

#[test]
fn a_hit_costs_its_translation_too() {
    // A line of each of 128 pages: all in the first level, and translated by the second.
    let mut engine = behind(Some(&Tlb::default()), &levels(Bytes::mib(1), true), 0);
    let mut at = 0;
    let chase = move |_: f64| {
        let page = at % 128;
        at += 1;
        (at <= 200_000).then_some(Access { address: page * 4096 + page % 64 * 64, ..CHASE })
    };
    engine.thread(chase, 0, Core::default(), 0.0);
    let first_round = 128.0 * (30.0 + 100.0);
    near(engine.run(f64::INFINITY), first_round + (200_000.0 - 128.0) * (3.0 + 2.0));
}

#[test]
fn independent_hits_overlap_and_are_not_issued_faster_than_a_core_can() {
    for (outstanding, issue_ns, each_ns) in [(4, 0.0, 5.0), (1, 0.0, 20.0), (10, 2.5, 2.5)] {
        let mut engine = behind(None, &levels(Bytes::mib(1), true), 0);
        let read = circle(0, 512 << 10, 200 << 13, READ);
        engine.thread(
            read,
            0,
            Core { outstanding, reorder: outstanding, issue_ns, ..Core::default() },
            0.0,
        );
        let missed = f64::from(1 << 13) * 100.0 / f64::from(outstanding);
        near(engine.run(f64::INFINITY), missed + f64::from(199 << 13) * each_ns);
    }
}

#[test]
fn a_shared_last_level_is_thrashed_by_another_thread_and_one_of_its_own_is_not() {
    let right = [
        // While the chase goes round, the other brings 16 to 80 lines into each set of 16 ways.
        (true, 8.0, 100.0),
        (false, 8.0, 20.0),
        // Less than one.
        (true, 1000.0, 20.0),
    ];
    for (shared, compute_ns, each_ns) in right {
        let mut engine = behind(None, &levels(Bytes::mib(1), shared), 0);
        let stream = Access { compute_ns, ..READ };
        engine.thread(circle(8 << 20, 48 << 20, u64::MAX, stream), 1, Core::default(), 0.0);
        let chase = engine.thread(circle(0, 512 << 10, 200 << 13, CHASE), 0, Core::default(), 0.0);
        while !engine.ended(chase) {
            engine.run(engine.clock_ns(chase) + 100_000.0);
        }
        let first_round = f64::from(1 << 13) * 100.0;
        near(engine.clock_ns(chase), first_round + f64::from(199 << 13) * each_ns);
    }
}

#[test]
fn a_stream_of_writes_reads_every_line_and_writes_it_back_later() {
    let lines = 1 << 21;
    for (write, traffic) in [(WRITE, 2.0), (READ, 1.0)] {
        let mut engine = behind(None, &levels(Bytes::kib(256), true), 1);
        engine.thread(circle(0, 64 << 20, lines, write), 0, WIDE, 0.0);
        // 20 GB/s, for both directions together.
        near(engine.run(f64::INFINITY), lines as f64 * 64.0 * traffic / 20.0);
        let [read, written] = engine.world().memory[1].bytes();
        assert_eq!(read, lines as f64 * 64.0);
        near(1.0 + written / read, traffic);
    }
}

#[test]
fn a_line_is_written_back_to_where_its_page_is_by_then() {
    let small = [Cache { size: Bytes(64), ways: 1, hit_ns: 1.0, shared: false }];
    let mut engine = behind(None, &small, 0);
    let mut accesses = [(0, true), (64, true), (4096, false)].into_iter();
    let program = move |now: f64| {
        let (address, write) = accesses.next()?;
        let compute_ns = if now > 0.0 { 1000.0 } else { 0.0 };
        Some(Access { address, write, dependent: true, compute_ns })
    };
    engine.thread(program, 0, Core::default(), 0.0);
    engine.run(1500.0);
    engine.world().pages.transfer(0..1, 1);
    engine.run(f64::INFINITY);
    let written = [0, 1].map(|tier| engine.world().memory[tier].bytes()[1]);
    assert_eq!(written, [64.0, 64.0], "the first line before the move, the second after it");
}

#[test]
fn without_a_tlb_every_access_sets_the_bit_hit_or_not() {
    let mut engine = behind(None, &levels(Bytes::mib(1), true), 0);
    engine.thread(circle(0, 16 << 10, u64::MAX, CHASE), 0, Core::default(), 0.0);
    engine.run(100_000.0);
    let set = |engine: &mut Engine<'_>| engine.world().pages.clear_all(0..4, bit::ACCESSED);
    assert_ne!(set(&mut engine), 0);
    engine.run(200_000.0);
    assert_ne!(set(&mut engine), 0);
}
