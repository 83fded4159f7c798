//! What is decided is done, and what cannot be done is left alone.

use crate::world::{EVERYTHING, FAST, PID, SLOW, UNWATCHED, Unit, World, settings, unit};
use pagetide_manager::{Amount, Budget, Settings, Turn};
use pagetide_migrate::{Refusal, SimPage};
use pagetide_policy::{CostBenefit, Counters, Governor, GovernorSpec, Governors, Verdict};
use pagetide_types::{Bytes, VirtAddr};
use std::time::{Duration, Instant};

/// Sixteen cold units in fast memory, sixteen hot ones in slow memory.
fn upside_down() -> Vec<Unit> {
    let cold = (0..16).map(|_| unit(1.0, FAST));
    cold.chain((0..16).map(|_| unit(1000.0, SLOW))).collect()
}

/// 10 us a move, 100 ns an access, and 10 s to pay.
const TERMS: CostBenefit = CostBenefit {
    gain_ns: 100.0,
    channel_ns: 0.0,
    in_order: 1.0,
    base_us: 10.0,
    huge_us: 370.0,
    within_s: 10.0,
};

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

/// Stops after the first epoch.
struct OnceOnly(u32);

impl Governor for OnceOnly {
    fn judge(&mut self, _: &Counters) -> Verdict {
        self.0 += 1;
        if self.0 == 1 { Verdict::Migrate } else { Verdict::StandStill }
    }
    fn reason(&self) -> String {
        "once is enough".to_owned()
    }
}

#[test]
fn the_governor_stands_outside_and_stops_promotions() {
    let governors = Governors::with("once-only", |_| Box::new(OnceOnly(0)));
    let mut world = World::governed(24, 64, &upside_down(), settings(EVERYTHING), governors);
    world.epoch();
    world.manager.tracker().rates.rotate_left(16);
    for _ in 0..3 {
        let line = world.epoch();
        assert!(!line.migrate && line.moves.is_none());
    }
    assert_eq!(world.fast(), (16..32).collect::<Vec<_>>());
    let summary = world.manager.summary();
    assert_eq!((summary.stood_still, summary.governor.as_str()), (3, "once-only"));
    let turn = Turn { at_s: 2.0, pid: 42, stopped: true, reason: "once is enough".to_owned() };
    assert_eq!(summary.turns, [turn]);
    let told = &world.manager.tracker().sparse;
    assert_eq!(
        *told,
        [vec![], vec![PID], vec![PID], vec![PID]],
        "who stands still is watched less"
    );
}

/// Stops after the first epoch, and goes on when it knows how long the process runs.
struct UntilItRan(Option<f64>, u32);

impl Governor for UntilItRan {
    fn judge(&mut self, counters: &Counters) -> Verdict {
        self.0 = self.0.or(counters.cores);
        self.1 += 1;
        if self.1 == 1 || self.0.is_some() { Verdict::Migrate } else { Verdict::StandStill }
    }
    fn reason(&self) -> String {
        format!("{:?} cores", self.0)
    }
}

#[test]
fn a_governor_that_stopped_a_process_knows_how_many_cores_it_keeps_busy() {
    let governors = Governors::with("until-it-ran", |_| Box::new(UntilItRan(None, 0)));
    let mut world = World::governed(24, 64, &upside_down(), settings(EVERYTHING), governors);
    (world.manager.tracker().gap_s, world.manager.tracker().cores) = (0.5, 1.5);
    (0..5).for_each(|_| drop(world.epoch()));
    let turns = &world.manager.summary().turns;
    let told: Vec<_> = turns.iter().map(|turn| (turn.stopped, turn.reason.as_str())).collect();
    // From one decision to the next, whatever lies between epochs.
    assert_eq!(told, [(true, "None cores"), (false, "Some(1.5) cores")]);
}

/// Stops by the clock.
struct AfterTenSeconds;

