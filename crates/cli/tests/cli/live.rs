//! `run` on a machine with one memory node, where nothing can be moved: what it answers, and dry
//! runs. Real moves are tried in the lab (`make test-lab`).

use crate::json::{are_documented, section};
use crate::run::{Outcome, PAGETIDE, pagetide, scratch, skip, turn};
use serde_json::Value;
use std::fs;
use std::path::Path;

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
    pagetide("run --dry-run -- true").fails(2, &["one memory node (0)", "--fast SIZE"]);
    pagetide("run --dry-run --fast 10% -- true")
        .fails(2, &["no fast tier of which --fast could be 10%", "--fast SIZE"]);
}

#[test]
fn what_cannot_be_run_is_named() {
    pagetide("run --policy clairvoyant -- true").fails(1, &["clairvoyant is a bound"]);
    pagetide("run --policy rat -- true").fails(1, &["'rat'", "did you mean 'rate'"]);
    let unknown = pagetide("run --policy foo -- true");
    unknown.fails(1, &["unknown policy 'foo'; those that can be run are first-touch, random"]);
    for bound in ["clairvoyant", "all-fast", "all-slow"] {
        assert!(!unknown.err.contains(bound), "{}", unknown.err);
    }
    pagetide("run --governor adaptiv -- true")
        .fails(1, &["unknown governor 'adaptiv'", "did you mean 'adaptive'"]);
    pagetide("run --governor gain:horizn=1 -- true").fails(1, &["did you mean 'horizon'"]);
    pagetide("run --fast-nodes 999 -- true").fails(1, &["node 999 does not exist"]);
    pagetide("run --epoch 100ms -- true").fails(2, &["'100ms' is out of range: 200ms to 115d"]);
    pagetide("run --epoch 0 -- true").fails(2, &["'0' is out of range: 200ms to 115d"]);
    let one_size = ["--unit", "cannot be used with", "units of one size", "record --unit 4K"];
    pagetide("run --unit 4K --record x.heat -- true").fails(2, &one_size);
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
    // Two options that name one path, however that is written.
    let same = scratch.path().join("same.heat");
    let other = scratch.path().join("./same.heat");
    let line = format!("run --dry-run --fast 64M --log {} --record", same.display());
    pagetide(&format!("{line} {} -- true", other.display()))
        .fails(1, &["--log and --record both name", "same.heat", "a name of its own"]);
    assert!(!same.exists(), "an empty log was left behind");
    for (place, said) in [
        ("/nonexistent/x", "/nonexistent does not exist; make it, or write elsewhere"),
        ("/tmp", "/tmp is a directory; name a file for the log"),
    ] {
        pagetide(&format!("run --dry-run --fast 64M --log {place} -- true")).fails(1, &[said]);
    }
}

#[test]
fn a_log_goes_into_a_pipe_or_a_device_and_leaves_it_there() {
    let test = "a_log_goes_into_a_pipe_or_a_device_and_leaves_it_there";
    let Some(_turn) = turn(test).filter(|_| one_node(test)) else { return };
    let line = |log: &str| {
        format!("run -q --json --dry-run --fast 64M --epoch 300ms --for 1s --log {log} -- sleep 3")
    };
    let piped = pagetide(&line("/dev/stdout")).succeeds().out;
    let first = piped.lines().next().and_then(|line| serde_json::from_str::<Value>(line).ok());
    assert_eq!(first.map(|line| line["epoch"].clone()), Some(0.into()), "{piped}");
    let full = pagetide(&line("/dev/full"));
    full.fails(1, &["the log /dev/full cannot be written: No space left", "goes on without"]);
    assert!(full.json()["epochs"].as_u64() >= Some(2), "the run gave up: {full:?}");
    assert!(Path::new("/dev/full").exists(), "it was taken for an empty log");
    // A link is neither followed to a file nor to be removed.
    let scratch = scratch();
    let (file, link) = (scratch.path().join("file"), scratch.path().join("link"));
    fs::write(&file, "precious").unwrap();
    std::os::unix::fs::symlink(&file, &link).unwrap();
    pagetide(&line(&link.display().to_string()))
        .fails(1, &["link is no ordinary file; name one for the log"]);
    assert_eq!(fs::read_to_string(&file).unwrap_or_default(), "precious");
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
    assert!(!words.contains("calls"), "moves that were not made: {words}");
}

