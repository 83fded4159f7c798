//! Plans of programs whose future nobody can know from their past ask for what such a program
//! needs.

use crate::build::cxl;
use crate::recorded::record_begun;
use pagetide_replay::{Plan, PlanOptions, PolicyPlan, Role, all_policies, plan_recording};
use pagetide_types::Bytes;

/// The plan for a program that began with its recording (or before) and has `units` from the first
/// of `epochs` epochs on; which of them are `hot` when.
#[expect(clippy::unwrap_used, reason = "a test's own recording")]
fn planned(began: bool, epochs: u32, units: u32, hot: impl Fn(u32, u32) -> bool) -> Plan {
    let folder = tempfile::tempdir().unwrap();
    let rate = |epoch, unit| if hot(epoch, unit) { 1e4 } else { 0.0 };
    let recording = record_begun(&folder.path().join("a.heat"), began, 0..epochs, |_| units, rate);
    plan_recording(&recording, &all_policies(), &cxl(), &PlanOptions::default()).unwrap()
}

fn candidates(plan: &Plan) -> impl Iterator<Item = &PolicyPlan> {
    plan.policies.iter().filter(|policy| policy.role == Role::Candidate)
}

/// What a candidate asks for; all of the memory where it finds no amount to be enough.
fn needs(plan: &Plan) -> impl Iterator<Item = (&str, Bytes)> {
    let all = plan.recording.footprint_bytes;
    candidates(plan).map(move |p| (p.policy.as_str(), p.fast_bytes.unwrap_or(all)))
}

#[test]
fn two_phases_need_both_sets() {
    for began in [true, false] {
        // Attached, the first half teaches: two more phases follow.
        let phases = if began { 2 } else { 4 };
        let hot = |epoch: u32, unit: u32| {
            epoch > 0 && (unit < 100) == ((epoch - 1) / 6).is_multiple_of(2)
        };
        let plan = planned(began, 1 + 6 * phases, 200, hot);
        // A slowdown of 5 % allows 3.3 % of misses: 0.4 of an epoch of the 12 or 13. Who moves the
        // sets as they come misses 1 epoch whole, but for what it holds of both.
        for (policy, need) in needs(&plan) {
            assert!(need >= Bytes::mib(2 * 155), "{policy}: {need}");
        }
        let at = |policy: &PolicyPlan| {
            let far = |fast: Bytes| fast.0.abs_diff(Bytes::mib(208).0);
            policy.points.iter().min_by_key(|point| far(point.fast_bytes)).copied()
        };
        for policy in candidates(&plan) {
            let point = at(policy).unwrap_or_else(|| panic!("{}: no points", policy.policy));
            assert!(point.hit_ratio <= 0.93, "{}: {point:?}", policy.policy);
            assert!(point.slowdown.high > 0.05, "{}: {point:?}", policy.policy);
        }
    }
}

#[test]
fn a_staged_batch_needs_its_slabs_and_those_before_them() {
    // The last 12 of 24 slabs, two epochs each.
    let hot = |epoch: u32, unit: u32| epoch > 0 && unit / 4 == 12 + (epoch - 1) / 2;
    let plan = planned(true, 25, 96, hot);
    // An epoch that is missed is a 24th of all, and a 30th may be.
    for (policy, need) in needs(&plan) {
        assert!(need >= Bytes::mib(2 * 4 * 22), "{policy}: {need}");
    }
}

#[test]
fn a_loop_needs_all_of_it() {
    let hot = |epoch: u32, unit: u32| unit / 4 == epoch % 8;
    for began in [true, false] {
        let plan = planned(began, 49, 32, hot);
        for (policy, need) in needs(&plan) {
            assert!(need >= Bytes::mib(2 * 29), "{policy}: {need}");
        }
    }
}
