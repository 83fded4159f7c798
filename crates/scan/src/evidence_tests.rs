//! What trials say of a rate.

use super::*;

const MS: u64 = 1_000_000;

#[test]
fn rungs_are_found_by_ratio() {
    for rung in 0..RUNGS {
        assert_eq!(rung_of(gap_ns(rung)), rung);
        assert_eq!(rung_of(gap_ns(rung) * 19 / 10), rung, "nearer to {rung} than the next");
    }
    assert_eq!(rung_of(0), 0);
    assert_eq!(rung_of(u64::MAX), RUNGS - 1);
}

#[test]
fn one_gap_has_the_textbook_answer() {
    let mut evidence = Evidence::default();
    evidence.note(1000, 632, MS, MS, true);
    // 1 - 1/e of them within 1 ms: one access per ms.
    let Estimate::Rate(rate) = evidence.estimate(false) else { panic!() };
    assert!((rate / 1000.0 - 1.0).abs() < 0.01, "{rate}");
}

#[test]
fn a_ladder_counts_as_independent_trials() {
    // 100 pages of rate 100/s, cleared once, looked at after 5, 20 and 80 ms.
    let mut evidence = Evidence::default();
    evidence.note(1000, 393, 5 * MS, 5 * MS, true);
    evidence.note(607, 472, 15 * MS, 20 * MS, false);
    evidence.note(135, 134, 60 * MS, 80 * MS, false);
    let Estimate::Rate(rate) = evidence.estimate(false) else { panic!() };
    assert!((rate / 100.0 - 1.0).abs() < 0.03, "{rate}");
}

#[test]
fn a_few_hot_pages_among_cold_ones_are_counted() {
    // 32 pages of 10,000/s and 480 of 1/s: the sum is 320,480/s. Longer gaps saturate the 32.
    let mut evidence = Evidence::default();
    for _ in 0..40 {
        evidence.note(512, 2, 5_000, 5_000, true);
        evidence.note(510, 4, 15_000, 20_000, false);
        evidence.note(506, 26, 60_000_000, 60_000_000, false);
    }
    let Estimate::Rate(page) = evidence.estimate(true) else { panic!() };
    let sum = page * 512.0;
    assert!((sum / 320_480.0 - 1.0).abs() < 0.5, "{sum}");
    let Estimate::Rate(page) = evidence.estimate(false) else { panic!() };
    assert!(page * 512.0 < 100_000.0, "as one kind of page they are underestimated");
}

#[test]
fn older_trials_help_until_the_program_changes() {
    let mut memory = Evidence::default();
    let mut few = Evidence::default();
    few.note(1, 1, 5 * MS, 5 * MS, true);
    few.note(1, 0, MS, MS, true);
    let alone = memory.learn(&few, false);
    for _ in 0..8 {
        memory.learn(&few, false);
    }
    assert_eq!(alone, few.estimate(false), "there was nothing older");
    assert_ne!(memory.learn(&few, false), few.estimate(false), "now there is");

    // Warm pages that nobody touches any more are cold in the very next epoch.
    let mut memory = Evidence::default();
    let mut warm = Evidence::default();
    warm.note(300, 60, MS, MS, true);
    memory.learn(&warm, true);
    let mut cold = Evidence::default();
    cold.note(300, 0, MS, MS, true);
    cold.note(300, 0, 4_000 * MS, 4_001 * MS, false);
    assert_eq!(memory.learn(&cold, true), Estimate::Unseen);
}

#[test]
fn always_seen_is_a_lower_bound_and_never_seen_is_said() {
    let mut hot = Evidence::default();
    hot.note(1, 1, 5_000, 5_000, true);
    let Estimate::AtLeast(once) = hot.estimate(false) else { panic!() };
    for _ in 0..9 {
        hot.note(1, 1, 5_000, 5_000, true);
    }
    let Estimate::AtLeast(ten) = hot.estimate(false) else { panic!() };
    assert!(once > 1e5 && ten > 2.0 * once, "{once} {ten}");

    let mut cold = Evidence::default();
    cold.note(512, 0, MS, MS, true);
    assert_eq!(cold.estimate(true), Estimate::Unseen);
    assert_eq!(Evidence::default().estimate(true), Estimate::Nothing);
}
