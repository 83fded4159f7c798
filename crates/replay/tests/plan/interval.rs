//! How far chance leaves a recommendation open.

use crate::build::{candidate, curve, cxl, hot_cold, input};
use pagetide_replay::{
    ByEpoch, EpochHits, PlanInput, PlanOptions, Recommendation, Replicates, Stretch, Traffic, plan,
};
use pagetide_trace::Source;

#[test]
fn chance_leaves_an_interval_and_a_longer_recording_a_narrower_one() {
    let units = hot_cold(300, 1000, 2000.0, 20.0);
    let plan_with = |replicates| {
        let input = PlanInput { replicates, ..input(vec![candidate(curve("rate", &units))]) };
        plan(input, &cxl(), &PlanOptions::default()).recommendation.unwrap()
    };
    let none = plan_with(None);
    assert_eq!(none.interval, None);
    assert!(!none.sentence.contains("between"), "{}", none.sentence);
    // Epochs in which none to 7 % of the accesses miss, and 12 of them.
    let epochs = |k: usize| -> Vec<EpochHits> {
        let fast = |i| 1.0 - [0.0, 0.033, 0.066][i % 3];
        (0..12 * k).map(|i| EpochHits { accesses: 1.0, fast: fast(i) }).collect()
    };
    let few = plan_with(Some(Replicates::Given(epochs(1))));
    let many = plan_with(Some(Replicates::Given(epochs(4))));
    let (wide, narrow) = (few.interval.unwrap(), many.interval.unwrap());
    assert_eq!((few.fast_bytes, many.fast_bytes), (none.fast_bytes, none.fast_bytes));
    assert!(wide.low < narrow.low && narrow.low < none.fast_bytes, "{wide:?} {narrow:?}");
    assert!(none.fast_bytes < narrow.high && narrow.high < wide.high, "{wide:?} {narrow:?}");
    let said = format!("(between {} and {}; ", wide.low, wide.high);
    assert!(few.sentence.contains(&said), "{}", few.sentence);
    let longer = |answer: &Recommendation| {
        answer.assumptions.iter().any(|a| a.contains("to know it within 10 % record"))
    };
    assert!(longer(&few), "{:?}", few.assumptions);
    assert!(!longer(&plan_with(Some(Replicates::Given(epochs(200))))));
    assert!(!longer(&none));
}

/// Counts of epochs that are all alike leave nothing open: a range from a size to the same size says nothing.
#[test]
fn an_interval_of_one_size_is_not_said() {
    let curves =
        ["lru", "rate"].map(|policy| candidate(curve(policy, &hot_cold(300, 1000, 2000.0, 20.0))));
    let epochs = vec![EpochHits { accesses: 1.0, fast: 0.97 }; 12];
    let mut input =
        PlanInput { replicates: Some(Replicates::Given(epochs)), ..input(curves.to_vec()) };
    input.facts.source = Source::Exact;
    let answer = plan(input, &cxl(), &PlanOptions::default()).recommendation.unwrap();
    let interval = answer.interval.unwrap();
    assert_eq!((interval.low, interval.high), (answer.fast_bytes, answer.fast_bytes));
    assert!(!answer.sentence.contains("between"), "{}", answer.sentence);
    assert!(answer.sentence.contains("(or rate: they are not told apart)"), "{}", answer.sentence);
}

#[test]
fn policies_within_the_interval_are_not_told_apart() {
    let needing =
        |policy: &str, units| candidate(curve(policy, &hot_cold(units, 1000, 2000.0, 1e5)));
    let fast = |i: usize| 1.0 - [0.0, 0.033, 0.066][i % 3];
    let epochs = (0..12).map(|i| EpochHits { accesses: 1.0, fast: fast(i) }).collect();
    // The first needs far more, the second 1.3 % more than the third: the interval is wider than that.
    let curves = vec![needing("first-touch", 800), needing("lru", 304), needing("rate", 300)];
    let input = PlanInput { replicates: Some(Replicates::Given(epochs)), ..input(curves) };
    let answer = plan(input, &cxl(), &PlanOptions::default()).recommendation.unwrap();
    assert_eq!(
        (answer.policy.as_str(), &answer.not_told_apart[..]),
        ("rate", &["lru".to_owned()][..])
    );
    let said = "under the policy rate (or lru: within that range they are not told apart)";
    assert!(answer.sentence.contains(said), "{}", answer.sentence);
}

#[test]
fn where_a_curve_is_flat_a_policy_that_slows_down_far_more_is_told_apart() {
    let cold = |colder: f64| hot_cold(100, 1000, 2000.0, colder);
    let even = hot_cold(1000, 1000, 218.0, 1.0);
    let fast = |i: usize| 1.0 - [0.0, 0.06, 0.12][i % 3];
    let epochs = (0..12).map(|i| EpochHits { accesses: 1.0, fast: fast(i) }).collect();
    let of = |policy: &str, units: &_| candidate(curve(policy, units));
    let curves = vec![of("first-touch", &even), of("lru", &cold(97.0)), of("rate", &cold(100.0))];
    let input = PlanInput { replicates: Some(Replicates::Given(epochs)), ..input(curves) };
    let planned = plan(input, &cxl(), &PlanOptions::default());
    let need = |policy: &str| {
        let row = planned.policies.iter().find(|row| row.policy == policy).unwrap();
        row.fast_bytes.unwrap()
    };
    let answer = planned.recommendation.as_ref().unwrap();
    let interval = answer.interval.unwrap();
    assert!(need("first-touch") <= interval.high && need("lru") <= interval.high, "{interval:?}");
    // With as much fast memory it would lose half of its speed, and every epoch shows it.
    assert_eq!((answer.policy.as_str(), &answer.not_told_apart[..]), ("rate", &["lru".into()][..]));
}

#[test]
fn the_curve_knows_its_epochs() {
    // Half of the memory fast serves 98, 96 and 97 of 100 accesses.
    let traffic = |accesses| Traffic { accesses, leads: accesses, ..Traffic::default() };
    let fast = [98.0, 96.0, 97.0].map(|fast| [traffic(0.0), traffic(fast), traffic(100.0)]);
    let mut curve = curve("rate", &hot_cold(2, 2, 1.0, 1.0));
    curve.fast_accesses = vec![0.0, 291.0, 300.0];
    (curve.accesses, curve.seconds) = (300.0, 3.0);
    curve.by_epoch = ByEpoch {
        at: vec![0, 1, 2],
        stretches: vec![Stretch { seconds: 1.0, all: traffic(100.0) }; 3],
        fast: fast.concat(),
    };
    let of = |replicates| {
        let mut input =
            PlanInput { replicates: Some(replicates), ..input(vec![candidate(curve.clone())]) };
        // Three seconds are enough where every access was counted.
        input.facts.source = Source::Exact;
        plan(input, &cxl(), &PlanOptions::default()).recommendation.unwrap().interval.unwrap()
    };
    let given = [98.0, 96.0, 97.0].map(|fast| EpochHits { accesses: 100.0, fast }).to_vec();
    assert_eq!(of(Replicates::Epochs), of(Replicates::Given(given)));
}
