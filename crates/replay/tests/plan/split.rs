//! What a part of fast memory brings is what a plan says of so much.

use crate::build::{candidate, curve, cxl, hot_cold, input};
use pagetide_replay::{Plan, PlanOptions, Share, Sharer, Weighting, plan, split};
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
