//! What a part of fast memory brings is what a plan says of so much.

use crate::build::{candidate, curve, cxl, hot_cold, input};
use pagetide_replay::{
    Band, Part, Plan, PlanOptions, Share, Sharer, Weighting, percents, plan, split,
};
use pagetide_types::Bytes;

const SHARES: [Share; 3] = [Share::Equal, Share::Weighted, Share::Utility];

/// Of 1,000 units: `lru` needs 600 and serves next to nothing with less, `rate` serves nine tenths with 90 and the rest with 900.
fn crossing() -> Plan {
    let units = hot_cold(100, 1000, 2e4, 1000.0);
    let (hot, cold) = units.split_at(100);
    let late = curve("lru", &[&cold[..500], hot, &cold[500..]].concat());
    let apart = curve("rate", &[&hot[..90], &cold[..800], &hot[90..], &cold[800..]].concat());
    plan(input([late, apart].map(candidate).into()), &cxl(), &PlanOptions::default())
}

#[test]
fn a_part_is_run_under_the_policy_that_a_plan_names_for_so_much() {
    let (crossing, even) = (crossing(), {
        let curves = vec![candidate(curve("rate", &hot_cold(300, 1000, 2e4, 20.0)))];
        plan(input(curves), &cxl(), &PlanOptions::default())
    });
    let sharers = [Sharer::of(&crossing), Sharer::of(&even)];
    let mut named = Vec::new();
    for (units, share) in (0..2000).step_by(37).flat_map(|u| SHARES.map(|share| (u, share))) {
        let fast = Bytes::mib(2 * units);
        let done = split(&sharers, fast, Weighting::MemoryTime, share);
        for (part, plan) in done.parts.iter().zip([&crossing, &even]) {
            let alone = plan.policy_at(part.fast_bytes).unwrap();
            let slowdown = alone.at(part.fast_bytes).unwrap().slowdown;
            assert_eq!((&part.policy, part.slowdown), (&alone.policy, slowdown), "{part:?}");
            named.push(part.policy.clone());
        }
    }
    assert!(named.contains(&"lru".to_owned()), "none came to its recommendation");
}

/// Moves cost more with some sizes than with less.
fn rough() -> Plan {
    let mut rough = curve("rate", &hot_cold(300, 1000, 2e4, 20.0));
    (0..rough.promoted.len()).filter(|i| i % 7 < 3).for_each(|i| rough.promoted[i] = 1 << 34);
    plan(input(vec![candidate(rough)]), &cxl(), &PlanOptions::default())
}

#[test]
fn one_alone_has_all_of_it_and_loses_what_the_text_says() {
    for (plan, units) in [crossing(), rough()].iter().flat_map(|p| (0..1100).map(move |u| (p, u))) {
        let fast = Bytes(Bytes::mib(2 * units).0 + 4096);
        for share in SHARES {
            let done = split(&[Sharer::of(plan)], fast, Weighting::MemoryTime, share);
            let part = &done.parts[0];
            assert_eq!((part.fast_bytes, done.unused_bytes), (fast, Bytes(0)));
            let said = percents(part.slowdown);
            let text = plan.sentence_at(fast).unwrap();
            assert!(text.contains(&format!("slowdown: {said} under the policy {}", part.policy)));
        }
    }
}

#[test]
fn the_mean_is_that_of_the_parts() {
    let sharers = [Sharer::of(&crossing()), Sharer::of(&rough())];
    for (units, share) in (0..2200).step_by(31).flat_map(|u| SHARES.map(|share| (u, share))) {
        let done = split(&sharers, Bytes::mib(2 * units), Weighting::MemoryTime, share);
        let mean = |of: fn(&Part) -> Band| {
            done.parts.iter().map(|part| part.weight * of(part).high).sum::<f64>()
        };
        let near = |said: f64, mean: f64| assert!((said - mean).abs() < 1e-12, "{said} {mean}");
        near(done.mean_slowdown, mean(|part| part.slowdown));
        near(done.mean_slowdown_equal, mean(|part| part.slowdown_equal));
        near(done.mean_slowdown_weighted, mean(|part| part.slowdown_weighted));
        near(done.mean_slowdown_utility, mean(|part| part.slowdown_utility));
        assert!(done.mean_slowdown_utility <= done.mean_slowdown_equal + 1e-12);
    }
}
