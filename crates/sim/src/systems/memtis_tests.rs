//! What MEMTIS finds, what it leaves alone, what it keeps free, and what it takes.

use super::super::hint_scenarios::{STREAM, TRIAL, Trial};

const GIB: f64 = 1_073_741_824.0;
const UNIFORM: &str = "kind = \"uniform\"";
/// Two hot sets of 3 GiB, for 240 s each.
const MOVING: &str = "kind = \"regions\", init = \"interleaved\", part = [\
    { name = \"one\", from = 0, to = 0.1875, weight = 1, walk = \"random\" }, \
    { name = \"other\", from = 0.1875, to = 0.375, weight = 1, walk = \"random\" }, \
    { name = \"rest\", from = 0.375, to = 1, weight = 1e-4, walk = \"random\" }], \
    phase = [{ seconds = 240, weights = { other = 1e-4 } }, { seconds = 240, weights = { one = 1e-4 } }]";
const LONG: Trial<'static> = Trial { seconds: 240.0, ..TRIAL };

#[test]
fn what_was_sampled_as_hot_becomes_fast() {
    for huge in [false, true] {
        let found = Trial { huge, ..LONG }.under("memtis");
        assert!(found.fast_share > 0.98, "{found:?}");
        // Of 3 GiB a third was fast, of huge pages less; little else goes up.
        let up = found.promoted as f64 / GIB;
        assert!((1.9..2.9).contains(&up), "{up} GiB");
    }
}

#[test]
fn another_hot_set_takes_the_place_of_the_first_once_that_has_cooled() {
    let trial = Trial { pattern: MOVING, seconds: 480.0, ..TRIAL };
    let (still, found) = (trial.under("no-migration"), trial.under("memtis"));
    assert!(still.fast_share < 0.3, "{still:?}");
    assert!(found.fast_share > 0.6, "{found:?}");
}

#[test]
fn what_has_no_hot_set_moves_a_little_and_loses_next_to_nothing() {
    for pattern in [UNIFORM, STREAM] {
        let trial = Trial { pattern, ..LONG };
        let (still, found) = (trial.under("no-migration"), trial.under("memtis"));
        let lost = 1.0 - found.accesses_per_s / still.accesses_per_s;
        assert!((0.0..0.03).contains(&lost), "{lost}");
        // Some pages are sampled twice before others are once.
        let up = found.promoted as f64 / GIB / trial.seconds;
        assert!((0.01..0.1).contains(&up), "{up} GiB/s");
    }
}

#[test]
fn the_threshold_rises_until_what_is_hot_fits() {
    let outcome = Trial { pattern: UNIFORM, ..LONG }.outcome("memtis");
    let bins: Vec<f64> =
        outcome.decisions.iter().map(|log| log.observation.as_ref().unwrap().figures[0]).collect();
    // A base page that was sampled once is in bin 9, and counts as hot until such pages are more than
    // 97 % of a quarter of all: after 0.278 samples a page, 25 to 30 s of 40,000 to 46,000 a second.
    let rises = bins.iter().position(|bin| *bin > 1.0).unwrap();
    assert!((44..66).contains(&rises) && bins[rises] == 10.0, "{rises}: {bins:?}");
    assert!(bins[rises..].iter().all(|bin| (9.0..12.0).contains(bin)), "{bins:?}");
}

#[test]
fn three_hundredths_of_fast_memory_are_kept_free() {
    let outcome = Trial { pattern: UNIFORM, ..LONG }.outcome("memtis");
    let scaled = 4.0 * GIB / 256.0;
    let fast: Vec<f64> = outcome.decisions.iter().map(|log| log.fast as f64 / scaled).collect();
    assert!(fast.len() > 400 && fast[0] > 0.99, "two in a second: {}", fast.len());
    // Once the first round of demotion has ended. Room for what is to go up is made before.
    let (least, most) = fast[100..]
        .iter()
        .fold((1.0, 0.0), |(least, most): (f64, f64), fast| (least.min(*fast), most.max(*fast)));
    assert!(most < 0.9705 && least > 0.9, "{least} to {most}");
}

#[test]
fn where_nothing_goes_up_demotion_begins_at_two_hundredths() {
    let demoted = |fast| Trial { fast, ..TRIAL }.under("memtis").demoted as f64 / GIB;
    // 16 GiB of 16.4 leave 2.4 % free, of 16.2 they leave 1.2 %.
    assert_eq!(demoted("16.4G"), 0.0);
    let found = demoted("16.2G");
    assert!((found - (16.0 - 16.2 * 0.97)).abs() < 0.01, "{found}");
}

#[test]
fn where_all_memory_is_fast_nothing_moves_and_sampling_takes_its_share() {
    let all = Trial { fast: "20G", ..TRIAL };
    let (right, found) = (all.under("all-fast"), all.outcome("memtis"));
    let of = &found.tenants[0];
    assert_eq!((of.promoted, of.demoted, of.fast_share), (0, 0, 1.0));
    assert!((of.accesses_per_s / right.accesses_per_s - 1.0).abs() < 1e-3, "{of:?}");
    // By a spare core, and within what it may take in the 40 s that count.
    assert!((0.025..0.04).contains(&found.kernel_cores), "{found:?}");
}

#[test]
fn without_spare_cores_the_program_waits_for_what_the_kernel_does() {
    let of = |spare_cores| Trial { pattern: UNIFORM, spare_cores, ..LONG }.outcome("memtis");
    let (with, without) = (of(2), of(0));
    assert!(with.stolen_cores < 0.02, "interrupts: {with:?}");
    assert!(without.stolen_cores > without.kernel_cores, "{without:?}");
    let rate = without.tenants[0].accesses_per_s / with.tenants[0].accesses_per_s;
    let right = (1.0 - without.stolen_cores) / (1.0 - with.stolen_cores);
    assert!((rate - right).abs() < 0.02, "{rate} for {right}");
}

#[test]
fn costly_samples_are_fewer_and_find_less_in_the_same_time() {
    let cheap = TRIAL.under("memtis").fast_share;
    let costly = Trial { keys: "sample_ns = 100000", ..TRIAL }.under("memtis").fast_share;
    assert!(costly < cheap - 0.1, "{costly}, {cheap}");
}

#[test]
fn the_same_seed_gives_the_same() {
    let outcome = TRIAL.under("memtis");
    assert_eq!(outcome, TRIAL.under("memtis"));
}
