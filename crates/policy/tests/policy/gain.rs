//! Governor `gain`: stops what does not pay, by numbers, and nothing that does.

use crate::dice::Dice;
use crate::governed::{Second, times, turns};
use pagetide_policy::{
    Balance, CostBenefit, Counters, Decider, GovernorSpec, Outcome, Places, Room, Tenant, Verdict,
};
use pagetide_types::{Bytes, EpochHeat, EpochId, HeatFlags, HeatRow, NodeId, UnitId};

/// Its moves bring this part of what they cost in as many seconds, 6 s in a horizon of 60 s.
fn brings(part: f64, migrates: bool) -> Second {
    let moving = if migrates { 0.1 } else { 0.0 };
    let gained = if migrates { part * moving } else { 0.0 };
    Second { moving, gained, accessed: 0.5, accessed_fast: 0.2, ..Second::default() }
}

#[test]
fn what_brings_less_than_it_costs_is_stopped_with_the_numbers() {
    // In the time since it began.
    for (epoch_s, brought) in [(1, "3.5 s in 69 s"), (5, "3.3 s in 65 s")] {
        let found = turns("gain", 600, epoch_s, |_, migrates| brings(0.5, migrates));
        let (stops, restarts) = times(&found);
        assert_eq!((stops.len(), restarts.len()), (1, 0), "{found:?}");
        // A horizon after the start, and the patience.
        assert!((70.0..=75.0).contains(&stops[0]), "{found:?}");
        let why = "does not pay: in 60 s moving 6.0 s and watching 0 ms, which bring";
        assert_eq!(found[0].reason, format!("{why} {brought}"));
    }
}

#[test]
fn what_brings_more_goes_on_for_as_long_as_it_does() {
    assert!(turns("gain", 3600, 1, |_, migrates| brings(1.1, migrates)).is_empty());
    // Good and bad for eight seconds each, which is within the patience.
    let now_and_then = |second: u32, migrates| {
        brings(if (second / 8).is_multiple_of(2) { 4.0 } else { 0.0 }, migrates)
    };
    assert!(turns("gain", 3600, 1, now_and_then).is_empty());
    assert!(!turns("gain:patience=5", 3600, 1, now_and_then).is_empty());
}

#[test]
fn what_has_lasted_has_as_long_again_to_pay() {
    // What begins to pay nine tenths in a minute has paid within the patience.
    assert!(turns("gain", 3600, 1, |_, migrates| brings(0.9, migrates)).is_empty());
    let (stops, _) = times(&turns("gain:credit=0", 600, 1, |_, migrates| brings(0.9, migrates)));
    assert_eq!(stops, [70.0]);
    // Ten minutes later a fifth of the cost each minute is enough, and at any time less is not.
    let later = |part: f64| {
        move |second: u32, migrates| brings(if second < 600 { 2.0 } else { part }, migrates)
    };
    assert!(turns("gain", 1800, 1, later(0.21)).is_empty());
    assert_eq!(times(&turns("gain", 1800, 1, later(0.19))).0.len(), 1);
    // What goes cold within a minute brings nothing later, and what half of it outlasts half as much.
    let fades = |part: f64, fading: f64| {
        let program = move |second, migrates| Second { fading, ..later(part)(second, migrates) };
        times(&turns("gain", 1800, 1, program)).0.len()
    };
    assert_eq!([fades(0.9, 1.0), fades(1.1, 1.0)], [1, 0]);
    assert_eq!([fades(0.3, 0.5), fades(0.4, 0.5)], [1, 0]);
    // But what has become another thing has lasted for no time.
    let changed =
        |second: u32, migrates| Second { changes: second == 600, ..later(0.21)(second, migrates) };
    assert_eq!(times(&turns("gain", 1800, 1, changed)).0, [610.0]);
}

#[test]
fn a_hot_set_in_place_is_settled_and_left_alone_for_half_an_hour() {
    let program = |second: u32, migrates: bool| {
        let filling = second < 60 && migrates;
        // Moves of the last minute bring much until they are old.
        let gained = if second < 120 { 2.0 } else { 0.0 };
        let moving = if filling { 0.1 } else { 0.0 };
        let watching = if migrates { 0.03 } else { 0.003 };
        Second { moving, gained, watching, accessed: 0.3, accessed_fast: 0.3, ..Second::default() }
    };
    let found = turns("gain", 1800, 5, program);
    let (stops, restarts) = times(&found);
    assert_eq!((stops.len(), restarts.len()), (1, 0), "{found:?}");
    assert!((90.0..=100.0).contains(&stops[0]), "{found:?}");
    assert_eq!(found[0].reason, "settled: in 30 s nothing moved, and watching took 900 ms");
}

#[test]
fn a_hot_set_of_which_a_little_goes_on_moving_is_settled_unless_that_brings_what_watching_costs() {
    // In a minute a hot set goes up, for 6 s; then a thousandth of it or a tenth each minute.
    let program = |trickle: f64| {
        move |second: u32, migrates: bool| {
            let moving = if second < 60 { 0.1 } else { 0.1 * trickle };
            let gained = if second < 120 { 2.0 } else { 2.0 * trickle };
            let (moving, gained) = if migrates { (moving, gained) } else { (0.0, 0.0) };
            let watching = if migrates { 0.03 } else { 0.003 };
            let (accessed, accessed_fast) = (0.3, 0.3);
            Second { moving, gained, watching, accessed, accessed_fast, ..Second::default() }
        }
    };
    let found = turns("gain", 1800, 5, program(0.001));
    let (stops, restarts) = times(&found);
    assert_eq!((stops.len(), restarts.len()), (1, 0), "{found:?}");
    // Half a minute after it was done, when the hot set's own gain is still in the books.
    assert!((90.0..=100.0).contains(&stops[0]), "{found:?}");
    assert!(
        found[0]
            .reason
            .starts_with("settled: in 30 s moving 3 ms and watching 900 ms, which bring"),
        "{found:?}"
    );
    assert!(turns("gain", 1800, 5, program(0.1)).is_empty());
}

