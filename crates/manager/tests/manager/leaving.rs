//! Slow memory that is about to be taken away: the hottest of what has to go up goes first, whether it pays or not.

use crate::world::{EVERYTHING, FAST, SLOW, UNWATCHED, Unit, World, settings, tiers, unit};
use pagetide_manager::{Amount, Budget, Leaving, Settings};
use pagetide_policy::CostBenefit;
use pagetide_types::Bytes;
use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

/// Nothing pays.
fn dear(budget: Budget) -> Settings {
    let cost_benefit = CostBenefit {
        gain_ns: 1.0,
        fast_ns: 0.0,
        channel_ns: 0.0,
        in_order: 1.0,
        base_us: 1e6,
        huge_us: 1e9,
        within_s: 1.0,
    };
    Settings { cost_benefit: Some(cost_benefit), ..settings(budget) }
}

type Said = Rc<Cell<Option<Leaving>>>;

/// Units of these rates in slow memory, of `fast` and `slow` huge pages, where it may be said what is about to leave.
fn world(rates: &[f32], (fast, slow): (u64, u64), settings: Settings) -> (World, Said) {
    let units: Vec<Unit> = rates.iter().map(|rate| unit(*rate, SLOW)).collect();
    let mut world = World::new(fast, slow, &units, settings);
    let said = Said::default();
    let seen = Rc::clone(&said);
    let follow = move || {
        let mut tiers = tiers(fast, slow);
        tiers.leaving = seen.get();
        Some(tiers)
    };
    world.manager = world.manager.following(Box::new(follow));
    (world, said)
}

fn leaves(number: u64, pages: u64) -> Option<Leaving> {
    Some(Leaving { number, node: SLOW, bytes: Bytes::mib(2 * pages) })
}

const RATES: [f32; 8] = [1.0, 8.0, 3.0, 6.0, 2.0, 7.0, 4.0, 5.0];

#[test]
fn what_would_not_pay_goes_up_by_the_ranking_when_its_place_is_about_to_go() {
    let (mut world, said) = world(&RATES, (64, 8), dear(EVERYTHING));
    let line = world.epoch();
    assert_eq!((world.fast(), world.manager.heeded(), line.leaving), (vec![], None, None));
    // A half of the node leaves: the hotter half of what is there goes up.
    said.set(leaves(7, 4));
    let line = world.epoch();
    assert_eq!(world.fast(), [1, 3, 5, 7]);
    assert_eq!((line.leaving, line.for_leaving), (Some(Bytes::mib(8)), Bytes::mib(8)));
    assert_eq!(world.manager.heeded(), Some(7));
    assert_eq!(world.epoch().for_leaving, Bytes(0), "what is left fits into what stays");
    said.set(leaves(9, 8));
    world.epoch();
    assert_eq!((world.fast().len(), world.manager.heeded()), (8, Some(9)));
}

#[test]
fn the_budget_the_reserve_and_the_rate_hold() {
    let few = Budget { fast: Some(Amount::Bytes(Bytes::mib(6))), ..EVERYTHING };
    let (mut few, said) = world(&RATES, (64, 8), dear(few));
    said.set(leaves(1, 8));
    few.epoch();
    assert_eq!((few.fast(), few.manager.heeded()), (vec![1, 3, 5], Some(1)), "no more may be fast");
    // 16 MiB are the reserve.
    let (mut full, said) = world(&RATES, (10, 8), dear(EVERYTHING));
    said.set(leaves(1, 8));
    full.epoch();
    assert_eq!((full.fast(), full.manager.heeded()), (vec![1, 5], Some(1)));
    let slowly = Budget { rate: Some(Bytes::mib(6)), ..EVERYTHING };
    let (mut slowly, said) = world(&RATES, (64, 8), dear(slowly));
    said.set(leaves(1, 8));
    let mut seen = Vec::new();
    for _ in 0..3 {
        slowly.epoch();
        seen.push((slowly.fast().len(), slowly.manager.heeded()));
    }
    assert_eq!(seen, [(3, None), (6, None), (8, Some(1))], "it is heeded when all is done");
    let batch = Budget { batch: Some(Bytes::mib(8)), ..EVERYTHING };
    let (mut batch, said) = world(&RATES, (64, 8), dear(batch));
    said.set(leaves(1, 8));
    batch.epoch();
    assert_eq!((batch.fast(), batch.manager.heeded()), (vec![1, 3, 5, 7], None));
    batch.epoch();
    assert_eq!((batch.fast().len(), batch.manager.heeded()), (8, Some(1)));
}

#[test]
fn moves_that_take_longer_than_they_may_are_not_done() {
    let (mut world, said) = world(&RATES, (64, 8), dear(EVERYTHING));
    world.manager.tracker().lasts = Duration::ZERO;
    said.set(leaves(1, 8));
    world.manager.epoch(&|| true).unwrap();
    assert_eq!(world.manager.heeded(), None, "it was asked to end");
}

#[test]
fn what_was_never_watched_is_left_to_others_and_nothing_goes_down_meanwhile() {
    // Less than a tenth, or what moves does so while the rest is visited.
    let mut rates = [RATES, RATES].concat();
    rates[1] = UNWATCHED;
    let (mut world, said) = world(&rates, (64, 16), dear(EVERYTHING));
    said.set(leaves(1, 16));
    world.epoch();
    let known: Vec<u64> = (0..16).filter(|unit| *unit != 1).collect();
    assert_eq!(world.fast(), known);
    // Less may be fast than is: without the announcement it goes down.
    let rates = [1.0_f32; 6];
    let few = Budget { fast: Some(Amount::Bytes(Bytes::mib(4))), ..EVERYTHING };
    for (leaving, left) in [(None, 2), (leaves(1, 8), 6)] {
        let units: Vec<Unit> = rates.iter().map(|rate| unit(*rate, FAST)).collect();
        let mut world = World::new(64, 8, &units, dear(few));
        let follow = move || {
            let mut tiers = tiers(64, 8);
            tiers.leaving = leaving;
            Some(tiers)
        };
        world.manager = world.manager.following(Box::new(follow));
        // Somebody else has the rest of the slow node.
        world.kernel.map(
            crate::world::PID,
            pagetide_types::VirtAddr(100 << 21),
            pagetide_types::VirtAddr(104 << 21),
            true,
            pagetide_migrate::SimPage::on(SLOW),
        );
        world.epoch();
        assert_eq!(world.fast().len(), left, "{leaving:?}");
    }
}

#[test]
fn what_goes_up_for_it_is_no_change_of_the_target() {
    let (mut world, said) = world(&RATES, (64, 8), dear(EVERYTHING));
    world.epoch();
    said.set(leaves(1, 8));
    world.epoch();
    assert_eq!(world.fast().len(), 8);
    assert_eq!(world.manager.tracker().changed, 0);
}

#[test]
fn a_dry_run_does_not_heed_it() {
    let settings = Settings { dry_run: true, ..dear(EVERYTHING) };
    let (mut world, said) = world(&RATES, (64, 8), settings);
    said.set(leaves(1, 8));
    let line = world.epoch();
    assert_eq!((line.for_leaving, world.fast()), (Bytes(0), vec![]));
}
