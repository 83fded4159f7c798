//! When a process that governor `gain` stopped goes on.

use crate::dice::Dice;
use crate::governed::{Second, brings, times, turns};

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

/// As in a guest, where 39 entries became 0 while another program's hot set went up.
#[test]
fn regions_that_change_sides_are_no_loss_though_their_counts_began_with_fewer() {
    let program = |second: u32, migrates: bool| {
        let part = if second < 300 { 0.2 } else { 0.0 };
        let pieces = Some(if second < 100 { 3.0 } else { 6.0 });
        Second { accessed_fast: part, watched_fast: part, pieces, ..brings(0.0, migrates) }
    };
    assert_eq!(times(&turns("gain", 600, 5, program)).1, []);
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
        assert!(found.get(1).is_none_or(|turn| turn.same), "it accesses what it did");
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
    // 5 GiB too much are to be given back for another program, and so much goes down that 10 are left.
    let gives = |up: f64| {
        move |second: u32, migrates: bool| {
            let gone = f64::from(second.clamp(300, 315) - 300) * 1024.0;
            let room = if second < 300 { 0.0 } else { gone - 5120.0 };
            let again = if (300..315).contains(&second) { up } else { 0.0 };
            Second { room: Some(room), again, ..brings(0.0, migrates) }
        }
    };
    assert_eq!(times(&turns("gain", 600, 5, gives(1024.0))).1, [], "room of its own");
    assert_eq!(times(&turns("gain", 600, 5, gives(0.0))).1.len(), 1, "others gave it");
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
