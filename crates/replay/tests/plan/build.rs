//! Curves made by hand: units in the order in which a policy would place them.

use pagetide_machine::Machine;
use pagetide_replay::{
    Curve, Heatmap, Plan, PlanInput, PlanOptions, PolicyCurve, RecordingFacts, Role, WarmUp, plan,
};
use pagetide_types::{Bytes, UnitSize};

pub(crate) const SECONDS: f64 = 60.0;
const EPOCHS: u32 = 12;

/// One unit of 2 MiB.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Unit {
    pub(crate) rate: f64,
    pub(crate) saturated: bool,
    pub(crate) unseen: bool,
}

/// `hot` units at `rate`, then cold ones touched `colder` times more rarely, `all` in total.
pub(crate) fn hot_cold(hot: usize, all: usize, rate: f64, colder: f64) -> Vec<Unit> {
    (0..all)
        .map(|i| Unit { rate: if i < hot { rate } else { rate / colder }, ..Unit::default() })
        .collect()
}

/// The curve of a policy that places the units in this order and never moves one.
pub(crate) fn curve(policy: &str, units: &[Unit]) -> Curve {
    let sums = |value: &dyn Fn(&Unit) -> f64| {
        let mut sum = 0.0;
        let mut sums = vec![0.0];
        sums.extend(units.iter().map(|unit| {
            sum += value(unit);
            sum
        }));
        sums
    };
    let fast_accesses = sums(&|u| u.rate * SECONDS);
    let fast_saturated = sums(&|u| if u.saturated { u.rate * SECONDS } else { 0.0 });
    let fast_unseen_bound = sums(&|u| if u.unseen { f64::from(EPOCHS) } else { 0.0 });
    let n = units.len();
    Curve {
        policy: policy.into(),
        step: Bytes::mib(2),
        epochs: EPOCHS,
        seconds: SECONDS,
        accesses: fast_accesses[n],
        saturated: fast_saturated[n],
        unseen_bound: fast_unseen_bound[n],
        accessed_units: n as u64 * u64::from(EPOCHS),
        fast_accessed_units: (0..=n as u64).map(|i| i * u64::from(EPOCHS)).collect(),
        promoted: vec![0; n + 1],
        demoted: vec![0; n + 1],
        fast_accesses,
        fast_saturated,
        fast_unseen_bound,
        one_unit_in: 1,
        ..Curve::default()
    }
}

pub(crate) fn candidate(curve: Curve) -> PolicyCurve {
    made(curve, Role::Candidate)
}

pub(crate) fn bound(curve: Curve) -> PolicyCurve {
    made(curve, Role::Bound)
}

fn made(curve: Curve, role: Role) -> PolicyCurve {
    PolicyCurve { curve, about: "made by hand".into(), role, told: Vec::new(), figures: &[] }
}

/// Facts that fit the first curve; one core busy, 2 MiB pages.
pub(crate) fn input(curves: Vec<PolicyCurve>) -> PlanInput {
    let first = &curves[0].curve;
    let n = first.fast_accesses.len().saturating_sub(1);
    let share = |part: f64, whole: f64| if whole > 0.0 { part / whole } else { 0.0 };
    PlanInput {
        facts: RecordingFacts {
            name: "x.heat".into(),
            target: "./program --size 1G".into(),
            unit: UnitSize::Huge,
            epoch_s: 5.0,
            epochs: first.epochs as usize,
            evaluated_epochs: first.epochs as usize,
            seconds: first.seconds,
            units: n,
            footprint_bytes: first.capacity(n),
            accesses_per_s: share(first.accesses, first.seconds),
            saturated_share: share(first.saturated, first.accesses),
            watched_share: 1.0,
            huge_share: 1.0,
            target_cores: 1.0,
            ..RecordingFacts::default()
        },
        warm_up: WarmUp::default(),
        curves,
        heatmap: Heatmap::default(),
        areas: Vec::new(),
        replicates: None,
    }
}

#[expect(clippy::unwrap_used, reason = "a machine of ours")]
pub(crate) fn cxl() -> Machine {
    Machine::load(Machine::DEFAULT).unwrap()
}

pub(crate) fn plan_units(units: &[Unit]) -> Plan {
    let curves = vec![candidate(curve("rate", units))];
    plan(input(curves), &cxl(), &PlanOptions::default())
}

/// `a` within `part` of `b`.
pub(crate) fn near(a: Bytes, b: f64, part: f64) -> bool {
    (a.as_f64() - b).abs() <= part * b
}
