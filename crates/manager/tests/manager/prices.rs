//! What moves must bring what they cost.

use crate::world::{EVERYTHING, FAST, PID, SLOW, Unit, World, settings, unit};
use pagetide_manager::{Amount, Budget, Settings};
use pagetide_migrate::SimPage;
use pagetide_policy::CostBenefit;
use pagetide_types::{Bytes, VirtAddr};

/// 10 us a move, 100 ns an access, and 10 s to pay.
const TERMS: CostBenefit = CostBenefit {
    gain_ns: 100.0,
    fast_ns: 0.0,
    channel_ns: 0.0,
    in_order: 1.0,
    base_us: 10.0,
    huge_us: 370.0,
    within_s: 10.0,
};

#[test]
fn what_stayed_behind_gets_the_room_of_what_is_colder() {
    let budget = Budget { reserve: None, ..EVERYTHING };
    let settings = Settings { cost_benefit: Some(TERMS), ..settings(budget) };
    // Nothing is free but what the reserve keeps; what is fast beside it is worth its place, too.
    let mut units = vec![unit(90_000.0, FAST)];
    units.extend((0..19).map(|_| unit(1000.0, FAST)));
    let mut world = World::new(20, 64, &units, settings);
    let slow = (VirtAddr(300 << 12), VirtAddr(512 << 12));
    world.kernel.map(PID, VirtAddr(0), slow.0, false, SimPage::on(FAST));
    world.kernel.map(PID, slow.0, slow.1, false, SimPage::on(SLOW));
    for _ in 0..3 {
        world.epoch();
    }
    assert_eq!(world.kernel.at(PID, VirtAddr(511 << 12)), Some(FAST));
    assert_eq!(world.fast().len(), 19, "one of them made room");
}

#[test]
fn what_stayed_behind_gets_the_room_of_a_colder_units_part() {
    // Ten units fill fast memory, each but for its last hundred pages.
    let units: Vec<Unit> = (0..10u8).map(|at| unit(1000.0 + f32::from(at), SLOW)).collect();
    let budget = Budget { reserve: Some(Amount::Bytes(Bytes(0))), ..EVERYTHING };
    let mut world = World::new(8, 64, &units, settings(budget));
    let page = |unit: u64, page: u64| VirtAddr((unit * 512 + page) << 12);
    for at in 0..10 {
        world.kernel.map(PID, page(at, 0), page(at, 400), false, SimPage::on(FAST));
        world.kernel.map(PID, page(at, 400), page(at + 1, 0), false, SimPage::on(SLOW));
    }
    for _ in 0..3 {
        world.epoch();
    }
    let whole =
        |unit: &u64| [0, 511].map(|at| world.kernel.at(PID, page(*unit, at))) == [Some(FAST); 2];
    let found: Vec<u64> = (0..10).filter(whole).collect();
    assert_eq!(found, [2, 3, 4, 5, 6, 7, 8, 9], "two made room for eight");
}

#[test]
fn for_a_reserve_that_nobody_asked_for_nothing_goes_that_is_worth_its_place() {
    let budget = Budget { reserve: None, ..EVERYTHING };
    // All twenty units of fast memory are in use, and the reserve is a 32nd.
    let world = |fast: f32, slow: f32| {
        // No two are alike.
        let less = |rate: f32, at: u8| rate * (1.0 - 0.01 * f32::from(at % 20));
        let units = (0..40).map(|at| {
            if at < 20 { unit(less(fast, at), FAST) } else { unit(less(slow, at), SLOW) }
        });
        let settings = Settings { cost_benefit: Some(TERMS), ..settings(budget) };
        World::new(20, 64, &units.collect::<Vec<_>>(), settings)
    };
    let mut warm = world(1000.0, 1000.0);
    assert!(warm.epoch().moves.is_none() && warm.fast().len() == 20);
    // What is hotter takes the place of what is warm, one for one, in all that it is to have.
    let mut hotter = world(1000.0, 9000.0);
    hotter.epoch();
    assert_eq!(hotter.fast(), [&[0][..], &(20..39).collect::<Vec<_>>()].concat());
    // One that is not worth it makes room.
    let mut cold = world(1.0, 1.0);
    cold.epoch();
    assert!(cold.fast().len() < 20 && cold.free() >= Bytes::mib(2), "{}", cold.free());
}

/// Each epoch two units are born, where the kernel has room, and cool down: how many of twenty were born fast, after ten of
/// which a manager learns.
fn born_fast(rate: f32) -> usize {
    let units: Vec<Unit> = (0..20_u8).map(|at| unit(1000.0 - f32::from(at), FAST)).collect();
    let budget = Budget { reserve: None, ..EVERYTHING };
    let settings = Settings { cost_benefit: Some(TERMS), ..settings(budget) };
    let mut world = World::new(20, 64, &units, settings);
    world.epoch();
    let mut fast = 0;
    for turn in 0..15_u64 {
        for rate in &mut world.manager.tracker().rates {
            *rate = rate.min(1000.0);
        }
        for number in [20 + 2 * turn, 21 + 2 * turn] {
            let node = if world.free() >= Bytes::mib(2) { FAST } else { SLOW };
            let (start, end) = (VirtAddr(number << 21), VirtAddr((number + 1) << 21));
            world.kernel.map(PID, start, end, true, SimPage::on(node));
            world.manager.tracker().rates.push(rate);
            fast += usize::from(node == FAST && turn >= 5);
        }
        world.epoch();
    }
    fast
}

