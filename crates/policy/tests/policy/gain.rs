//! Governor `gain`: stops what does not pay, by numbers, and nothing that does.

use crate::governed::{Second, brings, times, turns};
use pagetide_policy::{Balance, Counters, GovernorSpec, Verdict};
use pagetide_types::Bytes;

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
