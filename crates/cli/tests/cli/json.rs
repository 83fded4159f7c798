//! What `--json` prints: it parses, and its keys are those of docs/json.md and docs/plan-json.md,
//! no more and no less.

use crate::run::{heat, info, pagetide, scratch};
use crate::truths::{hot_cold, uniform};
use pagetide_types::Bytes;
use serde_json::Value;
use std::collections::BTreeSet;

const PAGE: &str = include_str!("../../../../docs/json.md");
const PLAN_PAGE: &str = include_str!("../../../../docs/plan-json.md");

/// A page's part under the heading of a command.
pub(crate) fn section(command: &str) -> &'static str {
    let heading = format!("\n## {command}\n");
    let (_, rest) = PAGE.split_once(&heading).unwrap_or_else(|| panic!("no heading {command}"));
    rest.split("\n## ").next().unwrap_or_default()
}

/// All keys, however deep; those of `machine` in `trace info` are free.
fn keys(value: &Value, free: Option<&str>, into: &mut BTreeSet<String>) {
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                into.insert(key.clone());
                if free != Some(key) {
                    keys(value, free, into);
                }
            }
        }
        Value::Array(list) => list.iter().for_each(|value| keys(value, free, into)),
        _ => {}
    }
}

/// Every key is documented in the text, and every key that starts a row of its tables is there.
#[track_caller]
pub(crate) fn are_documented(json: &Value, free: Option<&str>, text: &str) {
    let mut found = BTreeSet::new();
    keys(json, free, &mut found);
    let band = ["low".to_owned(), "high".to_owned()];
    let missing: Vec<_> = found
        .iter()
        .filter(|key| !band.contains(key) && !text.contains(&format!("`{key}`")))
        .collect();
    assert!(missing.is_empty(), "not documented: {missing:?}");
    let first_cells = text.lines().filter_map(|line| line.strip_prefix("| `")?.split('|').next());
    let gone: Vec<_> = first_cells
        .flat_map(|cell| cell.split(',').map(|key| key.trim().trim_matches('`')))
        .filter(|key| !found.contains(*key))
        .collect();
    assert!(gone.is_empty(), "documented, and not there: {gone:?}");
}

#[test]
fn every_key_of_a_plan_is_documented() {
    let scratch = scratch();
    // A policy that tells of its decisions, however short the epochs are.
    let policies = "first-touch,lru,rate,amp:interval=0,clairvoyant";
    let plan_of = |recording: &std::path::Path| {
        let line = format!("plan --json --policy {policies} {}", recording.display());
        pagetide(&line).succeeds().json()
    };
    are_documented(&plan_of(&hot_cold(&scratch)), None, PLAN_PAGE);
    let plan = plan_of(&uniform(&scratch));
    assert!(plan["advice"][0]["kind"].is_string(), "an example with advice: {plan}");
    are_documented(&plan, None, PLAN_PAGE);
}

#[test]
fn every_key_of_a_split_is_documented() {
    let scratch = scratch();
    let (a, b) = (hot_cold(&scratch), uniform(&scratch));
    let line = format!("plan --json --fast 24M {} {}", a.display(), b.display());
    let split = pagetide(&line).succeeds().json();
    are_documented(&split, None, section("plan with --fast"));
    let parts = split["parts"].as_array().map_or(&[][..], Vec::as_slice);
    let names: Vec<_> = parts.iter().filter_map(|part| part["name"].as_str()).collect();
    assert_eq!(names, [a.to_string_lossy(), b.to_string_lossy()]);
    let shared: u64 = parts.iter().filter_map(|part| part["fast_bytes"].as_u64()).sum();
    assert_eq!(shared + split["unused_bytes"].as_u64().unwrap_or(0), 24 << 20);
    let text = pagetide(&line.replace("--json ", "")).succeeds().out;
    assert!(text.contains("24.0 MiB"), "{text}");
    let shares = |options: &str| {
        let split = pagetide(&format!("{line} {options}")).succeeds().json();
        [0, 1].map(|part| split["parts"][part]["fast_bytes"].as_u64().unwrap_or(0) >> 20)
    };
    assert_eq!(shares("--share equal"), [12, 12]);
    assert_eq!(shares("--share weighted --weights 1,5"), [4, 20]);
    pagetide(&format!("{line} --weights 1")).fails(1, &["1 for 2 recordings; give one for each"]);
    // One recording has all of it.
    let alone = pagetide(&format!("plan --json --fast 24M {}", a.display())).succeeds().json();
    assert_eq!(alone["parts"].as_array().map(Vec::len), Some(1), "{alone}");
    let text = pagetide(&format!("plan --fast 24M {}", a.display())).succeeds().out;
    for said in
        ["24.0 MiB of fast memory for ", "Predicted slowdown: ", "Every policy with 24.0 MiB"]
    {
        assert!(text.contains(said), "no '{said}' in {text}");
    }
    assert!(!text.contains("utility"), "{text}");
    let weighted = pagetide(&format!("plan --fast 24M --weights 2 {}", a.display()));
    weighted.fails(1, &["--weights is for several recordings"]);
    pagetide(&format!("{line} --weights 1,0")).fails(2, &["--weights", "'0' is no weight"]);
}

#[test]
fn every_key_of_trace_info_is_documented() {
    let scratch = scratch();
    let info = pagetide(&format!("trace info --json {}", hot_cold(&scratch).display()));
    are_documented(&info.succeeds().json(), Some("machine"), section("trace info"));
}