#[test]
fn accesses_that_leave_fast_memory_restart_it_though_they_are_as_many() {
    let program = |second: u32, migrates: bool| {
        let accessed_fast = if second < 300 { 0.3 } else { 0.1 };
        Second { accessed_fast, ..brings(0.0, migrates) }
    };
    let found = turns("gain", 400, 1, program);
    let (_, restarts) = times(&found);
    assert!(restarts.len() == 1 && (320.0..=326.0).contains(&restarts[0]), "{found:?}");
    assert!(found[1].reason.contains("entries of 2 MiB seen accessed in fast memory"), "{found:?}");
}

#[test]
fn memory_of_a_stopped_process_that_goes_down_for_room_is_no_change_of_its_accesses() {
    let program = |second: u32, migrates: bool| {
        let (accessed_fast, watched_fast) = if second < 300 { (0.3, 0.5) } else { (0.1, 0.3) };
        // Of 24 GiB that are accessed in fast memory.
        let again = if second == 300 { 16384.0 } else { 0.0 };
        Second { accessed_fast, watched_fast, again, ..brings(0.0, migrates) }
    };
    assert_eq!(times(&turns("gain", 400, 1, program)).1, []);
    // Little moved, but all regions have less than half of their pages there now.
    let majority = |second: u32, _: bool| {
        let part = if second < 300 { 0.3 } else { 0.0 };
        Second { accessed_fast: part, watched_fast: part, ..brings(0.0, false) }
    };
    assert_eq!(times(&turns("gain", 400, 1, majority)).1, []);
    let trickle =
        |second: u32, migrates: bool| Second { again: 1.0, ..program(second + 1, migrates) };
    let restarts = times(&turns("gain", 400, 1, trickle)).1;
    assert_eq!(restarts.len(), 1, "a little hides no change");
}

/// As when a program gives its hot memory back and gets other memory, which lies where there is room.
#[test]
fn a_hot_set_that_leaves_fast_memory_at_once_is_a_change_whatever_else_leaves_or_comes() {
    let restarts = |epoch_s: u32, fast: [f64; 2], accessed: [f64; 2], again: f64| {
        let program = |second: u32, migrates: bool| {
            let then = usize::from(second >= 300);
            let again = if second == 300 { again } else { 0.0 };
            let (watched_fast, accessed_fast) = (fast[then], accessed[then]);
            Second { accessed_fast, watched_fast, again, ..brings(0.0, migrates) }
        };
        times(&turns("gain", 600, epoch_s, program)).1
    };
    for epoch_s in [1, 5] {
        for (fast, accessed) in
            [([0.5, 0.2], [0.3, 0.0]), ([0.5, 0.3], [0.3, 0.05]), ([0.5, 0.8], [0.3, 0.1])]
        {
            let found = restarts(epoch_s, fast, accessed, 0.0);
            let due = 315.0..=330.0;
            assert!(found.len() == 1 && due.contains(&found[0]), "{fast:?}: {found:?}");
        }
        let none = |fast, accessed, again| assert_eq!(restarts(epoch_s, fast, accessed, again), []);
        // What leaves is cold, is accessed as what stays, or goes down for room; nothing was accessed there.
        none([0.5, 0.3], [0.3, 0.3], 0.0);
        none([0.5, 0.25], [0.3, 0.15], 0.0);
        none([0.5, 0.3], [0.3, 0.1], 16384.0);
        none([0.5, 0.2], [0.0, 0.0], 0.0);
    }
}

/// As when a buffer comes and goes: what is left of the hot set is held against what it was with as much fast memory.
#[test]
fn memory_that_comes_and_goes_hides_no_loss() {
    let lost = |second: u32| if second < 1000 { 0.3 } else { 0.07 };
    // More and less by a sixth each minute; the hot set leaves with the seventh fall, and with any other.
    for epoch_s in [1, 5] {
        let swings = |second: u32, migrates: bool| {
            let watched_fast = if (second / 60).is_multiple_of(2) { 0.6 } else { 0.5 };
            Second { accessed_fast: lost(second), watched_fast, ..brings(0.0, migrates) }
        };
        let (_, restarts) = times(&turns("gain", 1200, epoch_s, swings));
        assert!(
            restarts.len() == 1 && restarts[0] > 1000.0 && restarts[0] < 1040.0,
            "{restarts:?}"
        );
        // Each count is of other memory than the one before.
        let flips = |second: u32, migrates: bool| {
            let watched_fast = if (second / 5).is_multiple_of(2) { 0.6 } else { 0.5 };
            Second { accessed_fast: lost(second), watched_fast, ..brings(0.0, migrates) }
        };
        let (_, restarts) = times(&turns("gain", 1200, epoch_s, flips));
        assert!(restarts.len() == 1 && restarts[0] > 1000.0, "{restarts:?}");
        // A quarter of the hot set leaves with every change.
        let by_and_by = |second: u32, migrates: bool| {
            let changes = f64::from(second.saturating_sub(300) / 60);
            let watched_fast = if (second / 60).is_multiple_of(2) { 0.6 } else { 0.5 };
            let accessed_fast = 0.3 * 0.75_f64.powf(changes);
            Second { accessed_fast, watched_fast, ..brings(0.0, migrates) }
        };
        let (_, restarts) = times(&turns("gain", 600, epoch_s, by_and_by));
        assert!(restarts.len() == 1 && restarts[0] < 500.0, "{restarts:?}");
    }
    // What went down for room was cold, and then the hot set leaves slowly.
    let slowly = |second: u32, migrates: bool| {
        let (watched_fast, again) = if second < 300 { (0.9, 0.0) } else { (0.4, 32768.0) };
        let again = if second == 300 { again } else { 0.0 };
        let left = (-f64::from(second.saturating_sub(500)) / 600.0).exp();
        Second { accessed_fast: 0.3 * left, watched_fast, again, ..brings(0.0, migrates) }
    };
    let (_, restarts) = times(&turns("gain", 1200, 5, slowly));
    assert!(restarts.len() == 1 && restarts[0] > 500.0, "{restarts:?}");
}

