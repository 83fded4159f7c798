//! MEMTIS's histogram by small examples, computed by hand. In epochs of 5 s, with one access of five
//! counted, what is counted is the rate.

use crate::orders::{DEAD, NOT_SAMPLED, Shown};

const COUNTED: &str = "memtis:sample=5,adapt=0,cool=1000000";

/// Base pages, of which fast memory holds so many: what is counted of one is worth 512.
fn pages(options: &str, fast: u64) -> Shown {
    Shown::new(&format!("memtis:sample=5,adapt=0,{options}"), fast)
}

/// Units of 2 MiB, of which fast memory holds so many.
fn shown(spec: &str, fast: u64) -> Shown {
    Shown::of_units(spec, fast, 512)
}

/// The lowest bin that is hot. What is new begins at 2 to the power of one more: at 4 in the first epoch.
fn hot(shown: &Shown) -> f64 {
    shown.told().map_or(f64::NAN, |told| told.figures[0])
}

#[test]
fn bins_double_and_the_hot_ones_fit_fast_memory() {
    let mut shown = shown(COUNTED, 2);
    // 4, 8, 16 and 32: the last two bins fit, and of what is fast the lowest bin goes last.
    assert_eq!(shown.show(&[0.0, 4.0, 12.0, 28.0], &[]), [3, 2, 1, 0]);
    assert_eq!(hot(&shown), 4.0);
}

#[test]
fn a_bin_that_does_not_fit_is_not_hot_and_nothing_changes_places() {
    let mut shown = shown(COUNTED, 2);
    // Bins 2, 2, 3, 3 and 3.
    assert_eq!(shown.show(&[1.0, 0.0, 3.0, 3.0, 3.0], &[]), [0, 1, 2, 3, 4]);
    assert_eq!(hot(&shown), 4.0);
}

#[test]
fn counts_add_up_and_what_was_not_watched_is_counted_by_what_is_expected_of_it() {
    let mut shown = shown(COUNTED, 1);
    assert_eq!(shown.show(&[2.0, 1.0], &[]), [0, 1]);
    // 6 and 8: bins 2 and 3.
    assert_eq!(shown.show(&[0.0, 3.0], &[]), [1, 0]);
    // Of unit 0 nothing was expected: 6 and 8 as before.
    assert_eq!(shown.show(&[NOT_SAMPLED, 0.0], &[]), [1, 0]);
}

#[test]
fn cooling_halves_what_was_counted_before() {
    let mut warm = shown("memtis:sample=5,adapt=0,cool=42", 1);
    // (4 + 40) / 2 = 22 of unit 1, 2.5 of the others.
    assert_eq!(warm.show(&[1.0, 40.0, 1.0], &[]), [1, 0, 2]);
    // 11 and 21.75 (bins 3 and 4). Not halved they would be 44 and 46, in one bin.
    assert_eq!(warm.show(&[1.0, 0.0, 41.0], &[]), [2, 1, 0]);
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
fn the_threshold_is_set_again_after_so_many_counts_and_hot_units_make_no_room_for_hot_ones() {
    let mut shown = shown("memtis:sample=5,adapt=100,cool=1000000", 1);
    // All that was ever counted is hot at first.
    assert_eq!(shown.show(&[7.0, 31.0], &[]), [0, 1]);
    assert_eq!(hot(&shown), 1.0);
    assert_eq!(shown.show(&[0.0, 62.0], &[]), [1, 0]);
    assert_eq!(hot(&shown), 4.0, "11 and 97: bins 3 and 6");
}

#[test]
fn the_threshold_falls_by_one_bin_after_a_cooling_however_much_would_fit() {
    let mut shown = shown("memtis:sample=5,adapt=0,cool=100", 1);
    shown.show(&[28.0, 60.0], &[]);
    assert_eq!(hot(&shown), 6.0, "32 and 64");
    shown.show(&[0.0, 112.0], &[]);
    assert_eq!(hot(&shown), 5.0, "8 and 69 after two coolings: 4 would do");
    shown.show(&[0.0, 1.0], &[]);
    assert_eq!(hot(&shown), 5.0, "no cooling");
    shown.show(&[0.0, 99.0], &[]);
    assert_eq!(hot(&shown), 4.0, "4 and 84.5");
}

#[test]
fn base_pages_that_are_new_make_no_room_until_they_cooled_and_the_first_cooling_spares_them() {
    let mut base = pages("cool=10", 1);
    // 4 and 4100.
    assert_eq!(base.show(&[0.0, 8.0], &[]), [0, 1]);
    // 4 and 2562 after a cooling, of which the histogram knows the latter.
    assert_eq!(base.show(&[0.0, 2.0], &[]), [0, 1]);
    assert_eq!(hot(&base), 1.0);
    // 2 and 3841.
    assert_eq!(base.show(&[0.0, 10.0], &[]), [1, 0]);
    assert_eq!(hot(&base), 2.0);
    let mut huge = shown("memtis:sample=5,adapt=0,cool=10", 1);
    assert_eq!(huge.show(&[0.0, 8.0], &[]), [1, 0], "cold until something is known of them");
}

#[test]
fn memory_that_is_allocated_cools_what_came_before() {
    // Each page cools all up to itself: 0.5, 1, 2 and 4, bins 0, 1, 1 and 2. The last one is spared,
    // and stays where it is.
    let mut cooled = pages("alloc=1", 2);
    assert_eq!(cooled.show(&[0.0; 4], &[]), [1, 2, 0, 3]);
    let mut uncooled = pages("alloc=8", 2);
    assert_eq!(uncooled.show(&[0.0; 4], &[]), [0, 1, 2, 3]);
}

#[test]
fn a_unit_that_returns_is_new_and_one_never_watched_is_in_the_middle() {
    let mut shown = shown(COUNTED, 1);
    shown.show(&[0.0, 100.0, 0.0], &[]);
    shown.show(&[0.0, DEAD, 0.0], &[]);
    assert_eq!(shown.show(&[0.0, 1.0, 3.0], &[]), [2, 0, 1], "5 in place of 105");
    let mut unknown = self::shown(COUNTED, 3);
    assert_eq!(unknown.show(&[NOT_SAMPLED, 0.0, 7.0], &[]), [2, 0, 1]);
}
