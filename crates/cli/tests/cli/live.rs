//! `run` on a machine with one memory node, where nothing can be moved: what it answers, and dry
//! runs. Real moves are tried in the lab (`make test-lab`).

use crate::json::{are_documented, section};
use crate::run::{Outcome, PAGETIDE, pagetide, scratch, skip, turn};
use serde_json::Value;
use std::fs;

/// Whether this machine has one memory node; said aloud if not.
pub(crate) fn one_node(test: &str) -> bool {
    let online = fs::read_to_string("/sys/devices/system/node/online").unwrap_or_default();
    let one = !online.contains([',', '-']);
    if !one {
        skip(test, "this machine has several memory nodes");
    }
    one
}

#[test]
fn one_memory_node_is_answered_with_what_can_be_done() {
    if !one_node("one_memory_node_is_answered_with_what_can_be_done") {
        return;
    }
    let said = ["one memory node (0)", "nothing to move", "pagetide doctor", "--dry-run"];
    pagetide("run -- true").fails(4, &said);
    pagetide("run --dry-run -- true").fails(1, &["one memory node (0)", "--fast SIZE"]);
    pagetide("run --dry-run --fast 10% -- true").fails(1, &["--fast SIZE"]);
}

#[test]
fn what_cannot_be_run_is_named() {
    pagetide("run --policy clairvoyant -- true").fails(1, &["clairvoyant is a bound"]);
    pagetide("run --policy rat -- true").fails(1, &["'rat'", "did you mean 'rate'"]);
    pagetide("run --governor adaptiv -- true")
        .fails(1, &["unknown governor 'adaptiv'", "did you mean 'adaptive'"]);
    pagetide("run --governor gain:horizn=1 -- true").fails(1, &["did you mean 'horizon'"]);
    pagetide("run --fast-nodes 999 -- true").fails(1, &["node 999 does not exist"]);
    pagetide("run --epoch 100ms -- true").fails(2, &["'100ms' is too short", "200ms"]);
    pagetide("run --fast much -- true").fails(2, &["'much'", "25%"]);
    pagetide("run --fast 10 -- true").fails(2, &["'10' has no unit", "10G", "25%"]);
    pagetide("run --reserve 101% -- true").fails(2, &["101%"]);
    pagetide("run --machine x -- true").fails(1, &["no machine 'x'"]);
    pagetide("run").fails(2, &["after --", "--pid", "--cgroup"]);
}

/// A dry run of a program with a hot set, in epochs of half a second.
fn dry_run(options: &str) -> Outcome {
    let workload = "workload hot-cold --size 96M --hot 16M --rate 200000 --seconds 30";
    pagetide(&format!(
        "run -q --dry-run --fast 64M --epoch 500ms --for 3s {options} -- {PAGETIDE} {workload}"
    ))
}

#[test]
fn a_log_replaces_nothing_and_goes_if_nothing_was_written() {
    let test = "a_log_replaces_nothing_and_goes_if_nothing_was_written";
    let Some(_turn) = turn(test).filter(|_| one_node(test)) else { return };
    let scratch = scratch();
    let log = scratch.path().join("log.jsonl");
    let line = format!("run --dry-run --fast 64M --log {}", log.display());
    pagetide(&format!("{line} --pid 8388608")).fails(5, &["does not exist"]);
    assert!(!log.exists(), "an empty log was left behind");
    fs::write(&log, "precious").unwrap_or_default();
    pagetide(&format!("{line} -- true")).fails(1, &["log.jsonl already exists", "another file"]);
    assert_eq!(fs::read_to_string(&log).unwrap_or_default(), "precious");
}

