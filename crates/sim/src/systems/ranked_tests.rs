//! What a policy and a governor are told of time where moves take longer than an interval.

use crate::scenario::{Outcome, parse, run};

const SCALE: f64 = 2048.0;
const INTERVAL_S: f64 = 5.0;

/// All of it is accessed alike, and what was accessed more in an interval goes up, page by page.
fn moving_for_long(policy: &str) -> Outcome {
    let text = format!(
        "machine = \"adaptive-cxl\"\nscale = {SCALE}\nhuge_pages = false\nseconds = 1000\n\
         [system]\nname = \"policy\"\npolicy = \"{policy}\"\ntracker = \"exact\"\n\
         governor = \"gain\"\ninterval = {INTERVAL_S}\n\
         [[tenant]]\nmemory = \"32G\"\nfast = \"8G\"\nthreads = 2\ncompute_ns = 400\n\
         pattern = {{ kind = \"uniform\" }}"
    );
    run(&parse(&text, "x.toml").unwrap(), None, "x.toml").unwrap()
}

/// The seconds after a word of a governor's reason.
fn seconds_after(word: &str, reason: &str) -> f64 {
    let (_, after) = reason.split_once(word).unwrap();
    let mut words = after.split_whitespace();
    let number: f64 = words.next().unwrap().parse().unwrap();
    if words.next().unwrap().starts_with("ms") { number / 1e3 } else { number }
}

#[test]
fn no_interval_is_much_shorter_than_it_is_to_be() {
    let outcome = moving_for_long("rate");
    let at_s: Vec<f64> = outcome.decisions.iter().map(|log| log.at_s * SCALE).collect();
    let lengths: Vec<f64> = at_s.windows(2).map(|at| at[1] - at[0]).collect();
    assert!(lengths.iter().any(|length| *length > 2.0 * INTERVAL_S), "moves take longer");
    assert!(lengths.iter().all(|length| *length > 0.49 * INTERVAL_S), "{lengths:?}");
}

#[test]
fn a_governor_is_told_how_long_an_interval_was() {
    let outcome = moving_for_long("rate");
    let turn = outcome.decisions.iter().find_map(|log| log.turn.as_ref()).unwrap();
    let within_s = seconds_after("in ", &turn.reason);
    let moving_s = seconds_after("moving ", &turn.reason);
    // There is one mover, which moves in batches: at the machine's price its time is worth more.
    assert!(moving_s > 0.0 && moving_s < 1.6 * within_s, "{}", turn.reason);
    let at_s = outcome.decisions.iter().find(|log| log.turn.is_some()).unwrap().at_s * SCALE;
    assert!((turn.at_s - at_s).abs() < 0.01 * at_s, "{} s at {at_s} s", turn.at_s);
}