#[test]
fn what_other_pieces_show_of_fast_memory_does_not_begin_the_counts_anew() {
    // In turn 43 % of 50 pieces are in fast memory, and half of 70; a third less of that is accessed from the 600th second on.
    let program = |second: u32, migrates: bool| {
        let (watched_fast, pieces) =
            if (second / 5).is_multiple_of(2) { (0.43, 50.0) } else { (0.5, 70.0) };
        let accessed_fast = watched_fast * if second < 600 { 0.8 } else { 0.5 };
        Second { accessed_fast, watched_fast, pieces: Some(pieces), ..brings(0.0, migrates) }
    };
    let (_, restarts) = times(&turns("gain", 900, 5, program));
    assert!(restarts.len() == 1 && (620.0..=660.0).contains(&restarts[0]), "{restarts:?}");
}

/// As when another program ends, and leaves fast memory to one whose hot set is in slow memory.
#[test]
fn room_for_what_is_accessed_in_slow_memory_lets_a_stopped_process_go_on() {
    // Of 80 GiB half are accessed, 16 of them in fast memory. So much room comes.
    let restarts = |room: [f64; 2], accessed: f64, until: u32| {
        let program = |second: u32, migrates: bool| {
            let there = (300..until).contains(&second);
            let room = Some(1024.0 * room[usize::from(there)]);
            Second { room, accessed, ..brings(0.0, migrates) }
        };
        let found = turns("gain", 600, 5, program);
        let why = found.get(1).map_or(String::new(), |turn| turn.reason.clone());
        (times(&found).1, why)
    };
    let (found, why) = restarts([0.0, 10.0], 0.5, 600);
    assert!(found.len() == 1 && (315.0..=325.0).contains(&found[0]), "{found:?}");
    let told = "room for 5120 more entries of 2 MiB in fast memory; 12288 are seen accessed in slow memory";
    assert_eq!(why, told);
    assert_eq!(restarts([4.0, 8.0], 0.5, 600).0, [], "a sixth of what is accessed in slow memory");
    assert_eq!(restarts([0.0, 10.0], 0.21, 600).0, [], "nearly all is in fast memory");
    assert_eq!(restarts([0.0, 10.0], 0.5, 315).0, [], "it is taken at once");
    assert_eq!(
        restarts([10.0, 0.0], 0.5, 600).0,
        [],
        "room that was there says nothing as it goes"
    );
    let flickers = |second: u32, migrates: bool| {
        let room = Some(if (second / 10).is_multiple_of(2) { 0.0 } else { 10240.0 });
        Second { room, ..brings(0.0, migrates) }
    };
    assert_eq!(times(&turns("gain", 600, 5, flickers)).1, []);
}

#[test]
fn who_says_only_later_how_many_cores_it_keeps_busy_hides_no_change() {
    // Three counts, and then two fifths more for good; that it keeps two cores busy is said from its second look on.
    for epoch_s in [1, 3] {
        let mut stopped = 0;
        let program = |_, migrates: bool| {
            stopped = if migrates { 0 } else { stopped + 1 };
            let accessed = if stopped <= 15 { 0.2 } else { 0.28 };
            let cores = (stopped > epoch_s).then_some(2.0);
            Second { accessed, cores, ..brings(0.0, migrates) }
        };
        let found = turns("gain", 200, epoch_s, program);
        let (stops, restarts) = times(&found);
        assert!(restarts.len() == 1 && restarts[0] - stops[0] <= 45.0, "{epoch_s}: {found:?}");
    }
}

#[test]
fn a_process_that_has_less_of_the_cpus_accesses_no_other_memory() {
    // From the 300th second on.
    let then = |cores: Option<f64>, accessed: f64| {
        move |second: u32, migrates: bool| {
            let was = Second { cores: cores.map(|_| 2.0), ..brings(0.0, migrates) };
            let is = Second { accessed, accessed_fast: accessed * 0.4, cores, ..was };
            if second < 300 { was } else { is }
        }
    };
    let restarts = |cores, accessed| times(&turns("gain", 1800, 5, then(cores, accessed))).1;
    // Half of it is accessed before. In half of the time a part of that is seen that lies in between.
    assert_eq!(restarts(Some(1.0), 0.27), []);
    assert_eq!(restarts(Some(1.0), 0.5), []);
    assert_eq!(restarts(Some(3.0), 0.7), []);
    assert_eq!(restarts(None, 0.27).len(), 1);
    // Less than in proportion, or more than before, is another pattern.
    for (cores, accessed) in [(1.0, 0.18), (1.0, 0.65), (2.0, 0.27), (3.0, 0.95), (0.2, 0.03)] {
        let found = restarts(Some(cores), accessed);
        assert!(found.len() == 1 && found[0] <= 330.0, "{cores} {accessed}: {found:?}");
    }
}

