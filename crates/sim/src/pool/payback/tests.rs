//! Which pages pay for their move, and when.

use super::*;
use crate::pool::load::Prices;

fn of(watched: bool) -> impl Iterator<Item = PageId> {
    (0..).map(PageId).filter(move |page| super::watched(*page) == watched)
}

fn view(now: u64, pool_ns: f64) -> NodeView {
    NodeView {
        now: Ps(now),
        cores: 2,
        outstanding: 32,
        pool_delay: Some(Ps::from_ns(pool_ns)),
        local_delay: None,
        local_idle: Ps::from_ns(60.0),
        waited: 1.0,
        shootdown: Ps::from_ns(8000.0),
        swap: Ps::from_ns(1000.0),
        prices: Prices { standing: 2.0, ..Prices::default() },
        ..NodeView::default()
    }
}

/// Pages that are accessed 64 times within 10 us, once.
fn taught() -> Payback {
    let mut policy = Payback::new(1, 200, 1e6);
    for (number, page) in (0..20).zip(of(true)) {
        (1..=64).for_each(|count| policy.saw(0, page, count, Ps(number * 10_000_000)));
    }
    policy
}

fn chosen(policy: &mut Payback, count: u32, pages: usize, pool_ns: f64) -> usize {
    let mut hot: Vec<Hot> =
        of(false).take(pages).map(|page| Hot { page, count, written: false }).collect();
    policy.choose(&view(400_000_000, pool_ns), &mut hot, 500);
    hot.len()
}

#[test]
fn pages_move_if_what_is_left_of_them_pays() {
    // 48 further accesses at 0.3 us each are 14 us of a core; a swap costs 2, a shootdown 16.
    assert_eq!(chosen(&mut taught(), 16, 10, 9660.0), 10);
    // One page does not pay for a shootdown, nor do many whose accesses are over, or are soon.
    assert_eq!(chosen(&mut taught(), 16, 1, 9660.0), 0);
    assert_eq!(chosen(&mut taught(), 64, 100, 9660.0), 0);
    // Nor where the pool is hardly slower.
    assert_eq!(chosen(&mut taught(), 16, 10, 300.0), 0);
    // What nobody has learned is not moved.
    assert_eq!(chosen(&mut Payback::new(1, 200, 1e6), 16, 10, 9660.0), 0);
}

#[test]
fn what_is_owed_is_bounded_by_a_share_of_the_time_and_paid_back_by_local_fetches() {
    let mut policy = Payback { most_debt: 0.05, ..taught() };
    let all: Vec<Hot> =
        of(false).take(100).map(|page| Hot { page, count: 16, written: false }).collect();
    let mut moved = |nearer_fetches| {
        let mut hot = all.clone();
        let view = NodeView { nearer_fetches, ..view(400_000_000, 9660.0) };
        policy.choose(&view, &mut hot, 500);
        hot.len()
    };
    // A twentieth of 400 us is 20 us, of which the shootdown takes 8, and each page one.
    assert_eq!((moved(0), moved(0)), (12, 0));
    // Each fetch from local memory saves 0.3 us of a core: 45 us, and 26 after that.
    assert_eq!((moved(150), moved(87)), (14, 5));
}

#[test]
fn lines_fetched_again_are_owed_and_make_further_pages_dearer() {
    let mut policy = Payback { most_debt: 0.05, ..taught() };
    let mut moved = |lost_fetches| {
        let mut hot: Vec<Hot> =
            of(false).take(100).map(|page| Hot { page, count: 16, written: false }).collect();
        let view = NodeView { nearer_fetches: 150, lost_fetches, ..view(400_000_000, 9660.0) };
        policy.choose(&view, &mut hot, 500);
        hot.len()
    };
    // Of two cores 40 us may be owed, and 45 were brought; a shootdown is 16, a swap 2.
    assert_eq!(moved(0), 34);
    // 39 us are owed, 45 more were brought, and 160 lines cost 60/32 ns each: a shootdown leaves 29.7.
    assert_eq!(moved(160), 14);
}

#[test]
fn on_a_saturated_pool_a_stall_is_cheap_and_a_local_write_back_pays() {
    let mut policy = Payback { most_debt: 0.05, ..taught() };
    let mut moved = |standing, nearer_write_backs| {
        let mut hot: Vec<Hot> =
            of(false).take(100).map(|page| Hot { page, count: 16, written: false }).collect();
        let prices = Prices { write_back_ns: 1000.0, standing, ..Prices::default() };
        let view = NodeView { prices, nearer_write_backs, ..view(400_000_000, 9660.0) };
        policy.choose(&view, &mut hot, 500);
        hot.len()
    };
    // A stall of a tenth of a core: 0.8 us for the shootdown, 0.1 for each page, of the 40 that are allowed.
    assert_eq!(moved(0.1, 0), 100);
    // Of two cores, 29.2 us are left: a shootdown of 16 and six pages.
    assert_eq!(moved(2.0, 0), 6);
    // Thirty lines written back to local memory have brought 30 us, and 1.2 were left.
    assert_eq!(moved(2.0, 30), 7);
}

#[test]
fn pages_wait_for_each_other_until_that_has_cost_as_much_as_a_shootdown() {
    // Of each page one access every 0.3 ms.
    let mut policy = Payback::new(1, 200, 1e6);
    for round in 1..200 {
        let now = Ps(u64::from(round) * 300_000_000);
        of(true).take(20).for_each(|page| policy.saw(0, page, round, now));
        policy.nodes[0].learner.learn(now);
    }
    // 16 us of a core are 54 accesses of 0.3 us to pages that would have come.
    let all: Vec<PageId> = of(false).take(20).collect();
    for round in 1..9 {
        let now = 60_000_000_000 + u64::from(round) * 300_000_000;
        let mut hot: Vec<Hot> =
            all.iter().map(|page| Hot { page: *page, count: 16 + round, written: false }).collect();
        policy.choose(&view(now, 9660.0), &mut hot, 500);
        assert_eq!(hot.len(), if round == 4 { 20 } else { 0 }, "{round}");
        if !hot.is_empty() {
            return;
        }
    }
}