#[test]
fn a_dry_run_decides_and_moves_nothing() {
    let test = "a_dry_run_decides_and_moves_nothing";
    let Some(_turn) = turn(test).filter(|_| one_node(test)) else { return };
    let scratch = scratch();
    let log = scratch.path().join("log.jsonl");
    let said = dry_run(&format!("--json --log {}", log.display())).succeeds().json();
    are_documented(&said, Some("refused"), section("run"));
    assert_eq!(said["dry_run"], Value::Bool(true));
    assert_eq!(said["moves"]["calls"], 0);
    let lines = fs::read_to_string(&log).unwrap_or_default();
    let lines: Vec<Value> =
        lines.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    assert_eq!(said["epochs"].as_u64(), Some(lines.len() as u64));
    for line in &lines {
        let amount = |key: &str| line[key].as_u64().unwrap_or(u64::MAX);
        assert!(amount("held") <= 64 << 20, "over the assumed size: {line}");
        assert!(amount("capacity") <= 64 << 20);
        assert_eq!(line["moves"], Value::Null);
    }
    let words = dry_run("").succeeds().out;
    for word in ["Dry run of", "nothing was moved", "of 64.0 MiB of fast memory"] {
        assert!(words.contains(word), "no '{word}' in {words}");
    }
}

#[test]
fn what_a_run_saw_is_a_recording_that_can_be_planned_with() {
    let test = "what_a_run_saw_is_a_recording_that_can_be_planned_with";
    let Some(_turn) = turn(test).filter(|_| one_node(test)) else { return };
    let scratch = scratch();
    let path = scratch.path().join("run.heat");
    let path = path.display();
    pagetide(&format!("run --dry-run --fast 64M --record {path} --pid 8388608"))
        .fails(5, &["does not exist"]);
    let said = dry_run(&format!("--json --record {path}")).succeeds().json();
    let info = pagetide(&format!("trace info --json {path}")).succeeds().json();
    assert_eq!(info["epochs"], said["epochs"]);
    pagetide(&format!("plan --json {path}")).succeeds();
    pagetide(&format!("run --dry-run --fast 64M --record {path} -- true"))
        .fails(1, &["run.heat already exists", "another file"]);
    // And a run can be held against its plan.
    let verified = &dry_run(&format!("--json --verify {path}")).succeeds().json()["verified"];
    let keys = verified.as_object().unwrap().keys();
    keys.for_each(|key| assert!(section("run").contains(&format!("`{key}`")), "{key}"));
    let share = |key: &str| verified[key].as_f64().filter(|share| (0.0..=1.0).contains(share));
    assert!(share("plan_share").is_some() && share("run_share").is_some(), "{verified}");
    assert!(verified["held"].as_u64() <= Some(64 << 20), "{verified}");
    let words = dry_run(&format!("--verify {path}")).succeeds().out;
    assert!(words.contains("Verified") && words.contains("the plan for"), "{words}");
    let begun = scratch.path().join("begun");
    let line = "run --dry-run --fast 64M --verify nothing.heat -- touch";
    pagetide(&format!("{line} {}", begun.display()))
        .fails(1, &["nothing.heat is not a recording", "--verify"]);
    assert!(!begun.exists(), "it began without a plan");
}

#[test]
fn the_bench_says_what_one_node_cannot_show() {
    let test = "the_bench_says_what_one_node_cannot_show";
    if !one_node(test) {
        return;
    }
    let outcome = pagetide("bench migrate --size 4M --rounds 1 --page-size 4K --json");
    if outcome.code != Some(0) {
        return skip(test, &outcome.err);
    }
    let table = outcome.json();
    let text = section("bench migrate");
    let cells = ["bytes", "seconds"].map(|key| format!("`{key}`"));
    assert!(cells.iter().all(|cell| text.contains(cell)), "keys of rows that are not there");
    are_documented(&table, None, text);
    let lines = table["lines"].as_array().map_or(&[][..], Vec::as_slice);
    assert!(lines.iter().all(|line| line["not_measurable"] == "one memory node (0)"), "{table}");
    assert!(table["parts"][0][1]["copy_s"].as_f64() > Some(0.0), "{table}");
    let words = pagetide("bench migrate --size 4M --rounds 1 --page-size 4K").succeeds().out;
    assert!(words.contains("Not measurable (one memory node (0)): all moves"), "{words}");
}
