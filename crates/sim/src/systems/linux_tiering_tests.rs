//! What Linux's tiering mode promotes, and what not.

use super::super::hint_scenarios::{STREAM, TRIAL, Trial};

const MIB: f64 = 1_048_576.0;

#[test]
fn a_stream_is_not_promoted_but_for_what_it_reaches_just_after_the_scan() {
    let stream = Trial { pattern: STREAM, ..TRIAL }.under("linux-tiering");
    // It comes back after 24 s and more, the threshold is a second: of 3 passes over the 12 GiB that
    // are slow at most a 24th.
    let most = 3.0 * 12.0 * 1024.0 / 24.0;
    assert!(stream.promoted as f64 / MIB < most, "{stream:?}");
    // What is accessed every half second is hot, however large it is.
    let again = Trial { pattern: "kind = \"strided\", stride = \"4K\"", ..TRIAL };
    let again = again.under("linux-tiering");
    assert!(again.promoted as f64 / MIB > 1.25 * most, "{again:?}");
}

#[test]
fn the_rate_limit_binds() {
    let promoted = |limit: f64| {
        let keys = format!("promote_rate_limit = {limit}");
        let found =
            Trial { seconds: 20.0, threads: 4, keys: &keys, ..TRIAL }.under("linux-tiering");
        found.promoted as f64 / MIB
    };
    let (free, bound, tight) = (promoted(65_536.0), promoted(20.0), promoted(5.0));
    assert!(free > 400.0 && bound > 20.0, "{free} and {bound} MiB");
    assert!(bound <= 20.0 * 20.0 && tight <= 5.0 * 20.0, "{bound} and {tight} MiB");
}

#[test]
fn scans_slow_down_while_pages_go_up() {
    // Faults on what is hot and finds no room are the price of a scan; with every walk that promoted
    // the next one takes twice as long.
    let rate = |seconds| {
        let found = Trial { seconds, fast: "1G", ..TRIAL }.under("linux-tiering");
        found.promoted as f64 / seconds
    };
    assert!(rate(240.0) < 0.6 * rate(30.0), "{} {}", rate(240.0), rate(30.0));
}
