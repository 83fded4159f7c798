//! Whatever the heat: never over the budget, the reserve kept, nothing lost.

use crate::world::{EVERYTHING, FAST, SLOW, UNWATCHED, Unit, World, settings, unit};
use pagetide_manager::{Amount, Budget, Settings};
use pagetide_migrate::SimPage;
use pagetide_types::Bytes;
use proptest::collection::vec;
use proptest::prelude::*;

fn units() -> impl Strategy<Value = Vec<Unit>> {
    let page = (0u8..12, any::<bool>()).prop_map(|(kind, fast)| {
        let page = SimPage::on(if fast { FAST } else { SLOW });
        match kind {
            0 => SimPage { pinned: true, ..page },
            1 => SimPage { shared: true, ..page },
            2 => SimPage { returns: true, ..page },
            3 => SimPage { busy: true, ..page },
            _ => page,
        }
    });
    vec((0u8..6, page).prop_map(|(heat, page)| Unit { rate: f32::from(heat), page }), 1..24)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn never_over_the_budget_and_the_reserve_is_kept(
        units in units(),
        rates in vec(vec(0u8..6, 24), 1..5),
        spare in 9u64..20,
        budget in 0u64..30,
        limited in any::<bool>(),
    ) {
        let on_fast = units.iter().filter(|unit| unit.page.node == FAST).count() as u64;
        let fast = limited.then(|| Amount::Bytes(Bytes::mib(2 * budget)));
        let stuck = |unit: &&Unit| unit.page.pinned || unit.page.shared || unit.page.busy || unit.page.returns;
        let stays = units.iter().filter(stuck).filter(|unit| unit.page.node == FAST).count() as u64;
        let mut world =
            World::new(on_fast + spare, 64, &units, settings(Budget { fast, ..EVERYTHING }));
        let mut before = on_fast;
        for rates in rates {
            world.manager.tracker().rates =
                rates.iter().take(units.len()).map(|rate| f32::from(*rate)).collect();
            world.epoch();
            // 16 MiB are the reserve; there were 18 free at least.
            prop_assert!(world.free() >= Bytes::mib(16), "{}", world.free());
            let held = world.fast().len() as u64;
            if limited {
                prop_assert!(held <= budget.max(before), "{held} of {budget}, {before} before");
            }
            before = held;
            // Nothing is lost.
            let all = (0..units.len() as u64).filter(|at| {
                world.kernel.at(crate::world::PID, pagetide_types::VirtAddr(at << 21)).is_some()
            });
            prop_assert_eq!(all.count(), units.len());
        }
        // Who refuses is passed over until the budget is kept.
        for _ in 0..units.len() {
            world.epoch();
        }
        if limited {
            let held = world.fast().len() as u64;
            prop_assert!(held <= budget.max(stays), "{held} of {budget}, {stays} stay");
        }
    }

    #[test]
    fn no_more_bytes_move_than_a_second_allows(units in units(), rate in 0u64..12) {
        let limit = Bytes::mib(2 * rate);
        let mut world =
            World::new(48, 64, &units, settings(Budget { rate: Some(limit), ..EVERYTHING }));
        for _ in 0..3 {
            let line = world.epoch();
            let moved = line.moves.unwrap_or_default().moved().bytes();
            prop_assert!(moved <= limit, "{moved} of {limit}");
        }
    }

    #[test]
    fn no_more_goes_up_than_a_batch_and_a_third_of_what_is_free(units in units(), batch in 1u64..30) {
        let batch = Bytes::mib(2 * batch);
        let budget = Budget { batch: Some(batch), ..EVERYTHING };
        let mut world = World::new(48, 64, &units, settings(budget));
        for _ in 0..3 {
            let free = world.free();
            let line = world.epoch();
            let up = line.moves.unwrap_or_default().promoted.bytes();
            prop_assert!(up <= batch.min(Bytes(free.0 / 3)), "{up} into {free}");
        }
    }
}

#[test]
fn batches_bring_all_up_in_the_end() {
    let units: Vec<Unit> = (0..20u8).map(|at| unit(200.0 - f32::from(at), SLOW)).collect();
    let budget = Budget { batch: Some(Bytes::mib(6)), ..EVERYTHING };
    let mut world = World::new(64, 64, &units, settings(budget));
    let after: Vec<usize> = (0..7)
        .map(|_| {
            world.epoch();
            world.fast().len()
        })
        .collect();
    assert_eq!(after, [3, 6, 9, 12, 15, 18, 20], "three huge pages at a time");
}

#[test]
fn a_full_tier_is_exchanged_and_full_again() {
    // Eight huge pages of reserve, four of them free.
    let hot = |at: u8| unit(200.0 - f32::from(at), SLOW);
    let units: Vec<Unit> =
        (0..40).map(|at| if at < 20 { unit(1.0, FAST) } else { hot(at) }).collect();
    let mut world = World::new(24, 64, &units, settings(EVERYTHING));
    world.epoch();
    world.epoch();
    assert_eq!(world.fast(), (20..36).collect::<Vec<_>>(), "four gave the reserve back");
    assert_eq!(world.free(), Bytes::mib(16));
}