#[test]
fn what_debt_has_no_room_for_yet_waits_for_nothing() {
    // Of each page one access every 0.3 ms, of which each costs 0.3 us: a page costs 1 us a ms. Of 400 us
    // of debt in all those 60 ms, 16 go for the shootdown and 2 for each page.
    let mut policy = Payback::new(1, 200, 0.0005);
    for round in 1..200 {
        let now = Ps(u64::from(round) * 300_000_000);
        of(true).take(20).for_each(|page| policy.saw(0, page, round, now));
        policy.nodes[0].learner.learn(now);
    }
    let mut moved_after = |spent: f64| {
        policy.nodes[0] = Books {
            debt: 0.0005 * 2.0 * 60e6 - 16e3 - spent,
            candidates: HashMap::new(),
            missed: 0.0,
            ..policy.nodes[0].clone()
        };
        let all: Vec<PageId> = of(false).take(400).collect();
        (1..60).find_map(|round| {
            let now = 60_000_000_000 + u64::from(round) * 300_000_000;
            let mut hot: Vec<Hot> = all
                .iter()
                .map(|page| Hot { page: *page, count: 16 + round, written: false })
                .collect();
            policy.choose(&view(now, 9660.0), &mut hot, 500);
            (!hot.is_empty()).then_some((round, hot.len()))
        })
    };
    // All 400 of them miss more than a shootdown in each round; three, which there is room for, do so
    // after some.
    let (round, pages) = moved_after(6e3).unwrap_or_default();
    assert!(round > 3 && pages < 10, "{round} {pages}");
    // With room for a hundred, two rounds cost more than the shootdown.
    let (round, pages) = moved_after(200e3).unwrap_or_default();
    assert!(round < 3 && pages >= 100, "{round} {pages}");
}

#[test]
fn pages_that_come_back_are_worth_more_the_longer_it_lasts() {
    // Of each page four accesses every 0.1 ms.
    let mut policy = Payback::new(1, 200, 1e6);
    for round in 0..30 {
        let now = Ps(u64::from(round) * 100_000_000);
        for page in of(true).take(20) {
            (1..=4).for_each(|n| policy.saw(0, page, round * 4 + n, now));
        }
        policy.nodes[0].learner.learn(now);
    }
    let learner = &policy.nodes[0].learner;
    let [soon, late] =
        [3_000_000_000, 30_000_000_000].map(|now| learner.expected(8, Ps::ZERO, Ps(now)));
    assert!((80.0..160.0).contains(&soon) && (1000.0..1400.0).contains(&late), "{soon} {late}");
}

#[test]
fn watched_pages_stay() {
    let mut hot: Vec<Hot> =
        of(true).take(9).map(|page| Hot { page, count: 16, written: false }).collect();
    taught().choose(&view(400_000_000, 9660.0), &mut hot, 500);
    assert!(hot.is_empty());
}

#[test]
fn a_swap_costs_what_the_node_stood_still_for_the_one_before_and_lines_in_the_banks() {
    let moved = |stalled_us: f64| {
        let mut policy = Payback { most_debt: 0.05, ..taught() };
        [(0.0, 0), (stalled_us, 520)].map(|(stalled_us, nearer_fetches)| {
            let hot = of(false).take(100).map(|page| Hot { page, count: 16, written: false });
            let mut hot: Vec<Hot> = hot.collect();
            let prices = Prices { standing: 2.0, write_back_ns: 10.0, ..Prices::default() };
            let stalled = Ps::from_ns(1e3 * stalled_us);
            let view = view(400_000_000, 9660.0);
            let view = NodeView { stalled, nearer_fetches, swap_lines: 64, prices, ..view };
            policy.choose(&view, &mut hot, 500);
            hot.len()
        })
    };
    // Of two cores 40 us may be owed: a shootdown is 16, a swap 2 and its lines 0.64. If it stood still for as long as it was
    // taken to, 156 us that fetches brought are for 53 more.
    assert_eq!(moved(17.0), [9, 53]);
    // For 5 us a page, 36 in all more: 72 of two cores are owed in addition, and a page is 10.64.
    assert_eq!(moved(53.0), [9, 6]);
}

#[test]
fn where_room_is_worth_more_than_fetches_a_page_moves_once_it_is_fetched() {
    // A fetch costs 0.3 us of a core, and a line that leaves the shared cache saves one.
    let moved = |count, written, room_ns| {
        let mut policy = taught();
        let mut hot: Vec<Hot> =
            of(false).take(10).map(|page| Hot { page, count, written }).collect();
        let prices = Prices { write_back_ns: 1000.0, standing: 2.0, room_ns, ..Prices::default() };
        let view = NodeView { prices, written_back: 100, ..view(400_000_000, 9660.0) };
        policy.choose(&view, &mut hot, 500);
        hot.len()
    };
    // 48 more fetches are expected soon, and the 16 lines that are there are not all that could go.
    assert_eq!((moved(16, false, 0.0), moved(16, false, 1000.0)), (10, 0));
    // It is written back already: what is left of it goes at once.
    assert_eq!(moved(16, true, 1000.0), 10);
    // Nothing more is expected of it, and 64 lines make room.
    assert_eq!((moved(64, false, 0.0), moved(64, false, 1000.0)), (0, 10));
    // Where little is written back, it does not wait.
    assert_eq!(moved(16, false, 100.0), 10);
}