#[test]
fn a_process_that_slept_goes_on_as_before_and_one_that_woke_up_is_another() {
    let sleeps = |from: u32, to: u32| {
        move |second: u32, migrates: bool| {
            let asleep = (from..to).contains(&second);
            let share = if asleep { 0.01 } else { 1.0 };
            let (accessed, accessed_fast) = (0.5 * share, 0.2 * share);
            Second { accessed, accessed_fast, cores: Some(2.0 * share), ..brings(0.0, migrates) }
        }
    };
    assert_eq!(times(&turns("gain", 1800, 5, sleeps(300, 540))).1, []);
    // What has gone on for ten windows is how it is, and to wake up is a change.
    let found = times(&turns("gain", 1800, 5, sleeps(300, 900))).1;
    assert!(found.len() == 1 && (915.0..=930.0).contains(&found[0]), "{found:?}");
    // Nothing is known of it but its sleep.
    let found = times(&turns("gain", 1800, 5, sleeps(0, 900))).1;
    assert!(found.len() == 1 && (915.0..=930.0).contains(&found[0]), "{found:?}");
}

#[test]
fn a_process_that_goes_on_with_less_of_the_cpus_is_watched_for_changes_all_the_same() {
    // Before its counts have levelled out, or later.
    for from in [85, 300] {
        let program = |second: u32, migrates: bool| {
            let (cores, share) = if second < from { (2.0, 1.0) } else { (0.8, 0.5) };
            let share = if second < 1000 { share } else { 0.1 };
            let (accessed, accessed_fast) = (0.5 * share, 0.2 * share);
            Second { accessed, accessed_fast, cores: Some(cores), ..brings(0.0, migrates) }
        };
        let found = times(&turns("gain", 1800, 5, program)).1;
        assert!(found.len() == 1 && (1000.0..1040.0).contains(&found[0]), "{from}: {found:?}");
    }
}

#[test]
fn what_few_pieces_show_by_chance_is_no_change_and_what_they_all_show_is() {
    const PIECES: u32 = 20;
    // Two in five pieces are accessed, in fast memory, and others are looked at each time: the worst case.
    let few = |told: Option<f64>, then: f64| {
        let (mut dice, mut accessed_fast) = (Dice(7), 0.0);
        move |second: u32, migrates: bool| {
            if second.is_multiple_of(5) {
                let share = if second < 2000 { 0.4 } else { then };
                let seen = (0..PIECES).filter(|_| dice.even() < share).count() as f64;
                accessed_fast = seen / f64::from(PIECES);
            }
            Second { accessed_fast, pieces: told, ..brings(0.0, migrates) }
        }
    };
    let restarts = |told, then| times(&turns("gain:backoff=1", 36000, 5, few(told, then))).1;
    let told = Some(f64::from(PIECES));
    let (trap, rare) = (restarts(None, 0.4).len(), restarts(told, 0.4).len());
    assert!(trap > 3 * rare && trap > 30, "in ten hours: {trap}, {rare}");
    for then in [0.0, 0.9] {
        let found = restarts(told, then);
        assert!(!found.is_empty() && (2000.0..2100.0).contains(&found[0]), "{then}: {found:?}");
    }
}

#[test]
fn phases_shorter_than_a_change_takes_are_none_and_a_level_that_is_new_is_one() {
    // Two phases, of which the first accesses a quarter as much; what is seen differs by a tenth besides.
    for (low_s, high_s) in [(7, 12), (5, 5), (10, 10), (10, 5), (3, 14)] {
        for offset in 0..low_s + high_s {
            let mut dice = Dice(u64::from(offset) + 1);
            let program = move |second: u32, migrates: bool| {
                let low = (second + offset) % (low_s + high_s) < low_s;
                let share = if low { 0.08 } else { 0.35 };
                let share = if second < 3000 { share } else { 0.7 };
                let accessed_fast = share * (0.95 + 0.1 * dice.even());
                Second { accessed_fast, ..brings(0.0, migrates) }
            };
            let restarts = times(&turns("gain", 3200, 5, program)).1;
            let new = restarts.first().is_none_or(|at| (3000.0..3060.0).contains(at));
            assert!(restarts.len() <= 1 && new, "{low_s}, {high_s}, {offset}: {restarts:?}");
            // Counts that never come near their mean are never held against it.
            assert!((low_s, high_s) != (7, 12) || restarts.len() == 1, "{offset}");
        }
    }
}

#[test]
fn counts_of_one_phase_with_others_between_them_are_not_in_a_row() {
    // A minute each; 64 counts in a row take more than five.
    for seed in 0..40_u32 {
        let (mut dice, mut accessed_fast) = (Dice(seed.into()), 0.0);
        let program = move |second: u32, migrates: bool| {
            if second.is_multiple_of(5) {
                let share = if (second + 3 * seed) % 120 < 60 { 0.2 } else { 0.3 };
                accessed_fast = share * (1.0 + 0.05 * dice.normal());
            }
            Second { accessed_fast, ..brings(0.0, migrates) }
        };
        let restarts = times(&turns("gain:restart=64", 3600, 5, program)).1;
        assert!(restarts.is_empty(), "{seed}: {restarts:?}");
    }
}

