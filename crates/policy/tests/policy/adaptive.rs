//! Governor `adaptive`: the traps that it is known for, with the rules of ours and without them.

use crate::dice::Dice;
use crate::governed::{Second, Turn, times, turns};
use crate::three_phases::BARE;
use pagetide_policy::Verdict;

/// Its hot set goes up at an even speed for three minutes; some of it goes down by mistake in the
/// first one and comes back.
fn filling(second: u32, migrates: bool) -> Second {
    let up = if migrates && second < 180 { 100.0 } else { 0.0 };
    let again = if (4..24).contains(&second) { up / 4.0 } else { 0.0 };
    Second { up, again, accessed: 0.3, ..Second::default() }
}

/// Everything that goes up goes down again, in batches: for two ticks twice as much, for two ticks
/// nothing.
fn swinging_stream(second: u32, migrates: bool) -> Second {
    let up = if migrates { 100.0 } else { 0.0 };
    let again = if (second / 4).is_multiple_of(2) { 2.0 * up } else { 0.0 };
    Second { up, again, accessed: 0.5, ..Second::default() }
}

/// Its hot set is in place from the start.
fn quiet(_: u32, _: bool) -> Second {
    Second { accessed: 0.3, ..Second::default() }
}

fn ping_pong(migrates: bool, accessed: f64) -> Second {
    let up = if migrates { 100.0 } else { 0.0 };
    Second { up, again: up, accessed, ..Second::default() }
}

#[test]
fn high_and_even_ping_pong_is_stopped_whatever_the_length_of_an_epoch() {
    for epoch_s in [1, 2, 5] {
        let turns = turns("adaptive", 120, epoch_s, |_, migrates| ping_pong(migrates, 0.5));
        let (stops, restarts) = times(&turns);
        assert!(restarts.is_empty());
        // Varying for three ticks of 2 s, stable for eight.
        assert!((20.0..=30.0).contains(&stops[0]), "{epoch_s}: {turns:?}");
        assert!(turns[0].reason.starts_with("ping-pong: of 1.5"), "{turns:?}");
    }
}

#[test]
fn a_hot_set_that_is_still_going_up_is_not_stopped() {
    let (stops, _) = times(&turns(BARE, 400, 1, filling));
    assert!(stops[0] < 60.0, "the trap: {stops:?}");
    let found = turns("adaptive", 400, 1, filling);
    let (stops, restarts) = times(&found);
    assert!((180.0..220.0).contains(&stops[0]), "{found:?}");
    assert_eq!((stops.len(), restarts.len()), (1, 0));
    assert!(found[0].reason.starts_with("settled: "), "{found:?}");
}

#[test]
fn a_stream_whose_slope_swings_is_stopped_by_what_it_churns() {
    assert!(turns(BARE, 3600, 1, swinging_stream).is_empty(), "the trap");
    let found = turns("adaptive", 3600, 1, swinging_stream);
    let (stops, restarts) = times(&found);
    assert!(stops[0] <= 70.0 && restarts.is_empty(), "{found:?}");
    assert!(found[0].reason.starts_with("ping-pong: "), "{found:?}");
}

#[test]
fn one_that_never_varied_is_stopped_once_all_of_it_was_watched() {
    assert!(turns(BARE, 3600, 1, quiet).is_empty(), "the trap");
    let found = turns("adaptive", 3600, 1, quiet);
    let [Turn { at_s, verdict: Verdict::StandStill, reason, .. }] = found.as_slice() else {
        panic!("{found:?}")
    };
    assert_eq!((*at_s, reason.as_str()), (31.0, "settled: 0 B promoted in 30 s"));
}

#[test]
fn one_whose_pages_go_up_in_a_later_pass_is_not_stopped_before_that() {
    // All of it is watched every 30 s, and two distances between faults take three passes.
    let program = |second: u32, migrates: bool| {
        let up = if migrates && (75..95).contains(&second) { 100.0 } else { 0.0 };
        Second { up, accessed: 0.01, watched: Some(1.0 / 30.0), ..Second::default() }
    };
    let (stops, _) = times(&turns("adaptive:passes=1", 400, 1, program));
    assert!(stops[0] < 40.0, "the trap: {stops:?}");
    let (stops, restarts) = times(&turns("adaptive", 400, 1, program));
    assert!((120.0..160.0).contains(&stops[0]), "a pass after the last one: {stops:?}");
    assert_eq!((stops.len(), restarts.len()), (1, 0));
    let nothing = |second: u32, migrates: bool| Second { up: 0.0, ..program(second, migrates) };
    let (stops, _) = times(&turns("adaptive", 400, 1, nothing));
    assert!((115.0..150.0).contains(&stops[0]), "four passes in vain: {stops:?}");
}

