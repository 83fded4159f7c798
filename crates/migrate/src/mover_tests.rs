//! Movers on a simulated kernel.

use super::*;
use crate::simulated::{SimPage, SimulatedKernel};
use crate::{Amount, Errno, Mapping, Moved, NodeRoom, Sharing, Spot};
use pagetide_types::{Bytes, NodeId};
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::Duration;

const PID: Pid = Pid(7);
const FAST: NodeId = NodeId(0);
const SLOW: NodeId = NodeId(1);
const HUGE: u64 = 2 << 20;

fn order(tag: u32, start: u64, bytes: u64, huge: bool, from: NodeId, to: NodeId) -> Order {
    let (start, end) = (VirtAddr(start), VirtAddr(start + bytes));
    Order { tag, pid: PID, start, end, huge, from, to, shared: false }
}

fn up(tag: u32, huge_page: u64) -> Order {
    order(tag, huge_page * HUGE, HUGE, true, SLOW, FAST)
}

fn down(tag: u32, huge_page: u64) -> Order {
    order(tag, huge_page * HUGE, HUGE, true, FAST, SLOW)
}

/// Huge pages `range` on a node.
fn put(kernel: &SimulatedKernel, range: std::ops::Range<u64>, on: NodeId) {
    let (start, end) = (VirtAddr(range.start * HUGE), VirtAddr(range.end * HUGE));
    kernel.map(PID, start, end, true, SimPage::on(on));
}

fn run(mover: &mut Mover<SimulatedKernel>, work: &Work) -> Report {
    mover.run(work, &|| false)
}

fn huge(huge_pages: u64) -> Amount {
    Amount { base_pages: 0, huge_pages }
}

/// Ten huge pages each; the fast node is full but for `free` of its huge pages.
fn full(free: u64) -> (SimulatedKernel, Work) {
    let kernel = SimulatedKernel::two_tiers((10 + free) * 512, 40 * 512);
    put(&kernel, 0..10, FAST);
    put(&kernel, 10..20, SLOW);
    let promote = (0..10).map(|i| up(i, 10 + u64::from(i))).collect();
    let demote = (0..10).map(|i| down(10 + i, u64::from(i))).collect();
    (kernel, Work { promote, demote })
}

#[test]
fn a_full_tier_is_exchanged_through_what_little_is_free() {
    for (free, threads) in [(1, 1), (1, 4), (3, 2), (8, 3)] {
        let (kernel, work) = full(free);
        let mut mover = Mover::new(kernel, Options { threads, ..Options::default() });
        let report = run(&mut mover, &work);
        assert_eq!((report.promoted, report.demoted), (huge(10), huge(10)), "{report:?}");
        assert_eq!(report.refused, BTreeMap::new());
        for page in 0..20 {
            let expected = if page < 10 { SLOW } else { FAST };
            assert_eq!(mover.kernel().at(PID, VirtAddr(page * HUGE)), Some(expected));
        }
        assert_eq!(mover.kernel().free(FAST).0, free * 512);
    }
}

#[test]
fn without_anything_free_demotions_go_first() {
    let (kernel, work) = full(0);
    let mut mover = Mover::new(kernel, Options::default());
    let report = run(&mut mover, &work);
    assert_eq!((report.promoted, report.demoted), (huge(10), huge(10)), "{report:?}");
}

#[test]
fn the_reserve_is_there_again_at_the_end() {
    let (kernel, mut work) = full(4);
    // Only seven go down: with a reserve of three there is room for eight.
    work.demote.truncate(7);
    let reserve = BTreeMap::from([(FAST, Bytes::mib(6))]);
    let mut mover = Mover::new(kernel, Options { reserve, threads: 2, ..Options::default() });
    let report = run(&mut mover, &work);
    assert_eq!((report.promoted, report.demoted), (huge(8), huge(7)));
    assert_eq!(report.refused(Refusal::NoRoom), huge(2));
    assert_eq!(mover.kernel().free(FAST).0, 3 * 512);
    assert_eq!(report.orders[7].moved, 512, "the most wanted went");
    assert_eq!((report.orders[8].moved, report.orders[8].left), (0, 512));
}

