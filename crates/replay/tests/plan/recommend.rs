//! Recommendations whose right answer is known, and the cases in which there is none.

use crate::build::{Unit, bound, candidate, curve, cxl, hot_cold, input, near, plan_units};
use pagetide_replay::{
    Certainty, Plan, PlanOptions, Share, Sharer, Weighting, percent_exactly, plan, split,
};
use pagetide_types::Bytes;
use proptest::prelude::*;

/// Units that may miss for 5 % at a latency ratio of 2.5: the target over 1.5.
const MISS: f64 = 0.05 / 1.5;

/// Bytes that a perfect order needs for a miss share of [`MISS`].
fn truth(units: &[Unit]) -> f64 {
    let all: f64 = units.iter().map(|u| u.rate).sum();
    let (mut left, mut missed) = (0.0, 0.0);
    for unit in units.iter().rev() {
        let room = (MISS * all - missed) / unit.rate;
        if room < 1.0 {
            left += room;
            break;
        }
        missed += unit.rate;
        left += 1.0;
    }
    (units.len() as f64 - left) * Bytes::mib(2).as_f64()
}

#[test]
fn a_hot_set_of_known_size_is_found() {
    for (hot, colder) in [(50, 1000.0), (200, 20.0), (400, 100.0), (800, 20.0)] {
        let units = hot_cold(hot, 1000, 2000.0, colder);
        let plan = plan_units(&units);
        let answer = plan.recommendation.unwrap_or_else(|| panic!("{:?}", plan.why_not));
        let unit = Bytes::mib(2).as_f64();
        let off = answer.fast_bytes.as_f64() - truth(&units);
        assert!((0.0..=unit).contains(&off), "{hot} {colder}: {answer:?}");
        assert_eq!(answer.certainty, Certainty::Estimate);
        assert!(answer.slowdown.high <= 0.05 && answer.slowdown.low <= answer.slowdown.high);
        assert!(near(plan.policies[0].knee_bytes, hot as f64 * 2097152.0, 0.01));
        assert!(plan.policies[0].points.len() <= 256);
        assert_eq!(plan.policies[0].points[0].fast_bytes, Bytes(0));
        assert_eq!(plan.policies[0].points.last().unwrap().fast_bytes, Bytes::mib(2000));
    }
}

#[test]
fn the_example_of_the_documentation() {
    // docs/cost.md: 200 MiB hot in 1 GiB, the rest 20 or 100 times colder.
    for (colder, mib) in [(20.0, 863.2), (100.0, 329.9)] {
        let need = plan_units(&hot_cold(100, 512, 3000.0, colder)).recommendation.unwrap();
        assert!((need.fast_bytes.as_f64() / Bytes::mib(1).as_f64() - mib).abs() < 2.0, "{need:?}");
    }
}

#[test]
fn three_noisy_recordings_agree() {
    // Zipf-like heat, every rate off by up to 20 % by its own dice.
    let size = |seed: u64| {
        let mut state = seed;
        let mut dice = || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            0.8 + 0.4 * ((state >> 33) as f64 / f64::from(1u32 << 31))
        };
        let mut units: Vec<Unit> = (1..=2000)
            .map(|i| Unit { rate: 1e5 / f64::from(i) * dice(), ..Unit::default() })
            .collect();
        units.sort_by(|a, b| b.rate.total_cmp(&a.rate));
        plan_units(&units).recommendation.unwrap().fast_bytes.as_f64()
    };
    let sizes = [size(1), size(2), size(3)];
    let (least, most) =
        (sizes.iter().copied().fold(f64::MAX, f64::min), sizes.iter().copied().fold(0.0, f64::max));
    assert!(most / least < 1.05, "{sizes:?}");
}

#[test]
fn saturation_gives_an_upper_bound_that_holds() {
    // 300 hot units at 400,000 per second, measured as 20,000; the rest right.
    let truth = truth(&hot_cold(300, 1000, 4e5, 300.0));
    let mut seen = hot_cold(300, 1000, 4e5, 300.0);
    for unit in &mut seen[..300] {
        *unit = Unit { rate: 2e4, saturated: true, unseen: false };
    }
    let plan = plan_units(&seen);
    let answer = plan.recommendation.unwrap();
    assert_eq!(answer.certainty, Certainty::UpperBound);
    assert!(answer.fast_bytes.as_f64() >= truth, "{answer:?}");
    assert!(answer.fast_bytes_low.as_f64() <= truth, "{answer:?}");
    let low = format!("as little as {} may do", answer.fast_bytes_low);
    assert!(answer.sentence.contains(&low), "{}", answer.sentence);
    assert!(answer.sentence.contains("is an upper bound"), "{}", answer.sentence);
    assert!(answer.sentence.ends_with("of the memory traffic went to units too hot to measure."));
}