#[test]
fn a_stationary_program_is_stopped_once_for_half_an_hour() {
    let mut dice = Dice(3);
    let mut program = |second: u32, migrates: bool| {
        let up = if second < 20 && migrates { 200.0 } else { 0.0 };
        // Of 600 entries.
        let accessed = dice.count(200.0) / 600.0;
        Second { up, again: up * f64::from(second) / 40.0, accessed, ..Second::default() }
    };
    let (stops, restarts) = times(&turns("adaptive", 1800, 1, &mut program));
    assert_eq!((stops.len(), restarts.len()), (1, 0));
}

#[test]
fn an_unfriendly_program_whose_accesses_come_and_go_is_not_restarted_for_ever() {
    // For two minutes half as much.
    let program = |second: u32, migrates: bool| {
        ping_pong(migrates, if (second / 120).is_multiple_of(2) { 0.6 } else { 0.3 })
    };
    let (_, restarts) = times(&turns(BARE, 7200, 1, program));
    assert!(restarts.len() > 40, "the trap: {}", restarts.len());
    let (_, restarts) = times(&turns("adaptive", 7200, 1, program));
    assert!(restarts.len() <= 5, "{}", restarts.len());
}

#[test]
fn single_counts_that_are_off_restart_nothing_and_four_in_a_row_do() {
    let off_for = |counts: u32| {
        let program = move |second: u32, migrates: bool| {
            let off = (200..200 + 5 * counts).contains(&second);
            ping_pong(migrates, if off { 0.5 } else { 0.3 })
        };
        times(&turns("adaptive", 400, 1, program)).1
    };
    // At any phase of the counts two of them lie in no more than three.
    assert!(off_for(2).is_empty());
    let restarts = off_for(5);
    assert!(restarts.len() == 1 && (215.0..=225.0).contains(&restarts[0]), "{restarts:?}");
}

#[test]
fn a_long_look_is_one_count_and_takes_four_in_a_row_as_well() {
    for governor in ["adaptive", "gain:again=1e6"] {
        for epoch_s in [6, 20] {
            let off_for = |looks: u32| {
                let program = move |second: u32, migrates: bool| {
                    let off = (480..480 + looks * epoch_s).contains(&second);
                    ping_pong(migrates, if off { 0.6 } else { 0.3 })
                };
                times(&turns(governor, 1200, epoch_s, program)).1
            };
            assert_eq!(off_for(1), [], "{governor}, {epoch_s} s");
            assert_eq!(off_for(3), [], "{governor}, {epoch_s} s");
            assert_eq!(off_for(4), [f64::from(480 + 4 * epoch_s)], "{governor}, {epoch_s} s");
        }
    }
}

#[test]
fn a_slope_that_swings_from_look_to_look_is_not_stable_because_the_looks_are_long() {
    for epoch_s in [6, 20] {
        let swings = |second: u32, migrates: bool| {
            let up = if migrates { 100.0 } else { 0.0 };
            let again = if (second / epoch_s).is_multiple_of(2) { up } else { 0.0 };
            Second { up, again, accessed: 0.5, ..Second::default() }
        };
        assert!(turns(BARE, 3600, epoch_s, swings).is_empty(), "{epoch_s} s");
        let (stops, _) = times(&turns(BARE, 3600, epoch_s, |_, is| ping_pong(is, 0.5)));
        // Varying in the one after the first, stable for three.
        assert_eq!(stops, [f64::from(5 * epoch_s)], "{epoch_s} s");
    }
}

#[test]
fn a_change_that_is_small_or_slow_restarts_nothing() {
    let small = |second, migrates| ping_pong(migrates, if second < 200 { 0.5 } else { 0.55 });
    assert_eq!(turns("adaptive", 600, 1, small).len(), 1);
    let slow = |second, migrates| ping_pong(migrates, 0.3 + 0.4 * f64::from(second) / 1800.0);
    assert_eq!(turns("adaptive", 1800, 1, slow).len(), 1);
}