#[test]
fn demotions_that_fail_do_not_eat_the_reserve() {
    let kernel = SimulatedKernel::two_tiers(12 * 512, 40 * 512);
    let stuck = SimPage { pinned: true, ..SimPage::on(FAST) };
    kernel.map(PID, VirtAddr(0), VirtAddr(10 * HUGE), true, stuck);
    put(&kernel, 10..20, SLOW);
    let reserve = BTreeMap::from([(FAST, Bytes::mib(4))]);
    let mut mover = Mover::new(kernel, Options { reserve, ..Options::default() });
    let promote = (0..10).map(|i| up(i, 10 + u64::from(i))).collect();
    let demote = (0..10).map(|i| down(10 + i, u64::from(i))).collect();
    let report = run(&mut mover, &Work { promote, demote });
    assert_eq!(report.refused(Refusal::Stuck), huge(10));
    assert_eq!(report.refused(Refusal::NoRoom), huge(10));
    assert_eq!(mover.kernel().free(FAST), (2 * 512, 2 * 512));
}

#[test]
fn where_both_nodes_are_full_the_reserve_is_lent_and_given_back() {
    let kernel = SimulatedKernel::two_tiers(12 * 512, 10 * 512);
    put(&kernel, 0..10, FAST);
    put(&kernel, 10..20, SLOW);
    let reserve = BTreeMap::from([(FAST, Bytes::mib(4))]);
    let mut mover = Mover::new(kernel, Options { reserve, threads: 2, ..Options::default() });
    let promote = (0..10).map(|i| up(i, 10 + u64::from(i))).collect();
    let demote = (0..10).map(|i| down(10 + i, u64::from(i))).collect();
    let report = run(&mut mover, &Work { promote, demote });
    assert_eq!((report.promoted, report.demoted), (huge(10), huge(10)));
    assert_eq!(mover.kernel().free(FAST), (2 * 512, 0), "at the end, and at the least");
}

#[test]
fn huge_pages_stay_where_they_are_rather_than_in_pieces() {
    let kernel = SimulatedKernel::two_tiers(20 * 512, 20 * 512);
    kernel.fragment(FAST);
    put(&kernel, 0..3, SLOW);
    let promote: Vec<Order> = (0..3).map(|i| up(i, u64::from(i))).collect();
    let work = Work { promote, demote: Vec::new() };
    let mut mover = Mover::new(kernel, Options::default());
    let report = run(&mut mover, &work);
    assert_eq!(report.refused(Refusal::NoHugePage), huge(3));
    assert_eq!((report.splits, mover.kernel().calls().0), (0, 0));
    mover.options_mut().split = true;
    let report = run(&mut mover, &work);
    assert_eq!(report.splits, 3, "splits are counted");
    assert_eq!(report.promoted.bytes(), Bytes::mib(6));
}

#[test]
fn after_the_first_split_no_more_huge_pages_go() {
    let kernel = SimulatedKernel::two_tiers(40 * 512, 40 * 512);
    kernel.fragment_unseen(FAST);
    put(&kernel, 0..20, SLOW);
    let promote: Vec<Order> = (0..20).map(|i| up(i, u64::from(i))).collect();
    let options = Options { huge_batch: 4, ..Options::default() };
    let report = run(&mut Mover::new(kernel, options), &Work { promote, demote: Vec::new() });
    assert_eq!((report.splits, report.promoted), (4, huge(4)));
    assert_eq!(report.refused(Refusal::NoHugePage), huge(16));
}

#[test]
fn base_pages_of_the_same_work_still_go_where_no_huge_page_is_free() {
    let kernel = SimulatedKernel::two_tiers(20 * 512, 20 * 512);
    kernel.fragment(FAST);
    put(&kernel, 0..1, SLOW);
    kernel.map(PID, VirtAddr(HUGE), VirtAddr(2 * HUGE), false, SimPage::on(SLOW));
    let work = Work {
        promote: vec![up(0, 0), order(1, HUGE, HUGE, false, SLOW, FAST)],
        demote: Vec::new(),
    };
    let mut mover = Mover::new(kernel, Options::default());
    let report = run(&mut mover, &work);
    assert_eq!(report.promoted, Amount { base_pages: 512, huge_pages: 0 });
    assert_eq!(report.refused(Refusal::NoHugePage), huge(1));
}

