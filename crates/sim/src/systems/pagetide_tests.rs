//! What Pagetide finds, what it leaves alone, and what that takes.

use super::super::hint_scenarios::{STREAM, TRIAL, Trial};

const GIB: f64 = 1_073_741_824.0;
const UNIFORM: &str = "kind = \"uniform\"";

#[test]
fn a_hot_set_that_is_worth_it_becomes_fast_and_little_else_moves() {
    // With so many threads it brings within ten seconds what it costs. Of huge pages one bit shows a tenth
    // of it, as a thread stays on a page for 64 accesses.
    for (huge, threads, keys) in [(false, 8, ""), (true, 24, "payback = 100")] {
        let found = Trial { huge, threads, keys, ..TRIAL }.under("pagetide");
        assert!(found.fast_share > 0.98, "{huge}: {found:?}");
        // Of 3 GiB a quarter was fast.
        let up = found.promoted as f64 / GIB;
        assert!((2.0..2.7).contains(&up), "{huge}: {up} GiB");
    }
}

#[test]
fn what_has_no_hot_set_hardly_moves_and_loses_next_to_nothing() {
    for pattern in [UNIFORM, STREAM] {
        let trial = Trial { pattern, seconds: 300.0, ..TRIAL };
        let (still, found) = (trial.under("no-migration"), trial.under("pagetide"));
        let lost = 1.0 - found.accesses_per_s / still.accesses_per_s;
        assert!(lost < 0.01, "{pattern}: {lost}");
        // A page that was visited while the stream went over it looks hot for a while.
        let up = found.promoted as f64 / GIB / trial.seconds;
        assert!(up < 0.02, "{pattern}: {up} GiB/s");
    }
}

#[test]
fn what_does_not_bring_what_it_costs_in_five_times_its_time_stays() {
    // Twelve accesses a second of a page save 16 us in ten seconds, 8 in five, and to exchange two takes 32.
    let found = Trial { keys: "payback = 1", ..TRIAL }.under("pagetide");
    assert_eq!((found.promoted, found.demoted), (0, 0));
    // What has lasted for twenty has twenty.
    assert!(Trial { keys: "payback = 10", ..TRIAL }.under("pagetide").promoted > 0);
}

#[test]
fn where_all_memory_is_fast_nothing_moves_and_little_is_lost() {
    let all = Trial { fast: "20G", ..TRIAL };
    let (right, found) = (all.under("all-fast"), all.under("pagetide"));
    assert_eq!((found.promoted, found.demoted, found.fast_share), (0, 0, 1.0));
    let lost = 1.0 - found.accesses_per_s / right.accesses_per_s;
    assert!((0.0..0.01).contains(&lost), "{lost}");
}

#[test]
fn without_a_price_all_that_is_wanted_moves() {
    let trial = Trial { pattern: UNIFORM, keys: "payback = 0\ngovernor = \"none\"", ..TRIAL };
    let found = trial.under("pagetide");
    assert!(found.promoted as f64 / GIB > 1.0, "{found:?}");
}
