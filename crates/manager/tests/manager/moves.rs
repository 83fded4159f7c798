//! What is decided is done, and what cannot be done is left alone.

use crate::world::{
    EVERYTHING, FAST, PID, SLOW, UNWATCHED, Unit, World, settings, unit, upside_down,
};
use pagetide_manager::{Amount, Budget, Settings};
use pagetide_migrate::{Refusal, SimPage};
use pagetide_types::{Bytes, VirtAddr};
use std::time::Duration;

#[test]
fn the_hot_set_is_fast_after_one_epoch_and_then_nothing_moves() {
    // Sixteen units and the default reserve of eight.
    let mut world = World::new(24, 64, &upside_down(), settings(EVERYTHING));
    let line = world.epoch();
    assert_eq!(line.fast_share.map(|share| (share * 1000.0).round()), Some(1.0));
    assert_eq!(world.fast(), (16..32).collect::<Vec<_>>());
    for _ in 0..5 {
        let line = world.epoch();
        assert!(line.fast_share > Some(0.99) && line.moves.is_none(), "{line:?}");
    }
    let summary = world.manager.summary();
    assert_eq!(summary.moves.promoted.bytes(), Bytes::mib(32));
    assert_eq!(summary.moves.demoted.bytes(), Bytes::mib(32));
    assert_eq!((summary.epochs, summary.promoted_then_demoted), (6, Bytes(0)));
    assert_eq!(world.manager.tracker().told, 1, "the tracker looks again after moves only");
}

#[test]
fn where_much_moves_all_of_the_target_is_looked_at_again_soon() {
    // A sixteenth of the memory becomes hot, then a quarter.
    let mut units: Vec<Unit> = (0..16).map(|_| unit(10.0, FAST)).collect();
    units.extend((0..16).map(|_| unit(1.0, SLOW)));
    let mut world = World::new(24, 64, &units, settings(EVERYTHING));
    world.epoch();
    for (hot, changed) in [(1, 0), (4, 1)] {
        let rates = &mut world.manager.tracker().rates;
        rates[16..].iter_mut().for_each(|rate| *rate = 1.0);
        rates[16 + hot..16 + 2 * hot].iter_mut().for_each(|rate| *rate = 1000.0);
        let line = world.epoch();
        assert_eq!(line.promote, Bytes::mib(2 * hot as u64));
        let tracker = world.manager.tracker();
        assert_eq!(tracker.changed, changed);
    }
}

#[test]
fn what_did_not_end_in_its_time_is_decided_on_again_soon() {
    let mut world = World::new(400, 64, &upside_down(), settings(EVERYTHING));
    let line = world.manager.epoch(&|| true).unwrap().0.unwrap();
    let late = line.moves.map(|moves| moves.refused(Refusal::OutOfTime).bytes());
    assert_eq!(late, Some(Bytes::mib(32)));
    assert_eq!(world.manager.tracker().hurried, 1);
    let line = world.epoch();
    assert_eq!(line.moves.map(|moves| moves.promoted.bytes()), Some(Bytes::mib(32)));
    world.epoch();
    assert_eq!(world.manager.tracker().hurried, 1, "and then there is time");
}

#[test]
fn while_memory_is_visited_for_the_first_time_pages_move_beside_it() {
    // Nine parts in ten of what is unknown at first stay so, and are visited bit by bit.
    let mut units = upside_down();
    units.extend((0..30).map(|_| unit(UNWATCHED, SLOW)));
    let mut world = World::new(24, 128, &units, settings(EVERYTHING));
    assert_eq!(world.epoch().moves, None, "nothing was decided before");
    assert_eq!(world.fast(), (0..16).collect::<Vec<_>>(), "nothing moves before the next one");
    let visit = |world: &mut World, units: std::ops::Range<usize>| {
        world.manager.tracker().rates[units].iter_mut().for_each(|rate| *rate = 0.5);
    };
    visit(&mut world, 32..40);
    let line = world.epoch();
    let held = Bytes::mib(2 * world.fast().len() as u64);
    assert_eq!(line.held, held, "where pages lie is known without looking again");
    assert!(line.moves.is_some());
    // What an epoch ends too early for is decided on again, and is nothing new.
    assert_eq!(world.manager.tracker().changed, 1);
    // Nothing new was visited: what is left moves at once, if the machine left any.
    let report = world.epoch().moves.unwrap_or_default();
    assert_eq!(world.fast(), (16..32).collect::<Vec<_>>());
    let moved = line.moves.unwrap().moved().bytes() + report.moved().bytes();
    assert_eq!(moved, Bytes::mib(64), "each once");
    let line = world.epoch();
    assert_eq!((line.moves, line.promote, line.demote), (None, Bytes(0), Bytes(0)));
}