/// Fast memory of ten huge pages, full of page cache. Four huge pages, or as many in base pages, are to go up.
fn full_of_cache(huge: bool) -> (SimulatedKernel, Work) {
    let kernel = SimulatedKernel::two_tiers(10 * 512, 40 * 512);
    kernel.cache(FAST, 10 * 512);
    kernel.map(PID, VirtAddr(0), VirtAddr(4 * HUGE), huge, SimPage::on(SLOW));
    let promote = vec![order(0, 0, 4 * HUGE, huge, SLOW, FAST)];
    (kernel, Work { promote, demote: Vec::new() })
}

/// Free and page cache of the fast node, base pages.
fn left(mover: &Mover<SimulatedKernel>) -> (u64, u64) {
    (mover.kernel().free(FAST).0, mover.kernel().idle_cache(FAST))
}

#[test]
fn page_cache_is_given_up_for_what_goes_up_and_for_what_is_to_stay_free() {
    let base = |pages| Amount { base_pages: pages, huge_pages: 0 };
    for (is_huge, moved) in [(false, base as fn(u64) -> Amount), (true, |pages| huge(pages / 512))]
    {
        let given = |may: u64| {
            let (kernel, work) = full_of_cache(is_huge);
            let one = |blocks: u64| BTreeMap::from([(FAST, Bytes(blocks * HUGE))]);
            let options = Options { reserve: one(2), idle_cache: one(may), ..Options::default() };
            let mut mover = Mover::new(kernel, options);
            let report = run(&mut mover, &work);
            assert_eq!(
                (report.splits, report.cache_given_up.0 >> 12),
                (0, 10 * 512 - left(&mover).1)
            );
            (report.promoted, left(&mover))
        };
        // No more than may be.
        assert_eq!(given(4), (moved(2 * 512), (2 * 512, 6 * 512)));
        // Half of the reserve is made ahead.
        assert_eq!(given(9), (moved(4 * 512), (3 * 512, 3 * 512)));
    }
}

#[test]
fn blocks_are_made_for_huge_pages_and_what_of_ours_is_split_for_them_is_not_the_targets() {
    let (kernel, work) = full_of_cache(true);
    kernel.fragment(FAST);
    let idle_cache = BTreeMap::from([(FAST, Bytes(4 * HUGE))]);
    let mut mover = Mover::new(kernel, Options { idle_cache, ..Options::default() });
    let report = run(&mut mover, &work);
    assert_eq!((report.promoted, report.splits, mover.kernel().splits()), (huge(4), 0, 1));
}

#[test]
fn page_cache_stays_where_what_comes_down_makes_room() {
    let kernel = SimulatedKernel::two_tiers(10 * 512, 40 * 512);
    put(&kernel, 0..4, FAST);
    kernel.cache(FAST, 6 * 512);
    put(&kernel, 10..14, SLOW);
    let promote = (0..4).map(|i| up(i, 10 + u64::from(i))).collect();
    let demote = (0..4).map(|i| down(4 + i, u64::from(i))).collect();
    let idle_cache = BTreeMap::from([(FAST, Bytes(6 * HUGE))]);
    let mut mover = Mover::new(kernel, Options { idle_cache, ..Options::default() });
    let report = run(&mut mover, &Work { promote, demote });
    assert_eq!((report.promoted, report.demoted, left(&mover)), (huge(4), huge(4), (0, 6 * 512)));
}

#[test]
fn page_cache_stays_where_it_is_not_to_be_given_up_or_the_kernel_keeps_it() {
    for may in [0, 4] {
        let (kernel, work) = full_of_cache(false);
        kernel.keep_cache();
        let idle_cache = BTreeMap::from([(FAST, Bytes(may * HUGE))]);
        let mut mover = Mover::new(kernel, Options { idle_cache, ..Options::default() });
        let report = run(&mut mover, &work);
        assert_eq!((report.promoted.base_pages, report.cache_refused), (0, may > 0));
        assert_eq!(left(&mover), (0, 10 * 512));
    }
}

