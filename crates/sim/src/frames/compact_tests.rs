//! What compactors do, against what can be counted by hand, and what they must never do.

use super::*;
use crate::frames::{Fragmented, fragmented};
use proptest::prelude::*;

const FAR: usize = usize::MAX;

/// 32 MiB of which so much is free, and so many pageblocks hold unmovable pages.
fn memory(free: f64, unmovable_blocks: f64, seed: u64) -> Buddy {
    fragmented(Fragmented { blocks: 8, free, unmovable_blocks, unmovable_pages: 1, seed })
}

#[test]
fn without_unmovable_pages_the_stock_compactor_empties_the_left() {
    let mut memory = memory(0.5, 0.0, 1);
    let free = memory.free_frames();
    let mut stock = Stock::new(&memory, Pathologies::ALL);
    let done = stock.round(&mut memory, FAR);
    // Half is free, in 16 pageblocks: about 8 could be.
    assert!((6..=8).contains(&memory.free_pageblocks()), "{}", memory.free_pageblocks());
    assert!(done.moved > 0 && memory.free_frames() == free);
    assert!(memory.block(0, 9).iter().all(|frame| *frame == Frame::Free));
}

#[test]
fn one_unmovable_page_in_every_pageblock_leaves_the_stock_compactor_and_ours_nothing() {
    let mut memory = memory(0.5, 1.0, 2);
    Stock::new(&memory, Pathologies::ALL).round(&mut memory, FAR);
    Orderly::new(Side::Emptiest).round(&mut memory, FAR);
    assert_eq!(memory.free_pageblocks(), 0);
}

#[test]
fn an_unmovable_page_costs_the_stock_compactor_what_it_had_isolated() {
    let mut memory = Buddy::new(1);
    for at in 0..20 {
        memory.take(at, Frame::Movable);
    }
    memory.take(20, Frame::Unmovable);
    let mut stock = Stock::new(&memory, Pathologies::ALL);
    let done = stock.round(&mut memory, FAR);
    assert_eq!((done.moved, done.failed), (0, 20));
    // And it does not come back to that block, though the page is gone.
    memory.release(20);
    assert_eq!(stock.round(&mut memory, FAR).failed, 0);
    // Without that pathology all of them move; the last free block is taken for them.
    let without = Pathologies { give_up: false, ..Pathologies::NONE };
    let done = Stock::new(&memory, without).round(&mut memory, FAR);
    assert_eq!((done.moved, done.failed), (20, 0));
}

#[test]
fn a_free_large_block_is_no_target_of_the_stock_compactor() {
    let full = || {
        let mut memory = Buddy::new(1);
        (0..10).for_each(|at| assert!(memory.take(at, Frame::Movable)));
        memory
    };
    let mut memory = full();
    let done = Stock::new(&memory, Pathologies::ALL).round(&mut memory, FAR);
    assert_eq!((done.moved, done.failed), (0, 10));
    let mut memory = full();
    let keep = Pathologies { keep_large: false, ..Pathologies::ALL };
    assert_eq!(Stock::new(&memory, keep).round(&mut memory, FAR).moved, 10);
}

#[test]
fn ours_empties_the_emptiest_block_first_and_keeps_the_left_of_pm_clean() {
    let mut dram = Buddy::new(4);
    let fill = |memory: &mut Buddy, block: usize, pages: usize| {
        (0..pages).for_each(|at| assert!(memory.take((block << 10) + at, Frame::Movable)));
    };
    for (block, pages) in [(0, 300), (1, 20), (2, 100), (3, 500)] {
        fill(&mut dram, block, pages);
    }
    let mut pm = dram.clone();
    let done = Orderly::new(Side::Emptiest).round(&mut dram, 20);
    assert_eq!((done.moved, dram.free_order(1 << 10)), (20, Some(MAX_ORDER)));
    let done = Orderly::new(Side::Left).round(&mut pm, 300);
    assert_eq!((done.moved, pm.free_order(0)), (300, Some(MAX_ORDER)));
    // They lie at the right end.
    assert_eq!(pm.frame(pm.len() - 1), Frame::Movable);
}

proptest! {
    /// No compactor loses, invents or touches what it must not, or moves more than it may.
    #[test]
    fn pages_are_moved_never_lost(
        free in 0.05_f64..0.95,
        unmovable in 0.0_f64..1.0,
        seed: u64,
        budget in 1_usize..4000,
        which in 0_u8..4,
    ) {
        let mut memory = memory(free, unmovable, seed);
        let count = |memory: &Buddy, what| (0..memory.len()).filter(|at| memory.frame(*at) == what).count();
        let fixed: Vec<usize> =
            (0..memory.len()).filter(|at| memory.frame(*at) == Frame::Unmovable).collect();
        let before = count(&memory, Frame::Movable);
        let mut compactor: Box<dyn Compactor> = match which {
            0 => Box::new(Stock::new(&memory, Pathologies::ALL)),
            1 => Box::new(Stock::new(&memory, Pathologies::NONE)),
            2 => Box::new(Orderly::new(Side::Emptiest)),
            _ => Box::new(Orderly::new(Side::Left)),
        };
        for _ in 0..3 {
            let done = compactor.round(&mut memory, budget);
            // Linux moves a cluster at a time.
            prop_assert!(done.moved < budget + CLUSTER);
            prop_assert_eq!(count(&memory, Frame::Movable), before);
            prop_assert!(fixed.iter().all(|at| memory.frame(*at) == Frame::Unmovable));
        }
    }
}