#[test]
fn more_counts_in_a_row_than_are_kept_may_be_asked_for() {
    let program = |_, migrates| brings(0.0, migrates);
    let restarts = times(&turns("gain:restart=1000,again=1e6", 8000, 5, program)).1;
    assert!(restarts.is_empty(), "{restarts:?}");
}

#[test]
fn a_slow_loss_is_a_change_whatever_comes_with_its_last_count() {
    // From 300 s on it falls to 0.55 of what it was in 6 minutes; 64 counts below 0.6 are a change.
    let restarts = |falls_s: f64| {
        let program = move |second: u32, migrates: bool| {
            let left = 0.9985_f64.powi(second.saturating_sub(300).min(400).cast_signed());
            let share = if f64::from(second) < falls_s { 0.2 * left } else { 0.05 };
            Second { accessed_fast: share, ..brings(0.0, migrates) }
        };
        times(&turns("gain:restart=64", 1200, 5, program)).1
    };
    let slow = restarts(f64::INFINITY);
    assert_eq!(slow.len(), 1, "{slow:?}");
    assert_eq!(restarts(slow[0] - 10.0), slow);
}

#[test]
fn who_tried_again_in_vain_sees_a_change_as_soon_and_changes_in_vain_leave_the_time_to_try_again() {
    let program = |second: u32, migrates: bool| {
        let accessed_fast = if second < 5000 { 0.2 } else { 0.4 };
        Second { accessed_fast, ..brings(0.0, migrates) }
    };
    let (_, restarts) = times(&turns("gain:again=100", 5200, 5, program));
    assert!(
        restarts.len() > 4 && restarts.iter().any(|at| (5010.0..5030.0).contains(at)),
        "{restarts:?}"
    );
    // Every seven minutes another set, for two hours.
    let program = |second: u32, migrates: bool| {
        let accessed_fast = if second % 840 < 420 || second > 7200 { 0.2 } else { 0.4 };
        Second { accessed_fast, ..brings(0.0, migrates) }
    };
    let found = turns("gain:again=1000", 9000, 5, program);
    let changes = found.iter().filter(|turn| turn.reason.starts_with("accesses changed")).count();
    let again = found.iter().rfind(|turn| turn.reason.starts_with("tries again")).unwrap();
    assert!(changes > 4 && again.at_s < 8500.0, "{changes}: {found:?}");
}

#[test]
fn counts_that_scatter_about_the_same_mean_are_no_change_and_half_as_many_more_are() {
    // By a deviation of a tenth, so that six of them are off the mean by a tenth now and then.
    let restarts = |seed: u64, then: f64| {
        let (mut dice, mut accessed_fast) = (Dice(seed), 0.0);
        let program = move |second: u32, migrates: bool| {
            if second.is_multiple_of(5) {
                let share = if second < 1800 { 0.2 } else { then };
                accessed_fast = share * (1.0 + 0.1 * dice.normal());
            }
            Second { accessed_fast, ..brings(0.0, migrates) }
        };
        times(&turns("gain", 2400, 5, program)).1
    };
    let wrong = (0..200).filter(|seed| !restarts(*seed, 0.2).is_empty()).count();
    assert!(wrong <= 2, "{wrong} of 200");
    for seed in 0..50 {
        let found = restarts(seed, 0.3);
        assert!(found.len() == 1 && (1810.0..1860.0).contains(&found[0]), "{seed}: {found:?}");
    }
}

#[test]
fn what_changes_while_a_stopped_process_is_still_learned_is_a_change() {
    // Stopped after 70 s; its mean has levelled out 35 s later. A dozen pieces are looked at, the same ones each time.
    for changes_s in [85, 90, 100, 105, 120, 200] {
        for then in [0.1, 0.4] {
            let program = |second: u32, migrates: bool| {
                let accessed_fast = if second < changes_s { 0.2 } else { then };
                Second { accessed_fast, pieces: Some(12.0), ..brings(0.0, migrates) }
            };
            let found = times(&turns("gain", 600, 5, program)).1;
            let due = f64::from(changes_s) + 15.0..f64::from(changes_s) + 30.0;
            assert!(found.len() == 1 && due.contains(&found[0]), "{changes_s}, {then}: {found:?}");
        }
    }
}

#[test]
fn a_step_of_a_third_and_a_drift_are_changes_wherever_they_fall() {
    for offset in 0..5 {
        let stepped = |second: u32| if second < 500 + offset { 0.2 } else { 0.27 };
        let drifts =
            |second: u32| 0.2 * 1.1_f64.powi(second.saturating_sub(500 + offset).cast_signed() / 5);
        for share in [&stepped as &dyn Fn(u32) -> f64, &drifts] {
            let program = |second, migrates| Second {
                accessed_fast: share(second).min(1.0),
                ..brings(0.0, migrates)
            };
            let restarts = times(&turns("gain", 600, 5, program)).1;
            assert!(restarts.len() == 1 && restarts[0] > 500.0, "{offset}: {restarts:?}");
        }
    }
}

#[test]
fn a_hot_set_that_leaves_fast_memory_slowly_is_a_change_in_the_end_and_one_that_comes_is_none() {
    // From 300 s on, by a part of what is left.
    let restarts = |time_s: f64, least: f64| {
        let program = |second: u32, migrates: bool| {
            let left = (-f64::from(second.saturating_sub(300)) / time_s).exp();
            Second { accessed_fast: 0.3 * left.max(least), ..brings(0.0, migrates) }
        };
        times(&turns("gain", 3000, 5, program)).1
    };
    for time_s in [80.0, 200.0, 600.0] {
        // Two fifths are gone.
        let gone_s = 300.0 + time_s * (1.0_f64 / 0.6).ln();
        let found = restarts(time_s, 0.05);
        assert!(found[0] > gone_s && found[0] < gone_s + 45.0, "{time_s}, {gone_s}: {found:?}");
    }
    assert_eq!(restarts(80.0, 0.7), [], "less is none");
    let comes = |second: u32, migrates: bool| {
        let more = f64::from(second.saturating_sub(300)) * 1e-3;
        Second { accessed_fast: 0.1 + more.min(0.5), ..brings(0.0, migrates) }
    };
    assert_eq!(times(&turns("gain", 3000, 5, comes)).1, []);
}