impl Governor for AfterTenSeconds {
    fn judge(&mut self, counters: &Counters) -> Verdict {
        if counters.now_s < 10.0 { Verdict::Migrate } else { Verdict::StandStill }
    }
    fn reason(&self) -> String {
        "ten seconds are over".to_owned()
    }
}

#[test]
fn what_passes_between_epochs_counts_for_the_governor() {
    for (gap_s, at_s) in [(0.0, 10.0), (2.0, 10.0), (3.0, 13.0)] {
        let governors = Governors::with("ten-seconds", |_| Box::new(AfterTenSeconds));
        let mut world = World::governed(24, 64, &upside_down(), settings(EVERYTHING), governors);
        world.manager.tracker().gap_s = gap_s;
        (0..12).for_each(|_| drop(world.epoch()));
        let [turn] = &world.manager.summary().turns[..] else { panic!() };
        assert_eq!(turn.at_s, at_s, "gaps of {gap_s} s");
    }
}

#[test]
fn whoever_watches_is_told_what_deciding_took() {
    let mut world = World::new(24, 64, &upside_down(), settings(EVERYTHING));
    world.epoch();
    let decided = world.manager.tracker().decided;
    assert!(decided > Duration::ZERO && decided < Duration::from_secs(1), "{decided:?}");
}

#[test]
fn all_that_the_program_computes_counts_and_not_observing_alone() {
    let mut world = World::new(24, 64, &upside_down(), settings(EVERYTHING));
    world.epoch();
    let since = Instant::now();
    while since.elapsed() < Duration::from_millis(200) {
        std::hint::spin_loop();
    }
    let line = world.epoch();
    // Of a busy machine a part.
    assert!(line.cpu_s > 0.01 && line.observer_s == 0.0, "{line:?}");
    assert!(world.manager.summary().cpu_s >= line.cpu_s);
}

/// Every epoch another half is hot, and changes places with the one before.
#[expect(clippy::unwrap_used, reason = "of its own making")]
fn alternating(dry_run: bool) -> World {
    let governor: GovernorSpec = "adaptive:every=1".parse().unwrap();
    let settings = Settings { dry_run, ..settings(EVERYTHING) };
    let mut world = World::governed(24, 64, &upside_down(), settings, (&governor).into());
    for _ in 0..30 {
        world.epoch();
        world.manager.tracker().rates.rotate_left(16);
    }
    world
}

#[test]
fn ping_pong_is_stopped_and_the_summary_says_why_in_a_dry_run_too() {
    for dry_run in [false, true] {
        let world = alternating(dry_run);
        let summary = world.manager.summary();
        let [turn] = summary.turns.as_slice() else { panic!("{:?}", summary.turns) };
        assert!(turn.stopped && (10.0..=16.0).contains(&turn.at_s), "{turn:?}");
        assert_eq!(turn.reason, "ping-pong: of 256 MiB promoted in 8 s, 256 MiB went down again");
        assert!(summary.stood_still > 10 && summary.last.promote == Bytes(0), "{summary:?}");
    }
}

#[test]
fn whoever_watches_is_told_what_the_best_placement_would_bring() {
    let told = |rates: [f32; 4], cost_benefit| {
        let units: Vec<Unit> = rates.map(|rate| unit(rate, SLOW)).to_vec();
        let budget = Budget { fast: Some(Amount::Bytes(Bytes::mib(2))), ..EVERYTHING };
        let mut world = World::new(64, 64, &units, Settings { cost_benefit, ..settings(budget) });
        let told = [(); 2].map(|()| {
            world.epoch();
            world.manager.tracker().may_bring_s
        });
        told.map(|s| s.map(|s| (s * 1e4).round()))
    };
    // 100 ns each; in place it brings 9 less what all alike would.
    assert_eq!(told([9000.0, 0.0, 0.0, 0.0], Some(TERMS)), [Some(9.0), Some(7.0)]);
    assert_eq!(told([9000.0; 4], Some(TERMS)), [Some(9.0), Some(0.0)], "all slow at first");
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
