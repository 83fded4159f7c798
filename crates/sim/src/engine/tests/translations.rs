//! What a TLB makes of accesses: times, and which bits are set.

use super::*;
use crate::movers::{Mechanism, Mover};
use pagetide_machine::{Kernel, Tlb};
use pagetide_types::Bytes;

/// 64 and 32 entries, 1,024 behind; 3 ns, and walks of 30 and 12 ns.
fn tlb() -> Hardware {
    Hardware::new(Some(&Tlb::default()), &[], 1.0).unwrap()
}

fn world(huge: bool, blocks: usize) -> World {
    let mut pages = Pages::all_in(0, (blocks as u64) << 21);
    if huge {
        (0..blocks).for_each(|block| pages.put_huge(block * HUGE_PAGES, 0));
    }
    World::new(&machine(), pages).behind(tlb())
}

/// One access to each of `pages` in turn, `step` bytes apart.
fn visit(pages: u64, step: u64, count: u64, dependent: bool) -> impl FnMut(f64) -> Option<Access> {
    let mut at = 0;
    move |_| {
        let address = at % pages * step;
        at += 1;
        (at <= count).then_some(Access { address, dependent, ..Access::default() })
    }
}

#[test]
fn a_chase_takes_a_walk_a_second_level_or_nothing_by_its_reach() {
    for (huge, first, walk_ns) in [(false, 64, 30.0), (true, 32, 12.0)] {
        let step = if huge { 2 << 20 } else { 4096 };
        for (pages, more_ns) in [(first, 0.0), (4 * first, 3.0), (1024, 3.0), (2048, walk_ns)] {
            let blocks = if huge { 2048 } else { 4 };
            let mut engine = Engine::new(world(huge, blocks));
            let count = pages * 200;
            engine.thread(visit(pages, step, count, true), 0, Core::default(), 0.0);
            near(engine.run(f64::INFINITY), count as f64 * (100.0 + more_ns));
        }
    }
}

#[test]
fn independent_accesses_overlap_their_walks() {
    let mut engine = Engine::new(world(false, 4));
    let core = Core { outstanding: 4, issue_ns: 0.0, ..Core::default() };
    engine.thread(visit(2048, 4096, 100_000, false), 0, core, 0.0);
    near(engine.run(f64::INFINITY), 100_000.0 * 130.0 / 4.0);
    assert_eq!(engine.world().served(0), [100_000, 0, 0, 0]);
}

#[test]
fn a_walk_waits_for_memory_once_a_line_of_entries_where_the_last_cache_is_too_small() {
    // 4,096 pages have 512 lines of entries; a round brings in 4,096 lines of data beside them.
    for (holds, waits) in [(0, 0.0), (16_384, 0.0), (4096, 1.0), (64, 1.0)] {
        for (step, of_walks) in [(4096, 1.0 / 8.0), (32 << 10, 1.0)] {
            let tlb = Tlb { last_cache: Bytes(holds * 64), ..Tlb::default() };
            let world = World::new(&machine(), Pages::all_in(0, 4096 * step));
            let mut engine =
                Engine::new(world.behind(Hardware::new(Some(&tlb), &[], 1.0).unwrap()));
            let count = 4096 * 100;
            engine.thread(visit(4096, step, count, true), 0, Core::default(), 0.0);
            let each = 130.0 + 100.0 * waits * of_walks;
            near(engine.run(f64::INFINITY), count as f64 * each);
        }
    }
}

#[test]
fn tables_stay_where_their_first_page_was() {
    let tlb = Tlb { last_cache: Bytes(64), ..Tlb::default() };
    let mut engine = Engine::new(
        World::new(&machine(), Pages::all_in(1, 8 << 21))
            .behind(Hardware::new(Some(&tlb), &[], 1.0).unwrap()),
    );
    let mut pages = visit(4096, 32 << 10, u64::MAX, true);
    let pages = move |now| pages(now).map(|one| Access { address: one.address % (8 << 21), ..one });
    engine.thread(pages, 0, Core::default(), 0.0);
    engine.run(1e6);
    let slow = engine.world().served(0)[1];
    engine.world().pages.transfer(0..8 * HUGE_PAGES, 0);
    engine.run(2e6);
    let [fast, still, ..] = engine.world().served(0);
    assert!(still - slow < 2, "all is fast now");
    // A walk of 30 ns and the slow tier's latency for its entry, and the page's own.
    let latency = |tier: usize| machine().tiers[tier].read_latency_ns;
    near(1e6 / fast as f64, latency(0) + 30.0 + latency(1));
}