#[test]
fn an_estimate_of_units_too_hot_to_measure_says_what_it_relies_on() {
    let mut units = hot_cold(100, 1000, 2e4, 1e6);
    let plain = plan_units(&units).recommendation.unwrap();
    assert!(plain.certainty == Certainty::Estimate && !plain.sentence.contains("alike"));
    units[..100].iter_mut().for_each(|unit| unit.saturated = true);
    let answer = plan_units(&units).recommendation.unwrap();
    assert_eq!(answer.certainty, Certainty::Estimate, "both readings agree: {answer:?}");
    let said = "if units too hot to measure (100 % of the memory traffic) are alike.";
    assert!(answer.sentence.ends_with(said), "{}", answer.sentence);
}

#[test]
fn one_rule_says_how_sure_an_answer_is_however_much_is_saturated() {
    // A tenth of the units saturated, with a growing share of what was measured, and the rest
    // alike: the harshest reading needs less and less, the kindest always just the hot units.
    let (mut bounds, mut none, mut last) = (0, 0, Bytes(u64::MAX));
    for colder in [0.6, 1.0, 3.0, 10.0, 30.0, 100.0, 170.0, 250.0] {
        let mut units = hot_cold(100, 1000, 200.0, colder);
        units[..100].iter_mut().for_each(|unit| unit.saturated = true);
        let plan = plan_units(&units);
        let share = plan.recording.saturated_share;
        let need = plan.policies[0].fast_bytes.unwrap();
        assert!(need <= last, "{colder}: {need} after {last}");
        last = need;
        let nearly_all = need.as_f64() >= 0.9 * plan.recording.footprint_bytes.as_f64();
        match (&plan.recommendation, &plan.why_not) {
            (Some(answer), None) => {
                assert!(!nearly_all, "{share}: {answer:?}");
                assert_eq!(answer.certainty, Certainty::UpperBound, "{share}");
                assert!(answer.sentence.contains("is an upper bound"), "{}", answer.sentence);
                bounds += 1;
            }
            (None, Some(why_not)) => {
                assert!(nearly_all, "{share}: {why_not}");
                let bound = format!("between {} and {need}", Bytes::mib(2 * 97));
                for said in ["too saturated to tell", &bound, "the upper bound is nearly all"] {
                    assert!(why_not.contains(said), "{share}, no '{said}' in {why_not}");
                }
                none += 1;
            }
            other => panic!("{other:?}"),
        }
    }
    assert!(bounds >= 2 && none >= 2, "both outcomes are met: {bounds}, {none}");
}

#[test]
fn what_ignores_the_budget_needs_all_of_the_memory() {
    let units = hot_cold(100, 1000, 2e4, 100.0);
    let mut all_fast = curve("all-fast", &units);
    all_fast.fast_accesses.fill(all_fast.accesses);
    let curves = vec![candidate(curve("rate", &units)), bound(all_fast)];
    let plan = plan(input(curves), &cxl(), &PlanOptions::default());
    assert_eq!(plan.policies[1].fast_bytes, Some(plan.recording.footprint_bytes));
}

#[test]
fn without_an_answer_the_best_policy_is_shown() {
    let units = hot_cold(100, 1000, 2e4, 10.0);
    let mut worse = units.clone();
    worse.rotate_left(500);
    let shown = |epochs| {
        let mut curves = [curve("rate", &units), curve("amp", &worse)];
        curves.iter_mut().for_each(|curve| curve.epochs = epochs);
        let plan = plan(input(curves.map(candidate).into()), &cxl(), &PlanOptions::default());
        (plan.recommendation.is_some(), plan.shown_policy().map(|policy| policy.policy.clone()))
    };
    assert_eq!(shown(12), (true, Some("rate".into())), "the recommended one");
    assert_eq!(shown(2), (false, Some("rate".into())), "too short: the one that needs least");
}

