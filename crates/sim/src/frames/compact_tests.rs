//! What compactors do, against what can be counted by hand, and what they must never do.

use crate::frames::stock::CLUSTER;
use crate::frames::{
    Buddy, Compactor, Fragmented, Frame, MAX_ORDER, PaperCompactor, Rules, Side, Stock, fragmented,
};
use proptest::prelude::*;

const FAR: usize = usize::MAX;

/// 32 MiB of which so much is free, and so many pageblocks hold unmovable pages.
fn memory(free: f64, unmovable_blocks: f64, seed: u64) -> Buddy {
    fragmented(Fragmented { blocks: 8, free, unmovable_blocks, seed, ..Fragmented::default() })
}

#[test]
fn without_unmovable_pages_the_stock_compactor_empties_the_left() {
    let mut memory = memory(0.5, 0.0, 1);
    let free = memory.free_frames();
    let mut stock = Stock::new(&memory, Rules::PAPER);
    let done = stock.round(&mut memory, FAR);
    // Half is free, in 16 pageblocks: about 8 could be.
    assert!((6..=8).contains(&memory.free_pageblocks()), "{}", memory.free_pageblocks());
    assert!(done.moved > 0 && memory.free_frames() == free);
    assert!(memory.block(0, 9).iter().all(|frame| *frame == Frame::Free));
}

#[test]
fn one_unmovable_page_in_every_pageblock_leaves_the_stock_compactor_and_ours_nothing() {
    let mut memory = memory(0.5, 1.0, 2);
    Stock::new(&memory, Rules::PAPER).round(&mut memory, FAR);
    PaperCompactor::new(Side::Emptiest).round(&mut memory, FAR);
    assert_eq!(memory.free_pageblocks(), 0);
}

#[test]
fn an_unmovable_page_costs_the_stock_compactor_what_it_had_isolated() {
    let mut memory = Buddy::new(2);
    for at in 0..20 {
        memory.take(at, Frame::Movable);
    }
    memory.take(20, Frame::Unmovable);
    let mut stock = Stock::new(&memory, Rules::PAPER);
    let done = stock.round(&mut memory, FAR);
    assert_eq!((done.moved, done.failed, done.released), (0, 0, 20));
    // And it does not come back to that block, though the page is gone.
    memory.release(20);
    let done = stock.round(&mut memory, FAR);
    assert_eq!((done.moved, done.failed, done.released), (0, 0, 0));
    // Without that pathology all of them move; the last free block is taken for them.
    let done = Stock::new(&memory, Rules::NONE).round(&mut memory, FAR);
    assert_eq!((done.moved, done.failed), (20, 0));
}

#[test]
fn a_free_large_block_is_no_target_of_the_stock_compactor() {
    let full = || {
        let mut memory = Buddy::new(2);
        (0..10).for_each(|at| assert!(memory.take(at, Frame::Movable)));
        memory
    };
    let mut memory = full();
    let done = Stock::new(&memory, Rules::PAPER).round(&mut memory, FAR);
    assert_eq!((done.moved, done.failed), (0, 10));
    let mut memory = full();
    let keep = Rules { keep_large: false, ..Rules::PAPER };
    assert_eq!(Stock::new(&memory, keep).round(&mut memory, FAR).moved, 10);
}

#[test]
fn a_block_that_cannot_take_a_whole_list_is_no_target() {
    // 40 pages at the left; of the three other pageblocks each has 20 free frames.
    let crowded = || {
        let mut memory = Buddy::new(2);
        (0..40).for_each(|at| assert!(memory.take(at, Frame::Movable)));
        (512..2048)
            .filter(|at| at % 512 >= 20)
            .for_each(|at| assert!(memory.take(at, Frame::Unmovable)));
        memory
    };
    let rules = Rules { all_or_nothing: true, ..Rules::NONE };
    let mut memory = crowded();
    // A list is 32 pages; the scanners have met when the other 8 would come.
    let done = Stock::new(&memory, rules).round(&mut memory, FAR);
    assert_eq!((done.moved, done.failed), (0, 32));
    let mut memory = crowded();
    let done = Stock::new(&memory, Rules::NONE).round(&mut memory, FAR);
    assert_eq!((done.moved, done.failed, memory.free_order(0)), (40, 0, Some(9)));
}

#[test]
fn linux_moves_nothing_into_blocks_for_unmovable_pages_and_nothing_stops_it_at_one() {
    let mut memory = Buddy::new(2);
    (0..20).for_each(|at| assert!(memory.take(at, Frame::Movable)));
    memory.take(20, Frame::Unmovable);
    // The last pageblock is not free as a whole; the two between are.
    memory.take(2047, Frame::Unmovable);
    memory.set_for_movable(3, false);
    let done = Stock::new(&memory, Rules::ON_REQUEST).round(&mut memory, FAR);
    assert_eq!((done.moved, done.failed), (0, 20));
    memory.set_for_movable(3, true);
    let done = Stock::new(&memory, Rules::ON_REQUEST).round(&mut memory, FAR);
    assert_eq!((done.moved, done.failed, done.lists), (20, 0, 1));
    // The migrate scanner has gone over three pageblocks, the free scanner over the 256 free frames that it took.
    assert_eq!((done.scanned, done.free_scanned), (1536, 256));
}

#[test]
fn a_round_goes_on_where_the_one_before_stopped_unless_it_begins_anew() {
    let mut memory = memory(0.5, 0.0, 3);
    let mut other = memory.clone();
    let mut goes_on = Stock::new(&memory, Rules::NONE);
    let mut anew = Stock::new(&other, Rules { anew: true, ..Rules::NONE });
    let scanned = |stock: &mut Stock, memory: &mut Buddy| {
        (0..4).map(|_| stock.round(memory, 100).scanned).sum::<usize>()
    };
    assert!(scanned(&mut goes_on, &mut memory) < scanned(&mut anew, &mut other));
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
    let done = PaperCompactor::new(Side::Emptiest).round(&mut dram, 20);
    assert_eq!((done.moved, dram.free_order(1 << 10)), (20, Some(MAX_ORDER)));
    let done = PaperCompactor::new(Side::Left).round(&mut pm, 300);
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
        let (before, free) = (count(&memory, Frame::Movable), memory.free_frames());
        let mut compactor: Box<dyn Compactor> = match which {
            0 => Box::new(Stock::new(&memory, Rules::PAPER)),
            1 => Box::new(Stock::new(&memory, Rules::ON_REQUEST)),
            2 => Box::new(PaperCompactor::new(Side::Emptiest)),
            _ => Box::new(PaperCompactor::new(Side::Left)),
        };
        for _ in 0..3 {
            let done = compactor.round(&mut memory, budget);
            // Linux moves a cluster at a time.
            prop_assert!(done.moved < budget + CLUSTER);
            prop_assert_eq!(count(&memory, Frame::Movable), before);
            prop_assert_eq!(memory.free_frames(), free);
            prop_assert!(fixed.iter().all(|at| memory.frame(*at) == Frame::Unmovable));
        }
    }
}