#[test]
fn of_what_moves_in_an_epoch_half_of_the_accesses_came_before() {
    let mut units = upside_down();
    units.extend((0..30).map(|_| unit(UNWATCHED, SLOW)));
    let mut world = World::new(24, 128, &units, settings(EVERYTHING));
    world.epoch();
    world.manager.tracker().rates[32..40].iter_mut().for_each(|rate| *rate = 0.5);
    world.manager.tracker().lasts = Duration::from_secs(1);
    let share = world.epoch().fast_share.unwrap();
    assert_eq!(world.fast(), (16..32).collect::<Vec<_>>());
    assert!((share - 0.5).abs() < 0.01, "{share}");
}

#[test]
fn a_hot_unit_of_which_a_part_stayed_behind_is_brought_together() {
    let parted = |rate: f32| {
        let mut world = World::new(24, 64, &[unit(rate, FAST)], settings(EVERYTHING));
        let slow = (VirtAddr(300 << 12), VirtAddr(512 << 12));
        world.kernel.map(PID, VirtAddr(0), slow.0, false, SimPage::on(FAST));
        world.kernel.map(PID, slow.0, slow.1, false, SimPage::on(SLOW));
        world.epoch();
        world.kernel.at(PID, VirtAddr(511 << 12))
    };
    assert_eq!(parted(1000.0), Some(FAST), "more than half of it was fast, and it has room");
    assert_eq!(parted(0.0), Some(SLOW), "of what nobody accesses it does not matter");
}

#[test]
fn what_went_up_for_nothing_is_counted() {
    let mut world = World::new(24, 64, &upside_down(), settings(EVERYTHING));
    world.epoch();
    world.manager.tracker().rates.rotate_left(16);
    world.epoch();
    assert_eq!(world.manager.summary().promoted_then_demoted, Bytes::mib(32));
}

#[test]
fn a_unit_that_refuses_gives_its_place_to_the_next_and_is_asked_again_later() {
    let mut units: Vec<Unit> = (0..4).map(|_| unit(10.0, SLOW)).collect();
    units[2] = Unit { rate: 1000.0, page: SimPage { shared: true, ..SimPage::on(SLOW) } };
    // Room for two, beside the reserve.
    let mut world = World::new(10, 64, &units, settings(EVERYTHING));
    world.epoch();
    assert_eq!(world.fast(), [0]);
    let line = world.epoch();
    assert_eq!((world.fast(), line.backed_off), (vec![0, 1], 1));
    let mut asked = 0;
    for _ in 0..30 {
        let line = world.epoch();
        let moves = line.moves.unwrap_or_default();
        asked += moves.refused(Refusal::Shared).huge_pages;
    }
    // With exchanges: unit 0 or 1 makes room for it and is promoted again.
    assert!((2..=5).contains(&asked), "asked {asked} times in 30 epochs");
}

#[test]
fn a_dry_run_moves_nothing_and_decides_as_if_it_had() {
    let settings = Settings { dry_run: true, ..settings(EVERYTHING) };
    let mut world = World::new(24, 64, &upside_down(), settings);
    let line = world.epoch();
    assert_eq!((line.promote, line.demote), (Bytes::mib(32), Bytes::mib(32)));
    let line = world.epoch();
    assert_eq!((line.promote, line.demote), (Bytes(0), Bytes(0)));
    assert!(line.fast_share > Some(0.99));
    assert_eq!(world.kernel.calls().0, 0);
    assert_eq!(world.fast(), (0..16).collect::<Vec<_>>());
}

#[test]
fn a_process_that_ends_is_no_error() {
    let mut world = World::new(24, 64, &upside_down(), settings(EVERYTHING));
    world.epoch();
    world.kernel.end(crate::world::PID);
    let line = world.epoch();
    assert_eq!((line.resident, line.moves), (Bytes(0), None));
}

#[test]
fn a_budget_is_taken_from_what_is_held() {
    let fast = Some(Amount::Bytes(Bytes::mib(8)));
    let units: Vec<Unit> = (0..8u8).map(|i| unit(f32::from(i), FAST)).collect();
    let mut world = World::new(32, 64, &units, settings(Budget { fast, ..EVERYTHING }));
    world.epoch();
    assert_eq!(world.fast(), [4, 5, 6, 7]);
}