#[test]
fn trace_info_says_the_same_in_words() {
    let scratch = scratch();
    let path = hot_cold(&scratch);
    let info = info(&path);
    let words = pagetide(&format!("trace info {}", path.display())).succeeds().out;
    let bytes = |key: &str| Bytes(info[key].as_u64().unwrap_or(0)).to_string();
    let said = [
        format!("in {} epochs", info["epochs"]),
        format!("{} on average", bytes("resident_mean_bytes")),
        format!("{} at most", bytes("resident_max_bytes")),
    ];
    for part in said {
        assert!(words.contains(&part), "no '{part}' in {words}");
    }
    assert!(!words.contains("Gaps"), "counts know of no gaps: {words}");
}

#[test]
fn every_key_of_trace_diff_is_documented() {
    let scratch = scratch();
    // With itself: all of it matches, so no key is left out.
    let path = hot_cold(&scratch);
    let diff = pagetide(&format!("trace diff --json {0} {0}", path.display()));
    are_documented(&diff.succeeds().json(), None, section("trace diff"));
}

#[test]
fn every_key_of_trace_info_by_process_is_documented() {
    let scratch = scratch();
    let path = hot_cold(&scratch);
    let line = format!("trace info --by process {}", path.display());
    let found = pagetide(&format!("{line} --json")).succeeds().json();
    are_documented(&found, None, section("trace info --by process"));
    let processes = found["processes"].as_array().map_or(&[][..], Vec::as_slice);
    assert_eq!(processes.len(), 1, "one process, and nothing is shared: {found}");
    assert_eq!(processes[0]["bytes"], 64 << 20, "{found}");
    let hot = processes[0]["hot_bytes"].as_f64().unwrap_or(f64::NAN);
    assert!((hot / f64::from(16 << 20) - 1.0).abs() <= 0.1, "{found}");
    let words = pagetide(&line).succeeds().out;
    for said in ["by process", "64.0 MiB", "is not recorded"] {
        assert!(words.contains(said), "no '{said}' in {words}");
    }
}

#[test]
fn what_changed_between_two_recordings_is_told_by_area() {
    let scratch = scratch();
    let (a, b) = (hot_cold(&scratch), uniform(&scratch));
    let line = format!("trace diff {} {}", a.display(), b.display());
    let bytes = |line: &str| -> Vec<[u64; 2]> {
        let found = pagetide(&format!("{line} --json")).succeeds().json();
        let areas = found["areas"].as_array().map_or(&[][..], Vec::as_slice);
        let of = |area: &Value, side| area[side]["bytes"].as_u64().unwrap_or(u64::MAX) >> 20;
        areas.iter().map(|area| ["a", "b"].map(|side| of(area, side))).collect()
    };
    assert_eq!(bytes(&line), [[64, 0], [0, 32]], "two programs have areas of their own");
    assert_eq!(bytes(&format!("trace diff {0} {0}", a.display())), [[64, 64]]);
    let words = pagetide(&line).succeeds().out;
    assert!(words.contains("64.0 MiB") && !words.contains("Matched"), "{words}");
    let more = pagetide(&format!("{line} --verbose")).succeeds().out;
    assert!(more.contains("Matched"), "{more}");
}

#[test]
fn every_key_of_policies_is_documented() {
    are_documented(&pagetide("policies --json").succeeds().json(), None, section("policies"));
}

#[test]
fn every_key_of_governors_is_documented() {
    are_documented(&pagetide("governors --json").succeeds().json(), None, section("governors"));
}

#[test]
fn a_wrong_recording_prints_no_json() {
    let scratch = scratch();
    let path = heat(&scratch, "nowhere");
    for what in ["plan", "trace info"] {
        let outcome = pagetide(&format!("{what} --json {}", path.display()));
        outcome.fails(1, &["is not a recording"]);
        assert_eq!(outcome.out, "", "{what}");
    }
}

/// `doctor` and its verdict: the exit code says the same.
fn doctor(options: &str) -> Value {
    let outcome = pagetide(&format!("doctor --json {options}"));
    let found = outcome.json();
    let code = if found["can_record"] == true { 0 } else { 4 };
    assert_eq!(outcome.code, Some(code), "{outcome:?}");
    found
}

#[test]
fn every_key_of_doctor_is_documented() {
    let found = doctor("");
    let mut text = section("doctor").to_owned();
    if found["self_test"] == Value::Array(Vec::new()) {
        // It needs root and a machine that can record; without them there is a problem instead.
        assert!(found["problem"].is_string(), "{found}");
        text = text.split("`self_test[]`").next().unwrap_or_default().to_owned();
    }
    are_documented(&found, None, &text);
    for finding in found["findings"].as_array().map_or(&[][..], Vec::as_slice) {
        let status = finding["status"].as_str().unwrap_or_default();
        assert!(["ok", "note", "missing"].contains(&status), "{finding}");
        assert!(finding["meaning"].as_str().is_some_and(|text| !text.is_empty()), "{finding}");
    }
}

#[test]
fn doctor_says_the_same_in_words() {
    let found = doctor("--no-self-test");
    assert_eq!(found["self_test"], Value::Array(Vec::new()));
    let words = pagetide("doctor --no-self-test");
    assert_eq!(words.code, Some(if found["can_record"] == true { 0 } else { 4 }));
    let verdict = if found["can_record"] == true { "can record" } else { "cannot record" };
    assert!(words.out.contains(verdict), "{}", words.out);
    for finding in found["findings"].as_array().map_or(&[][..], Vec::as_slice) {
        let name = finding["name"].as_str().unwrap_or_default();
        assert!(words.out.contains(name), "no '{name}' in {}", words.out);
    }
}