#[test]
fn of_few_pieces_that_are_the_same_each_time_any_change_counts() {
    // One of six is accessed until it is not, or another one is.
    for then in [0.0, 2.0] {
        let program = |second: u32, migrates: bool| {
            let seen = if second < 300 { 1.0 } else { then };
            Second { accessed_fast: seen / 6.0, pieces: Some(6.0), ..brings(0.0, migrates) }
        };
        let restarts = times(&turns("gain", 400, 1, program)).1;
        assert!(restarts.len() == 1 && restarts[0] > 300.0, "{then}: {restarts:?}");
    }
}

/// As when another process is stopped, too, and leaves more of the budget; in a guest 47 entries became 68.
#[test]
fn a_sample_that_grows_shows_other_pieces_which_is_no_change() {
    let restarts = |pieces: [f64; 2], shares: [f64; 2]| {
        let program = |second: u32, migrates: bool| {
            let then = usize::from(second >= 300);
            let pieces = Some(pieces[then]);
            Second { accessed_fast: shares[then], pieces, ..brings(0.0, migrates) }
        };
        times(&turns("gain", 500, 1, program)).1.len()
    };
    assert_eq!(restarts([10.0, 20.0], [0.235, 0.34]), 0);
    assert_eq!(restarts([20.0, 10.0], [0.34, 0.235]), 0, "nor one that shrinks");
    assert_eq!(restarts([20.0, 20.0], [0.235, 0.34]), 1, "the same pieces are accessed otherwise");
    assert_eq!(restarts([10.0, 20.0], [0.235, 0.9]), 1, "so many more are no chance");
}

#[test]
fn it_tries_again_after_a_while_and_after_twice_as_long_if_that_brought_nothing() {
    let found = turns("gain:again=100", 1000, 1, |_, migrates| brings(0.0, migrates));
    let (stops, restarts) = times(&found);
    let waits: Vec<f64> = restarts.iter().zip(&stops).map(|(to, from)| to - from).collect();
    assert_eq!(waits, [100.0, 200.0, 400.0], "{found:?}");
    assert_eq!(found[1].reason, "tries again after a while");
    let (stops, restarts) =
        times(&turns("gain:again=10", 3000, 1, |_, migrates| brings(0.0, migrates)));
    let waits: Vec<f64> = restarts.iter().zip(&stops).map(|(to, from)| to - from).collect();
    assert_eq!(waits[..6], [10.0, 20.0, 40.0, 80.0, 160.0, 160.0], "16 times as long at most");
    // What promised for five seconds to bring ten times its cost, and then did not, brought nothing either.
    let mut migrated = 0;
    let promises = |_, migrates: bool| {
        migrated = if migrates { migrated + 1 } else { 0 };
        brings(if migrated <= 5 { 10.0 } else { 0.0 }, migrates)
    };
    let (stops, restarts) = times(&turns("gain:again=100", 1000, 1, promises));
    let waits: Vec<f64> = restarts.iter().zip(&stops).map(|(to, from)| to - from).collect();
    assert_eq!(waits, [100.0, 200.0, 400.0]);
}

#[test]
fn what_nobody_can_price_is_not_stopped() {
    let mut governor = "gain".parse::<GovernorSpec>().unwrap().build();
    for second in 1..1000u32 {
        let counters = Counters {
            now_s: f64::from(second),
            length_s: 1.0,
            promoted: Bytes::gib(u64::from(second)),
            ..Counters::default()
        };
        assert_eq!(governor.judge(&counters), Verdict::Migrate);
    }
}

#[test]
fn a_change_after_which_the_hot_set_was_put_in_place_is_seen_as_soon_the_next_time() {
    // Each 300 s other memory is accessed; moving it takes a third of a second, and brings 0.03 s a second.
    let mut migrated = 0;
    let program = |second: u32, migrates: bool| {
        migrated = if migrates { migrated + 1 } else { 0 };
        let accessed = if (second / 300).is_multiple_of(2) { 0.3 } else { 0.6 };
        let moving = if migrated == 5 { 0.3 } else { 0.0 };
        let gained = if migrated > 5 { 0.03 } else { 0.0 };
        let watching = if migrates { 0.03 } else { 0.003 };
        Second { accessed, moving, gained, watching, ..Second::default() }
    };
    let (_, restarts) = times(&turns("gain", 2400, 5, program));
    let within: Vec<f64> = restarts.iter().map(|at| at % 300.0).collect();
    assert!(within.len() == 7 && within.iter().all(|within| *within <= 25.0), "{restarts:?}");
}

#[test]
fn what_brings_its_own_cost_goes_on_until_all_memory_was_watched_once() {
    // 4 ms a second of moves, which bring 20, and 30 ms of watching a 260th of it.
    let program = |brings: f64, watched: f64| {
        move |_: u32, _: bool| Second {
            moving: 0.004,
            gained: brings,
            watching: 0.03,
            watched: Some(watched),
            accessed: 0.5,
            ..Second::default()
        }
    };
    let stops = |brings, watched| times(&turns("gain", 600, 5, program(brings, watched))).0;
    assert!((260.0..=270.0).contains(&stops(0.02, 1.0 / 260.0)[0]));
    assert!(stops(0.02, 1.0)[0] <= 75.0, "all of it was watched");
    assert!(stops(0.003, 1.0 / 260.0)[0] <= 75.0, "they do not bring what they cost");
}