#[test]
fn walks_of_a_core_queue_for_its_walkers() {
    // Ten accesses under way would take 13 ns each, of which the walks are 30 over the walkers.
    for (walkers, right) in [(1, 30.0), (2, 15.0), (3, 13.0)] {
        let tlb = Tlb { walkers, ..Tlb::default() };
        let world = World::new(&machine(), Pages::all_in(0, 8 << 21));
        let mut engine = Engine::new(world.behind(Hardware::new(Some(&tlb), &[], 1.0).unwrap()));
        let core = Core { outstanding: 10, issue_ns: 0.0, ..Core::default() };
        for _ in 0..2 {
            engine.thread(visit(2048, 4096, 100_000, false), 0, core, 0.0);
        }
        near(engine.run(f64::INFINITY), 100_000.0 * right);
    }
}

/// An engine whose threads of two tenants have translated their pages, 64 of 4 KiB at the beginning
/// and 16 of 2 MiB behind 2 MiB, and go on with them; accessed bits are clear.
fn translated<'a>() -> Engine<'a> {
    let mut pages = Pages::all_in(0, 20 << 21);
    (1..17).for_each(|block| pages.put_huge(block * HUGE_PAGES, 0));
    let mut engine = Engine::new(World::new(&machine(), pages).behind(tlb()));
    engine.thread(visit(64, 4096, u64::MAX, true), 0, Core::default(), 0.0);
    let mut huge = visit(16, 2 << 20, u64::MAX, true);
    let behind = move |now| {
        huge(now).map(|access| Access {
            address: access.address + (2 << 20),
            write: true,
            ..access
        })
    };
    engine.thread(behind, 1, Core::default(), 0.0);
    assert_eq!(walked(&mut engine, 0.0).len(), 80, "at first all of them");
    engine
}

/// Pages whose accessed bits are set from here on, once all are touched again; they are cleared.
fn walked(engine: &mut Engine<'_>, after_ns: f64) -> Vec<usize> {
    engine.run(after_ns + 20_000.0);
    let pages = &mut engine.world().pages;
    (0..pages.len()).filter(|page| pages.clear(*page, bit::ACCESSED) != 0).collect()
}

#[test]
fn accessed_bits_are_set_by_walks_only_and_again_after_a_flush() {
    let mut engine = translated();
    engine.world().pages.clear_all(0..9 * HUGE_PAGES, bit::DIRTY);
    assert_eq!(walked(&mut engine, 20_000.0), [0; 0]);
    assert_ne!(
        engine.world().pages.entry(HUGE_PAGES) & bit::DIRTY,
        0,
        "a store sets it, walk or not"
    );
    engine.world().cores.flush(0);
    engine.world().cores.flush(7);
    assert_eq!(walked(&mut engine, 40_000.0), (0..64).collect::<Vec<_>>(), "of that tenant");
    engine.world().cores.flush(1);
    assert_eq!(walked(&mut engine, 60_000.0).len(), 16);
}

#[test]
fn a_page_that_moved_was_split_or_faulted_is_walked_to_and_no_other() {
    let mut engine = translated();
    let world = engine.world();
    let mut mover = Mover::new(0, Mechanism::HUGE, Kernel::default());
    mover.request([], [5..6, 1024..1536], []);
    let mut now = 20_000.0;
    while let Some(next) = mover.step(now, world) {
        now = next;
    }
    world.pages.split(3 * HUGE_PAGES);
    world.pages.set(9, bit::HINT);
    assert_eq!(walked(&mut engine, now), [5, 9, 1024, 1536]);
    assert_eq!(engine.world().pages.tier(5), 1);
    assert_eq!(walked(&mut engine, now + 20_000.0), [0; 0]);
}

#[test]
fn a_core_that_missed_too_many_moves_forgets_everything() {
    let mut engine = translated();
    for _ in 0..2000 {
        engine.world().pages.transfer(9000..9001, 1);
    }
    assert_eq!(walked(&mut engine, 20_000.0).len(), 80);
}
