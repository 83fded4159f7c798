//! MEMTIS's histogram by small examples, computed by hand. In epochs of 5 s, with one access of five
//! counted, what is counted is the rate.

use crate::orders::{DEAD, NOT_SAMPLED, Shown};

const COUNTED: &str = "memtis:sample=5,adapt=0,cool=1000000";

/// Units of 2 MiB, of which fast memory holds so many.
fn shown(spec: &str, fast: u64) -> Shown {
    Shown::of_units(spec, fast, 512)
}

/// The lowest bin that is hot.
fn hot(shown: &Shown) -> f64 {
    shown.told().map_or(f64::NAN, |told| told.figures[0])
}

#[test]
fn bins_double_and_the_hot_ones_fit_fast_memory() {
    let mut shown = shown(COUNTED, 2);
    // Bins 0, 1, 2 and 3: the last two fit, and of what is fast the lowest bin goes last.
    assert_eq!(shown.show(&[0.0, 1.0, 3.0, 7.0], &[]), [3, 2, 1, 0]);
    assert_eq!(hot(&shown), 2.0);
}

#[test]
fn a_bin_that_does_not_fit_is_not_hot_and_nothing_changes_places() {
    let mut shown = shown(COUNTED, 2);
    assert_eq!(shown.show(&[1.0, 0.0, 3.0, 3.0, 3.0], &[]), [0, 1, 2, 3, 4]);
    assert_eq!(hot(&shown), 3.0);
}

#[test]
fn counts_add_up_and_what_was_not_watched_is_counted_by_what_is_expected_of_it() {
    let mut shown = shown(COUNTED, 1);
    assert_eq!(shown.show(&[2.0, 1.0], &[]), [0, 1]);
    // 2 and 4: bins 1 and 2.
    assert_eq!(shown.show(&[0.0, 3.0], &[]), [1, 0]);
    // Of unit 0 nothing was expected: 2 and 4 as before.
    assert_eq!(shown.show(&[NOT_SAMPLED, 0.0], &[]), [1, 0]);
}

#[test]
fn cooling_halves_what_was_counted_before() {
    // Of 40 in the first epoch 32 are halved, and 8 come after: 24.
    let mut warm = shown("memtis:sample=5,adapt=0,cool=32", 1);
    assert_eq!(warm.show(&[0.0, 40.0, 0.0], &[]), [1, 0, 2]);
    // 24 more, of unit 2, fill up the next 32: both are halved, to 12 (bin 3).
    assert_eq!(warm.show(&[0.0, 0.0, 24.0], &[]), [1, 2, 0]);
    // 12 and 30 (bins 3 and 4). Not halved they would be 40 and 42, in one bin.
    assert_eq!(warm.show(&[0.0, 0.0, 18.0], &[]), [2, 1, 0]);
}

#[test]
fn many_halvings_in_one_epoch_leave_what_the_last_ones_brought() {
    // 1600 in 50 steps of 32, each halved at its end: 32 are left (bin 5), without halving bin 10.
    let mut cooled = shown("memtis:sample=5,adapt=0,cool=32", 1);
    cooled.show(&[1600.0, 0.0], &[]);
    // 31 are bin 5, too: nothing is hot, and what is fast stays.
    assert_eq!(cooled.show(&[0.0, 31.0], &[]), [0, 1]);
    // 1 more fills up the 32, 32 the next, and 7 are left: ((31 + 1) / 2 + 32) / 2 + 7 = 31 (bin 5),
    // and of unit 0 there are 8 (bin 3).
    assert_eq!(cooled.show(&[0.0, 40.0], &[]), [1, 0]);
}

#[test]
fn the_threshold_is_set_again_after_so_many_counts() {
    let mut shown = shown("memtis:sample=5,adapt=100,cool=1000000", 1);
    // All that was ever counted is hot at first; the hottest comes first.
    assert_eq!(shown.show(&[7.0, 31.0], &[]), [1, 0]);
    assert_eq!(hot(&shown), 1.0);
    shown.show(&[0.0, 62.0], &[]);
    assert_eq!(hot(&shown), 4.0, "7 and 93: bins 3 and 6");
}

#[test]
fn a_unit_that_returns_is_new_and_one_never_watched_is_in_the_middle() {
    let mut shown = shown(COUNTED, 1);
    shown.show(&[0.0, 100.0, 0.0], &[]);
    shown.show(&[0.0, DEAD, 0.0], &[]);
    assert_eq!(shown.show(&[0.0, 1.0, 3.0], &[]), [2, 0, 1], "1 in place of 101");
    let mut unknown = self::shown(COUNTED, 3);
    assert_eq!(unknown.show(&[NOT_SAMPLED, 0.0, 7.0], &[]), [2, 0, 1]);
}