#[test]
fn where_nothing_moves_all_memory_is_watched_once_before_it_stops() {
    let first_stop = |watched: Bytes| {
        let mut governor = "gain".parse::<GovernorSpec>().unwrap().build();
        (1..1000).find(|second| {
            let counters = Counters {
                now_s: f64::from(*second),
                length_s: 1.0,
                watching_s: 0.01 * f64::from(*second),
                resident: Bytes::gib(100),
                watched,
                balance: Some(Balance::default()),
                ..Counters::default()
            };
            governor.judge(&counters) == Verdict::StandStill
        })
    };
    assert_eq!(first_stop(Bytes::gib(100)), Some(31));
    assert_eq!(first_stop(Bytes::gib(1)), Some(101));
    assert_eq!(first_stop(Bytes(0)), None);
}

const PAGE: Bytes = Bytes(4096);

fn heat(epoch: u32, rates: &[f32]) -> EpochHeat {
    let mut heat = EpochHeat::new(EpochId(epoch));
    for (unit, rate) in (0..).zip(rates) {
        let flags = HeatFlags::SAMPLED | HeatFlags::ACCESSED;
        let (unit, node) = (UnitId(unit), NodeId(0));
        heat.push(HeatRow { unit, rate: *rate, flags, pages: 1, watched: 1, touched: 1, node });
    }
    heat
}

/// Two units of which one is fast and the other takes its place in the first epoch, if there is
/// migration; how often a second each is accessed then. Seconds until it stops.
fn exchanged(accesses_per_s: [f32; 2], gain_ns: f64) -> Option<u32> {
    exchanged_by(accesses_per_s, &CostBenefit { gain_ns, ..PRICES }, 0.0, 0.0)
}

const PRICES: CostBenefit = CostBenefit {
    gain_ns: 100.0,
    fast_ns: 0.0,
    channel_ns: 0.0,
    in_order: 1.0,
    base_us: 10.0,
    huge_us: 370.0,
    within_s: 0.0,
};

/// The same by such prices, where all accesses come in order, the target keeps so many cores busy, and making room took so long.
#[expect(clippy::unwrap_used, reason = "a test's own text")]
fn exchanged_by(
    accesses_per_s: [f32; 2],
    prices: &CostBenefit,
    cores: f32,
    room_s: f64,
) -> Option<u32> {
    let spec = "gain:horizon=10,patience=5".parse::<GovernorSpec>().unwrap();
    let policy = "rate:steps=256,interval=0".parse().unwrap();
    let mut tenant = Tenant::new(Decider::new(&policy), (&spec).into(), Some(*prices));
    let mut fast = [true, false];
    (0..60).find(|epoch| {
        let rates = if *epoch == 0 { [1.0, 1000.0] } else { accesses_per_s };
        let heat = EpochHeat { in_order: rates.to_vec(), cores, ..heat(*epoch, &rates) };
        let places = Places { fast: Some(&fast), ..Places::default() };
        tenant.arrive(&heat);
        tenant.watched(1e-6, None);
        let decided = tenant.decide(&heat, 1.0, places, Room::Ledger(PAGE), (false, None));
        let outcome = |row: usize, up: bool| Outcome { moved: PAGE, ..Outcome::of(&heat, row, up) };
        let ups = decided.chosen.promote.iter().map(|row| outcome(*row, true));
        let downs = decided.chosen.demote.iter().map(|row| outcome(*row, false));
        let outcomes: Vec<Outcome> = ups.chain(downs).collect();
        outcomes.iter().for_each(|outcome| fast[outcome.row] = outcome.up);
        tenant.learn(outcomes.into_iter(), room_s / 4096.0);
        decided.standing_still == 1
    })
}

#[test]
fn a_tenant_counts_what_moves_bring_and_cost() {
    // Two moves cost 20 us, and watching 1 us a second. 100 more accesses a second at 100 ns bring
    // 10 us a second, 100 us in the horizon: it goes on until the moves are older than that.
    assert_eq!(exchanged([900.0, 1000.0], 100.0), Some(15));
    // 20 more bring 20 us in the horizon, less than 30: it stops as soon as it may.
    assert_eq!(exchanged([980.0, 1000.0], 100.0), Some(14));
}