#[test]
fn what_ended_a_run_is_told() {
    let test = "what_ended_a_run_is_told";
    let Some(_turn) = turn(test).filter(|_| one_node(test)) else { return };
    let line = "run -q --dry-run --fast 64M --epoch 500ms --for 30s";
    let ends = "-- sleep 1.5";
    assert_eq!(pagetide(&format!("{line} --json {ends}")).succeeds().json()["ended"], "target");
    let words = pagetide(&format!("{line} {ends}")).succeeds().out;
    assert!(words.contains("until the target ended"), "{words}");
    assert_eq!(dry_run("--json").succeeds().json()["ended"], "limit");
    // Too short to be seen.
    let soon = pagetide(&format!("{line} -- true")).succeeds();
    let said = soon.out.contains("until the target ended")
        || soon.err.contains("note: the target ended before anything of it was seen");
    assert!(said, "{soon:?}");
}

#[test]
fn what_is_accepted_and_hardly_meant_is_noted() {
    let test = "what_is_accepted_and_hardly_meant_is_noted";
    let Some(_turn) = turn(test).filter(|_| one_node(test)) else { return };
    let scratch = scratch();
    let line = "run -q --dry-run --for 1s --epoch 500ms";
    let much = pagetide(&format!("{line} --fast 100000G -- sleep 1")).succeeds().err;
    let note = "--fast 97.7 TiB is more than the";
    assert!(much.contains(note) && much.contains("whatever runs here fits into it"), "{much}");
    let nothing = pagetide(&format!("{line} --fast 64M --reserve 80M -- sleep 1")).succeeds();
    let note = "what is to stay free (--reserve) leaves none";
    assert!(nothing.out.replace("\n  ", " ").contains(note), "{nothing:?}");
    let (text, heat) = (scratch.path().join("x.txt"), scratch.path().join("x.heat"));
    let noted = |option: &str, path: &Path| {
        pagetide(&format!("{option} {} -- sleep 1", path.display())).succeeds().err
    };
    let line = format!("{line} --fast 64M --record");
    let note = "x.txt will be one; names that end in .heat rather than .txt say so";
    assert!(noted(&line, &text).contains(note));
    assert!(!noted(&line, &heat).contains(".heat rather than"), "{heat:?}");
    let other = scratch.path().join("o").join("x.txt");
    fs::create_dir(scratch.path().join("o")).unwrap();
    assert!(noted("record -q --epoch 500ms -o", &other).contains(note));
}

#[test]
fn a_recording_of_a_run_has_the_lengths_of_its_epochs() {
    let test = "a_recording_of_a_run_has_the_lengths_of_its_epochs";
    let Some(_turn) = turn(test).filter(|_| one_node(test)) else { return };
    let scratch = scratch();
    let path = scratch.path().join("run.heat");
    // The first two take a second.
    let workload = "workload hot-cold --size 32M --hot 8M --rate 200000 --seconds 60";
    let line = format!(
        "run -q --json --dry-run --fast 16M --epoch 3s --for 9s --record {}",
        path.display()
    );
    let run = pagetide(&format!("{line} -- {PAGETIDE} {workload}")).succeeds().json();
    let plan = pagetide(&format!("plan --json {}", path.display())).succeeds().json();
    let recorded = |key: &str| plan["recording"][key].as_f64().unwrap_or(f64::NAN);
    assert_eq!(recorded("epoch_s"), 3.0);
    let (shortest, longest) = (recorded("shortest_epoch_s"), recorded("longest_epoch_s"));
    assert!(shortest < 1.5 && longest > 2.5, "from {shortest} to {longest} s");
    let lengths = plan["heatmap"]["lengths_s"].as_array().unwrap();
    assert_eq!(lengths.len() as u64, run["epochs"].as_u64().unwrap());
    let all: f64 = lengths.iter().filter_map(Value::as_f64).sum();
    let seconds = run["seconds"].as_f64().unwrap();
    assert!((all - seconds).abs() < 0.01, "{all} s of {seconds} s");
    let words = pagetide(&format!("plan {}", path.display())).succeeds().out;
    let flat = words.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flat.contains("epochs of 1 s to 3 s"), "{words}");
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