/// `lru` needs 600 units and serves next to nothing with less, `rate` serves nine tenths with 90 and the rest with 900.
#[test]
fn far_from_the_recommended_size_the_policy_is_named_that_is_best_there() {
    let units = hot_cold(100, 1000, 2e4, 1000.0);
    let (hot, cold) = units.split_at(100);
    let late = curve("lru", &[&cold[..500], hot, &cold[500..]].concat());
    let apart = curve("rate", &[&hot[..90], &cold[..800], &hot[90..], &cold[800..]].concat());
    let plan = plan(input([late, apart].map(candidate).into()), &cxl(), &PlanOptions::default());
    assert_eq!(plan.shown_policy().unwrap().policy, "lru");
    for (units, policy) in [(100, "rate"), (700, "lru")] {
        let said = plan.sentence_at(Bytes::mib(2 * units)).unwrap();
        assert!(said.contains(&format!("under the policy {policy}")), "{said}");
        let fast = Bytes::mib(2 * units);
        let alone = split(&[Sharer::of(&plan)], fast, Weighting::Equal, Share::Equal);
        assert_eq!(alone.parts[0].policy, policy, "as in JSON");
    }
}

/// A curve is shown by some hundred points; the recommended size lies between two of them.
#[test]
fn with_just_as_much_as_is_recommended_the_target_is_kept() {
    for hot in [2000, 2011, 2023] {
        let plan = plan_units(&hot_cold(hot, 10_000, 2e4, 1000.0));
        let need = plan.recommendation.as_ref().unwrap().fast_bytes;
        let point = plan.policy_at(need).and_then(|policy| policy.at(need)).unwrap();
        assert!(point.slowdown.high <= plan.target_slowdown, "{hot}: {point:?}");
    }
}

#[test]
fn what_is_said_of_far_less_than_is_needed_is_called_rough_where_traffic_was_sampled() {
    let caveats = |sampled: bool, percent: u64| {
        let hot = candidate(curve("rate", &hot_cold(300, 1000, 2e4, 1000.0)));
        let mut input = input(vec![hot]);
        input.facts.cache_per_core = Bytes::mib(2 * u64::from(sampled));
        let plan = plan(input, &cxl(), &PlanOptions::default());
        let need = plan.recommendation.as_ref().unwrap().fast_bytes;
        plan.said_at(Bytes(need.0 * percent / 100)).caveats
    };
    assert!(caveats(true, 50)[0].starts_with("for less than is needed this is rough"));
    assert_eq!(caveats(true, 95), [""; 0]);
    assert_eq!(caveats(false, 50), [""; 0], "exact counts are exact");
}

#[test]
fn a_target_is_said_with_the_digits_that_it_has() {
    assert_eq!(
        [0.05, 0.0005, 0.0225, 0.07, 1.0].map(percent_exactly),
        ["5 %", "0.05 %", "2.25 %", "7 %", "100 %"]
    );
    let options = PlanOptions { target_slowdown: 0.0005, ..PlanOptions::default() };
    let curves = vec![candidate(curve("rate", &hot_cold(50, 1000, 2e4, 1000.0)))];
    let answer = plan(input(curves), &cxl(), &options).recommendation.unwrap();
    assert!(answer.sentence.contains("within 0.05 % under"), "{}", answer.sentence);
}

#[test]
fn too_saturated_and_too_little_observed_are_said() {
    let mut units = hot_cold(100, 1000, 2e4, 10.0);
    for unit in &mut units[..100] {
        unit.saturated = true;
    }
    let plan = plan_units(&units);
    assert!(plan.recommendation.is_none());
    assert!(plan.why_not.unwrap().contains("too saturated to tell"));

    let mut units = hot_cold(100, 1000, 1.0, 1.0);
    for unit in &mut units[100..] {
        *unit = Unit { unseen: true, ..Unit::default() };
    }
    let plan = plan_units(&units);
    let why_not = plan.why_not.unwrap();
    assert!(why_not.contains("too little observed to tell"), "{why_not}");
}