/// A window of so many units slides through memory, one unit a second. A move and its way back take 10 ms, to be brought within
/// so many seconds. Until 600 s each unit brings 0.5 ms a second while it is in the window, and then `later_ms`. The second in
/// which it was first stopped, and units that went up after 700 s.
#[expect(clippy::unwrap_used, reason = "a test's own text")]
fn slides(gain: &str, window: usize, later_ms: f32, within_s: f64) -> (Option<u32>, usize) {
    let prices = CostBenefit { base_us: 5000.0, within_s, ..PRICES };
    let policy = "rate:steps=256,interval=0".parse().unwrap();
    let spec: GovernorSpec = gain.parse().unwrap();
    let mut tenant = Tenant::new(Decider::new(&policy), (&spec).into(), Some(prices));
    let units = 1500 + window;
    let mut fast = vec![false; units];
    let (mut stopped, mut late) = (None, 0);
    for second in 0..1500 {
        let ms = if second < 600 { 0.5 } else { later_ms };
        let at = second as usize;
        let rate = |unit: usize| if (at..at + window).contains(&unit) { ms * 1e4 } else { 1.0 };
        let heat = heat(second, &(0..units).map(rate).collect::<Vec<f32>>());
        let places = Places { fast: Some(&fast), ..Places::default() };
        tenant.arrive(&heat);
        tenant.watched(1e-6, None);
        let has = |pages: usize| Bytes(4096 * pages as u64);
        let (capacity, used) = (has(window), has(fast.iter().filter(|fast| **fast).count()));
        let (most, move_budget, for_births) = (capacity, has(units), Bytes(0));
        let room = Room::Limited { capacity, most, used, move_budget, for_births };
        let decided = tenant.decide(&heat, 1.0, places, room, (false, None));
        let outcome = |row: usize, up: bool| Outcome { moved: PAGE, ..Outcome::of(&heat, row, up) };
        let ups = decided.chosen.promote.iter().map(|row| outcome(*row, true));
        let downs = decided.chosen.demote.iter().map(|row| outcome(*row, false));
        let outcomes: Vec<Outcome> = ups.chain(downs).collect();
        outcomes.iter().for_each(|outcome| fast[outcome.row] = outcome.up);
        late += if second > 700 { decided.chosen.promote.len() } else { 0 };
        tenant.learn(outcomes.into_iter(), 0.0);
        stopped = stopped.or((decided.standing_still == 1).then_some(second));
    }
    (stopped, late)
}

#[test]
fn what_is_hot_for_less_than_a_minute_is_not_taken_to_bring_for_longer() {
    let sliding = |window, later_ms| slides("gain", window, later_ms, 0.0).0;
    // In 40 s 0.5 ms a second are 20, twice what moves take, 0.3 more than they take, and 0.2 less.
    assert_eq!(sliding(40, 0.3), None);
    let stopped = sliding(40, 0.2);
    assert!(stopped.is_some_and(|second| (605..620).contains(&second)), "{stopped:?}");
    // In 120 s it is more.
    assert_eq!(sliding(120, 0.2), None);
}

#[test]
fn what_does_not_stay_hot_is_not_moved_for_what_it_would_bring_later() {
    // In 30 s 0.2 ms a second do not bring 10 ms, in five times as long they do. Nothing is stopped.
    let late = |window| slides("gain:patience=10000", window, 0.2, 30.0).1;
    assert_eq!(late(40), 0, "hot for 40 s");
    assert!(late(600) > 700, "{}", late(600));
}

#[test]
fn making_room_is_borne_by_what_goes_up() {
    // 100 more accesses a second at 100 ns bring 100 us in the horizon, of 20 us and 10 of watching.
    let with_room = |us: f64| exchanged_by([900.0, 1000.0], &PRICES, 0.0, us * 1e-6);
    assert_eq!([0.0, 60.0].map(with_room), [Some(15); 2]);
    assert_eq!(with_room(80.0), Some(14));
}

#[test]
fn the_rest_of_a_unit_that_was_fast_brings_nothing_by_going_up() {
    // A page goes up in the first epoch, of a unit that was slow or of one that counts as fast already.
    let stops = |was_fast: bool| {
        let spec = "gain:horizon=10,patience=5".parse::<GovernorSpec>().unwrap();
        let decider = Decider::new(&"rate".parse().unwrap());
        let mut tenant = Tenant::new(decider, (&spec).into(), Some(PRICES));
        (0..60).find(|epoch| {
            let heat = heat(*epoch, &[1000.0]);
            let fast = [was_fast || *epoch > 0];
            let places = Places { fast: Some(&fast), ..Places::default() };
            tenant.arrive(&heat);
            tenant.watched(1e-6, None);
            let decided = tenant.decide(&heat, 1.0, places, Room::Ledger(PAGE), (false, None));
            let outcome = Outcome { moved: PAGE, ..Outcome::of(&heat, 0, true) };
            tenant.learn((*epoch == 0).then_some(outcome).into_iter(), 0.0);
            decided.standing_still == 1
        })
    };
    assert_eq!([false, true].map(stops), [Some(15), Some(14)]);
}

#[test]
fn what_left_a_full_channel_brings_what_it_kept_the_channel_for_though_that_is_idle_now() {
    // 20 a second bring 2 us, of 3 that it costs.
    assert_eq!(exchanged([0.0, 20.0], 100.0), Some(14));
    // They kept the channel, 50 ms each, for all of the time, from cores that lose six times the latency by it.
    let full = CostBenefit { channel_ns: 50e6, ..PRICES };
    let cores = 6.0 * 100.0 / 50e6;
    assert_eq!(exchanged_by([0.0, 20.0], &full, cores, 0.0), Some(15));
    // For a fifth of it: hardly more than the latency.
    let idle = CostBenefit { channel_ns: 50e6 / 5.0, ..PRICES };
    assert_eq!(exchanged_by([0.0, 20.0], &idle, 5.0 * cores, 0.0), Some(14));
}

#[test]
fn moves_bring_no_more_than_cores_had_time_to_wait_for() {
    // 100 more accesses a second, and all of them are waited for 240 us a second at 50 and 150 ns each.
    let prices = CostBenefit { fast_ns: 50.0, ..PRICES };
    assert_eq!(exchanged_by([900.0, 1000.0], &prices, 1.0, 0.0), Some(15));
    // On cores that ran for a tenth of that.
    assert_eq!(exchanged_by([900.0, 1000.0], &prices, 24e-6, 0.0), Some(14));
}