#[test]
fn what_nobody_has_watched_yet_is_not_taken_for_cold() {
    let rate = |at: u8| if at < 10 { UNWATCHED } else { 1.0 };
    let units: Vec<Unit> =
        (0..40).map(|at| if at < 20 { unit(rate(at), FAST) } else { unit(100.0, SLOW) }).collect();
    let mut world = World::new(24, 64, &units, settings(EVERYTHING));
    world.epoch();
    world.epoch();
    let fast = world.fast();
    assert_eq!(fast[..10], (0..10).collect::<Vec<_>>(), "what was watched made room");
    assert!(fast.len() == 16 && fast[10..].iter().all(|unit| *unit >= 20), "{fast:?}");
    // Now it was, and is cold; and not being watched in the next epoch makes nothing unknown again.
    world.manager.tracker().rates[..10].fill(0.0);
    world.epoch();
    world.manager.tracker().rates[..10].fill(UNWATCHED);
    world.epoch();
    let fast = world.fast();
    assert!(fast.len() == 16 && fast.iter().all(|unit| *unit >= 20), "{fast:?}");
}

#[test]
fn a_budget_is_kept_with_what_nobody_has_watched_yet() {
    let units = vec![unit(UNWATCHED, FAST); 10];
    let fast = Some(Amount::Bytes(Bytes::mib(8)));
    let mut world = World::new(32, 64, &units, settings(Budget { fast, ..EVERYTHING }));
    // What was decided first moves at the latest when nothing new is visited.
    world.epoch();
    world.epoch();
    assert_eq!(world.fast().len(), 4);
}

/// Fast memory of 32 huge pages, full of page cache that nobody uses, and so many hot ones in slow memory.
fn full_of_cache(hot: usize, budget: Budget) -> World {
    let world = World::new(32, 64, &vec![unit(1000.0, SLOW); hot], settings(budget));
    world.kernel.cache(FAST, 32 * 512);
    world
}

#[test]
fn page_cache_that_nobody_uses_makes_room_half_of_it_at_a_time() {
    let mut world = full_of_cache(30, EVERYTHING);
    // Nothing at first, for what is read as a rule is not known yet. Then 16 MiB of 32 are for the reserve.
    for held in [0, 8, 16, 20, 22] {
        world.epoch();
        assert_eq!(world.fast().len(), held);
        assert!(held == 0 || world.free() >= Bytes::mib(16), "{}", world.free());
    }
}

#[test]
fn page_cache_stays_where_it_is_to_or_files_are_read_again() {
    let moved = |keep_page_cache, reads| {
        let mut world = full_of_cache(30, Budget { keep_page_cache, ..EVERYTHING });
        [0, 0, reads].map(|reads| {
            world.kernel.refault(reads);
            world.epoch();
            world.fast().len()
        })
    };
    // Epochs of 1 s: a hundred pages again cost a hundredth of the time.
    assert_eq!(moved(false, 90), [0, 8, 16]);
    assert_eq!(moved(false, 101), [0, 8, 8]);
    assert_eq!(moved(true, 0), [0, 0, 0]);
}

#[test]
fn page_cache_is_left_alone_for_a_while_where_the_kernel_keeps_it() {
    let mut world = full_of_cache(4, EVERYTHING);
    world.kernel.keep_cache();
    let idle: Vec<u64> = (0..5).map(|_| world.epoch().idle_cache.0 >> 20).collect();
    assert_eq!((idle, world.fast().len()), (vec![0, 32, 0, 0, 32], 0));
}

#[test]
fn page_cache_makes_no_more_room_than_the_budget_allows() {
    let fast = Some(Amount::Bytes(Bytes::mib(20)));
    let mut world = full_of_cache(30, Budget { fast, ..EVERYTHING });
    (0..6).for_each(|_| drop(world.epoch()));
    assert_eq!(world.fast().len(), 10);
    assert_eq!(world.kernel.idle_cache(FAST), (32 - 10 - 8) * 512, "the reserve is free");
}

#[test]
fn a_reserve_that_was_asked_for_is_made_of_page_cache_where_nothing_moves() {
    for (reserve, free) in [(EVERYTHING.reserve, 16), (None, 0)] {
        let mut world = full_of_cache(0, Budget { reserve, ..EVERYTHING });
        (0..3).for_each(|_| drop(world.epoch()));
        assert!(world.free() >= Bytes::mib(free) && (free > 0 || world.free() == Bytes(0)));
    }
}

#[test]
fn in_a_dry_run_page_cache_makes_room_once() {
    let dry = Settings { dry_run: true, ..settings(EVERYTHING) };
    let mut world = World::new(32, 64, &[unit(1000.0, SLOW); 30], dry);
    world.kernel.cache(FAST, 32 * 512);
    let held: Vec<u64> = (0..8).map(|_| world.epoch().held.0 >> 21).collect();
    assert!(held.iter().all(|held| *held <= 24) && held[7] > 0, "{held:?}");
}