#[test]
fn who_refuses_is_asked_less_and_less_often() {
    let kernel = SimulatedKernel::two_tiers(2048, 2048);
    kernel.map(PID, VirtAddr(0), VirtAddr(4 << 12), false, SimPage::on(SLOW));
    let pinned = SimPage { pinned: true, ..SimPage::on(SLOW) };
    kernel.map(PID, VirtAddr(4 << 12), VirtAddr(5 << 12), false, pinned);
    let work = Work { promote: vec![order(3, 0, 8 << 12, false, SLOW, FAST)], demote: Vec::new() };
    let mut mover = Mover::new(kernel, Options::default());
    let mut tried = Vec::new();
    for round in 0..12 {
        let report = run(&mut mover, &work);
        if report.refused(Refusal::Stuck).base_pages == 1 {
            tried.push(round);
        } else {
            assert_eq!(report.refused(Refusal::Waiting).base_pages, 1, "round {round}");
        }
        assert_eq!(report.orders[0].tag, 3);
        assert_eq!(report.orders[0].refused, 1);
    }
    assert_eq!(tried, [0, 2, 5, 10]);
}

#[test]
fn a_process_that_ends_meanwhile_and_a_request_to_stop() {
    let (kernel, work) = full(4);
    kernel.end(PID);
    let mut mover = Mover::new(kernel, Options::default());
    let report = run(&mut mover, &work);
    assert!(report.moved().is_zero() && report.refused.is_empty(), "nothing is there");
    let (kernel, work) = full(4);
    let mut mover = Mover::new(kernel, Options::default());
    let report = mover.run(&work, &|| true);
    assert_eq!(report.refused(Refusal::OutOfTime), huge(20));
    mover.options_mut().time = Some(Duration::from_micros(50));
    let report = run(&mut mover, &work);
    assert!(!report.moved().is_zero() && !report.refused(Refusal::OutOfTime).is_zero());
}

#[test]
fn shared_pages_move_only_if_the_order_says_so() {
    let kernel = SimulatedKernel::two_tiers(2048, 2048);
    let page = SimPage { shared: true, ..SimPage::on(SLOW) };
    kernel.map(PID, VirtAddr(0), VirtAddr(8 << 12), false, page);
    let own = order(0, 0, 4 << 12, false, SLOW, FAST);
    let all = Order { shared: true, ..order(1, 4 << 12, 4 << 12, false, SLOW, FAST) };
    let work = Work { promote: vec![own, all], demote: Vec::new() };
    let report = Mover::new(kernel, Options::default()).run(&work, &|| false);
    assert_eq!((report.orders[0].moved, report.orders[1].moved), (0, 4));
    assert_eq!(report.refused(Refusal::Shared).base_pages, 4);
}

#[test]
fn what_is_moved_back_after_its_batch_is_found_by_the_last_look() {
    struct Meddler(SimulatedKernel, Mutex<u32>);
    impl Kernel for Meddler {
        fn locate(&self, pid: Pid, pages: &[VirtAddr]) -> Result<Vec<Spot>, Errno> {
            // The last look: by then somebody has demoted the first page again.
            let mut looks = self.1.lock().unwrap();
            *looks += 1;
            if *looks == 3 {
                self.0.relocate(pid, &pages[..1], SLOW, false);
            }
            self.0.locate(pid, pages)
        }
        fn relocate(&self, pid: Pid, pages: &[VirtAddr], to: NodeId, shared: bool) -> Moved {
            self.0.relocate(pid, pages, to, shared)
        }
        fn sharing(&self, mappings: &[Mapping]) -> Sharing {
            self.0.sharing(mappings)
        }
        fn room(&self, node: NodeId) -> NodeRoom {
            self.0.room(node)
        }
        fn splits(&self) -> u64 {
            self.0.splits()
        }
        fn now_ns(&self) -> u64 {
            self.0.now_ns()
        }
    }
    let kernel = SimulatedKernel::two_tiers(2048, 2048);
    kernel.map(PID, VirtAddr(0), VirtAddr(4 << 12), false, SimPage::on(SLOW));
    let work = Work { promote: vec![order(0, 0, 4 << 12, false, SLOW, FAST)], demote: Vec::new() };
    let mut mover = Mover::new(Meddler(kernel, Mutex::new(0)), Options::default());
    let report = mover.run(&work, &|| false);
    assert_eq!(report.promoted.base_pages, 3);
    assert_eq!(report.moved_back.base_pages, 1);
    assert_eq!((report.orders[0].moved, report.orders[0].moved_back), (3, 1));
}