#[test]
fn a_policy_that_would_do_better_if_the_hottest_were_known_makes_it_unknown() {
    // 13 hot units of which a twentieth is measured, all the rest cold: a policy that knows no hot
    // and cold needs nearly all however they are counted; one that does would need 13 units.
    let mut units = hot_cold(13, 256, 250_000.0, 20.0);
    units[..13].iter_mut().for_each(|unit| unit.saturated = true);
    let ordered = curve("rate", &units);
    let mut blind = ordered.clone();
    blind.policy = "random".to_owned();
    for i in 0..=256 {
        blind.fast_accesses[i] = blind.accesses * i as f64 / 256.0;
        blind.fast_saturated[i] = blind.saturated * i as f64 / 256.0;
    }
    let plan =
        plan(input(vec![candidate(blind), candidate(ordered)]), &cxl(), &PlanOptions::default());
    assert!(plan.why_not.unwrap().contains("too saturated to tell"), "{:?}", plan.recommendation);
}

#[test]
fn what_fits_into_the_caches_needs_no_plan() {
    let mut idle = input(vec![candidate(curve("rate", &hot_cold(5, 10, 0.0, 1.0)))]);
    (idle.facts.cached_share, idle.facts.cache_per_core) = (1.0, Bytes::mib(2));
    let why_not = plan(idle, &cxl(), &PlanOptions::default()).why_not.unwrap();
    assert!(why_not.contains("fits into the CPU caches"), "{why_not}");
}

#[test]
fn what_is_too_little_to_plan_on_is_answered_in_words() {
    let normal = curve("rate", &hot_cold(5, 10, 1000.0, 100.0));
    let mut short = normal.clone();
    short.epochs = 1;
    short.seconds = 5.0;
    let mut never = normal;
    never.promoted = vec![u64::MAX >> 8; 11];
    let mut brief = curve("rate", &hot_cold(5, 10, 1000.0, 100.0));
    brief.seconds = 2.4;
    for (curve, words) in [
        (short.clone(), "too short to tell: 1 epoch was"),
        (short, "at least 3 of 5 s each"),
        (brief, "2.4 s were evaluated, and a plan needs 10 s at least"),
        (curve("rate", &[]), "no memory"),
        (curve("rate", &[Unit::default()]), "no access was seen"),
        (never, "no policy keeps"),
    ] {
        let plan = plan(input(vec![candidate(curve)]), &cxl(), &PlanOptions::default());
        assert!(plan.recommendation.is_none());
        let why_not = plan.why_not.unwrap();
        assert!(why_not.contains(words), "{why_not}");
    }
    let mut exact = curve("rate", &hot_cold(5, 10, 1000.0, 100.0));
    exact.epochs = 1;
    let mut exact = input(vec![candidate(exact)]);
    exact.facts.source = pagetide_trace::Source::Exact;
    let why_not = plan(exact, &cxl(), &PlanOptions::default()).why_not.unwrap();
    assert!(why_not.contains("record for longer: times are the program's own"), "{why_not}");
    // Three epochs of a second would be refused as well: what is asked for is what is enough.
    let mut seconds = curve("rate", &hot_cold(5, 10, 1000.0, 100.0));
    (seconds.epochs, seconds.seconds) = (2, 2.0);
    let mut seconds = input(vec![candidate(seconds)]);
    seconds.facts.epoch_s = 1.0;
    let why_not = plan(seconds, &cxl(), &PlanOptions::default()).why_not.unwrap();
    assert!(why_not.contains("at least 10 s in epochs of 1 s after"), "{why_not}");
    let one = plan_units(&[Unit { rate: 1e4, ..Unit::default() }]).recommendation.unwrap();
    assert_eq!(one.fast_bytes, Bytes::mib(2));
    let mut uncleared = input(vec![candidate(curve("rate", &hot_cold(5, 10, 1000.0, 100.0)))]);
    uncleared.facts.uncleared_share = 0.6;
    let why_not = plan(uncleared, &cxl(), &PlanOptions::default()).why_not.unwrap();
    assert!(
        why_not.contains("cannot be cleared") && why_not.contains("--clear-shared"),
        "{why_not}"
    );
    // Of what is unknown nobody can say that it is idle, or that the caches hold it.
    for cached_share in [0.0, 1.0] {
        let mut idle = input(vec![candidate(curve("rate", &[Unit::default()]))]);
        (idle.facts.uncleared_share, idle.facts.cached_share) = (0.9, cached_share);
        let why_not = plan(idle, &cxl(), &PlanOptions::default()).why_not.unwrap();
        assert!(why_not.contains("cannot be cleared"), "{why_not}");
    }
    let bounds = input(vec![bound(curve("clairvoyant", &hot_cold(5, 10, 1000.0, 100.0)))]);
    let why_not = plan(bounds, &cxl(), &PlanOptions::default()).why_not.unwrap();
    assert!(why_not.contains("is a bound") && why_not.contains("rate"), "{why_not}");
}