#[test]
fn hot_memory_that_is_to_be_born_finds_room_that_others_were_worth() {
    // A unit is written once, 32,768 lines.
    assert_eq!(born_fast(32_768.0 + 100_000.0), 20);
    assert_eq!(born_fast(32_768.0), 0, "nothing goes for what is only written");
}

#[test]
fn whoever_watches_is_told_what_the_best_placement_would_bring() {
    let told = |rates: [f32; 4], cost_benefit| {
        let units: Vec<Unit> = rates.map(|rate| unit(rate, SLOW)).to_vec();
        let budget = Budget { fast: Some(Amount::Bytes(Bytes::mib(2))), ..EVERYTHING };
        let mut world = World::new(64, 64, &units, Settings { cost_benefit, ..settings(budget) });
        let told = [(); 2].map(|()| {
            world.epoch();
            world.manager.tracker().may_bring
        });
        told.map(|told| told.map(|of| [of.more_s, of.at_stake_s].map(|s| (s * 1e4).round())))
    };
    // 100 ns each; in place it brings 9 less what all alike would.
    assert_eq!(told([9000.0, 0.0, 0.0, 0.0], Some(TERMS)), [Some([9.0, 0.0]), Some([0.0, 7.0])]);
    assert_eq!(
        told([9000.0; 4], Some(TERMS)),
        [Some([9.0, 0.0]), Some([0.0; 2])],
        "all slow at first"
    );
    assert_eq!(told([9000.0; 4], None), [None; 2], "nobody knows");
}

#[test]
fn what_is_not_worth_its_cost_stays() {
    let units: Vec<Unit> = [1000.0, 300.0, 0.0].map(|rate| unit(rate, SLOW)).to_vec();
    let settings = Settings { cost_benefit: Some(TERMS), ..settings(EVERYTHING) };
    let mut world = World::new(64, 64, &units, settings);
    let line = world.epoch();
    assert_eq!((world.fast(), line.unworthy), (vec![0], 2));
}

#[test]
fn what_pays_in_the_time_that_the_target_has_been_the_same_moves_then() {
    let moves = |changes: bool| {
        let units: Vec<Unit> = [1000.0, 300.0, 0.0].map(|rate| unit(rate, SLOW)).to_vec();
        let settings = Settings { cost_benefit: Some(TERMS), ..settings(EVERYTHING) };
        let mut world = World::new(64, 64, &units, settings);
        for _ in 0..30 {
            world.manager.tracker().changes = changes;
            world.epoch();
        }
        world.fast()
    };
    assert_eq!(moves(false), [0, 1], "370 us: 13 s of 300 accesses a second");
    assert_eq!(moves(true), [0], "it may be another one soon");
}

#[test]
fn where_much_is_to_go_up_anew_nothing_has_lasted() {
    // 300 accesses a second repay a move in 13 s, but not in the time that is left to one at first.
    let goes_up = |hot_set_moves: bool| {
        let units = [1000.0, 0.0, 0.0].map(|rate| unit(rate, SLOW));
        let settings = Settings { cost_benefit: Some(TERMS), ..settings(EVERYTHING) };
        // What may be fast is nine units: one is much.
        let mut world = World::new(17, 64, &units, settings);
        (0..30).for_each(|_| drop(world.epoch()));
        if hot_set_moves {
            world.manager.tracker().rates.swap(0, 1);
        }
        world.epoch();
        world.manager.tracker().rates[2] = 300.0;
        (0..8).for_each(|_| drop(world.epoch()));
        world.fast().contains(&2)
    };
    assert_eq!([false, true].map(goes_up), [true, false]);
}

#[test]
fn moves_cost_from_then_on_what_they_took() {
    // 40 MiB pay at the price given, and moving them takes nearly nothing here.
    let mut units = vec![unit(1000.0, SLOW); 20];
    units.push(unit(300.0, SLOW));
    let settings = Settings { cost_benefit: Some(TERMS), ..settings(EVERYTHING) };
    let mut world = World::new(64, 64, &units, settings);
    let line = world.epoch();
    assert_eq!((world.fast().len(), line.unworthy), (20, 1));
    assert_eq!((line.base_us, line.huge_us), (Some(TERMS.base_us), Some(TERMS.huge_us)));
    let line = world.epoch();
    assert!(line.huge_us < Some(TERMS.huge_us / 2.0), "{line:?}");
    assert_eq!(line.base_us, Some(TERMS.base_us), "none moved");
    assert_eq!((world.fast().len(), line.unworthy), (21, 0), "of a third of the rate, too");
}

#[test]
fn what_a_program_waits_for_beside_much_else_brings_less() {
    // What a busy unit is waited for in fast memory, 50 ns an access, fits the time of its core or does not.
    let goes_up = |busy: f32| {
        let terms = CostBenefit { fast_ns: 50.0, ..TERMS };
        let settings = Settings { cost_benefit: Some(terms), ..settings(EVERYTHING) };
        let mut world = World::new(64, 64, &[unit(busy, FAST), unit(1000.0, SLOW)], settings);
        world.manager.tracker().cores = 1.0;
        world.epoch();
        world.fast().contains(&1)
    };
    assert_eq!([1e7, 1e8].map(goes_up), [true, false]);
}