/// Sums of the same numbers in another order differ in their last bit.
#[test]
fn fast_memory_serves_no_more_than_all_accesses() {
    let mut rounded = curve("rate", &hot_cold(5, 10, 1000.0, 100.0));
    rounded.accesses *= 1.0 - f64::EPSILON;
    assert!(rounded.fast_accesses[10] > rounded.accesses);
    assert!((0..=10).all(|i| rounded.hit_ratio(i) <= 1.0));
}

/// A recording without an evaluated epoch has no accesses in any: that it is too short is why.
#[test]
fn of_several_reasons_that_nothing_can_be_compared_the_first_cause_is_told() {
    let mut empty = input(vec![candidate(curve("rate", &[]))]);
    (empty.facts.epochs, empty.facts.evaluated_epochs) = (1, 0);
    let planned = |input| plan(input, &cxl(), &PlanOptions::default());
    let why = |plan: Plan| plan.nothing_to_compare().unwrap_or_default();
    assert!(why(planned(empty)).contains("record for longer"));
    assert!(why(planned(input(vec![candidate(curve("rate", &[]))]))).contains("no memory"));
    let idle = input(vec![candidate(curve("rate", &[Unit::default()]))]);
    assert!(why(planned(idle)).contains("no access was seen"));
    let told = planned(input(vec![candidate(curve("rate", &hot_cold(5, 10, 1000.0, 100.0)))]));
    assert_eq!(told.nothing_to_compare(), None);
}

#[test]
fn the_simpler_of_two_equals_and_never_a_bound() {
    let units = hot_cold(300, 1000, 2000.0, 200.0);
    let mut worse = units.clone();
    worse.rotate_right(100);
    let curves = |first: &[Unit], second: &[Unit]| {
        let (first, second) = (curve("first-touch", first), curve("rate", second));
        vec![
            candidate(first),
            candidate(second),
            bound(curve("clairvoyant", &hot_cold(1, 1000, 1e6, 1e6))),
        ]
    };
    let answer = |c| plan(input(c), &cxl(), &PlanOptions::default()).recommendation.unwrap();
    assert_eq!(answer(curves(&units, &units)).policy, "first-touch");
    assert_eq!(answer(curves(&worse, &units)).policy, "rate");
}

#[test]
fn a_dip_before_thrashing_is_not_taken() {
    // Moves that make 600 to 700 units worse than 500: the answer lies past them.
    let mut curve = curve("lru", &hot_cold(400, 1000, 2000.0, 1000.0));
    for i in 600..700 {
        curve.promoted[i] = Bytes::gib(100).0;
    }
    let answer = plan(input(vec![candidate(curve)]), &cxl(), &PlanOptions::default());
    let fast = answer.recommendation.unwrap().fast_bytes;
    assert!(fast > Bytes::mib(2 * 699) && fast <= Bytes::mib(2 * 700), "{fast}");
}

proptest! {
    #[test]
    fn a_looser_target_never_needs_more(
        hot in 1usize..99,
        colder in 1.0..1000.0f64,
        tight in 0.001..0.5f64,
        looser in 1.0..3.0f64,
    ) {
        let units = hot_cold(hot, 100, 5e4, colder);
        let need = |target_slowdown| {
            let options = PlanOptions { target_slowdown, ..PlanOptions::default() };
            plan(input(vec![candidate(curve("rate", &units))]), &cxl(), &options).policies[0].fast_bytes
        };
        prop_assert!(need(tight * looser).unwrap() <= need(tight).unwrap());
    }
}

#[test]
fn an_answer_of_nearly_all_memory_says_why_where_heat_is_spread() {
    let says = |units: &[Unit]| {
        let said = plan_units(units).said.stands_on;
        said.iter().any(|clause| clause.contains("scattered among what is not"))
    };
    let even = vec![Unit { rate: 1e6, ..Unit::default() }; 100];
    assert!(says(&even));
    assert!(!says(&hot_cold(10, 100, 1e6, 1e6)), "a tenth is hot, and the answer small");
}
