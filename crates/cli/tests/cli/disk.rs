//! Full disks: what was complete stays readable, and the target goes on.

use crate::live::one_node;
use crate::run::{
    Outcome, PAGETIDE, command, finish, heat, info, pagetide, recording, scratch, skip, turn,
};
use std::fs;
use std::path::Path;
use std::process::Command;

/// A small file system of its own, unmounted on drop.
pub(crate) struct Small(pub(crate) tempfile::TempDir);

impl Small {
    /// None, said aloud, where nothing can be mounted.
    pub(crate) fn mount(test: &str, size: &str) -> Option<Self> {
        let scratch = scratch();
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", &format!("size={size},mode=700"), "none"]);
        mount.arg(scratch.path());
        let outcome = finish(mount);
        if outcome.code == Some(0) {
            return Some(Self(scratch));
        }
        skip(test, &outcome.err);
        None
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        let unmounted = Command::new("umount").arg(self.0.path()).status();
        assert!(unmounted.is_ok_and(|status| status.success()), "{:?}", self.0.path());
    }
}

#[test]
fn a_disk_that_fills_up_leaves_complete_spans_and_the_target() {
    let name = "a_disk_that_fills_up_leaves_complete_spans_and_the_target";
    let Some(_turn) = turn(name) else { return };
    let Some(small) = Small::mount(name, "48k") else { return };
    let path = heat(&small.0, "x");
    // Of spans of 1, 3 and 9 epochs (or what there are at the end), each five files of a page or
    // more, one or two find room beside the header and the end mark.
    let mut recording = command(["record", "-q", "--epoch", "50ms", "-o"]);
    recording.arg(&path).args(["--", "sh", "-c", "sleep 4; echo done"]);
    let outcome = finish(recording);
    outcome.fails(1, &["the disk is full", "x.heat", "free some space"]);
    assert_eq!(outcome.out, "done\n", "the target was harmed");
    let info = info(&path);
    assert!(info["finished"] == false && info["epochs"].as_u64() >= Some(1), "{info}");
    assert_eq!(info["leftovers"].as_array().map(Vec::len), Some(0), "{info}");
    let failed = info["failed"].as_str().unwrap_or_default();
    assert!(failed.starts_with("the disk was full: "), "{info}");
    let plan = pagetide(&format!("plan {}", path.display())).succeeds();
    assert!(plan.err.contains("x.heat: recording ended early: the disk was full"), "{plan:?}");
    let words = pagetide(&format!("trace info {}", path.display())).succeeds().out;
    assert!(words.contains("recording ended early: the disk was full"), "{words}");
}

#[test]
fn a_run_goes_on_where_its_recording_cannot() {
    let name = "a_run_goes_on_where_its_recording_cannot";
    let Some(_turn) = turn(name).filter(|_| one_node(name)) else { return };
    let Some(small) = Small::mount(name, "48k") else { return };
    let path = heat(&small.0, "x");
    let mut run =
        command(["run", "-q", "--dry-run", "--fast", "64M", "--epoch", "200ms", "--json"]);
    run.arg("--record").arg(&path).args(["--", "sh", "-c", "sleep 4"]);
    let outcome = finish(run);
    outcome.fails(1, &["the disk is full", "x.heat", "the run goes on without"]);
    let (run, info) = (outcome.json(), info(&path));
    assert!(info["finished"] == false && info["epochs"].as_u64() >= Some(1), "{info}");
    assert!(run["epochs"].as_u64() > info["epochs"].as_u64(), "{run} {info}");
}

#[test]
fn a_run_goes_on_where_neither_log_nor_recording_can() {
    let name = "a_run_goes_on_where_neither_log_nor_recording_can";
    let Some(_turn) = turn(name).filter(|_| one_node(name)) else { return };
    let Some(small) = Small::mount(name, "48k") else { return };
    let (path, log) = (heat(&small.0, "x"), small.0.path().join("l.jsonl"));
    let dry_run = |log: &Path| {
        let mut run =
            command(["run", "-q", "--dry-run", "--fast", "64M", "--epoch", "200ms", "--json"]);
        run.arg("--log").arg(log);
        run
    };
    let whole = |outcome: &Outcome| {
        let text = fs::read_to_string(&log).unwrap_or_default();
        assert!(text.is_empty() || text.ends_with('\n'), "a torn line: {text}");
        let epochs = outcome.json()["epochs"].as_u64();
        assert!(epochs >= Some(5), "the run gave up: {outcome:?}");
        assert!(epochs > Some(text.lines().count() as u64), "the log was not cut off: {outcome:?}");
    };
    // A page is left, for some lines.
    let ballast = small.0.path().join("ballast");
    fs::write(&ballast, vec![1; 44 << 10]).unwrap();
    let mut run = dry_run(&log);
    run.args(["--", "sh", "-c", "sleep 4"]);
    let outcome = finish(run);
    let said = "; the lines before it are whole; free some space or log to another disk; the run goes on without";
    outcome.fails(1, &["the log", "l.jsonl cannot be written: No space left", said]);
    assert_eq!(outcome.err.matches("the run goes on without").count(), 1, "{}", outcome.err);
    whole(&outcome);
    // And with a recording there, it is said of both: its header and a page are left.
    let _ = fs::remove_file(&log);
    fs::write(&ballast, vec![1; 40 << 10]).unwrap();
    let mut run = dry_run(&log);
    run.arg("--record").arg(&path).args(["--", "sh", "-c", "sleep 4; exit 7"]);
    let outcome = finish(run);
    outcome
        .fails(1, &["l.jsonl cannot be written", "the disk is full: ", "x.heat", "exit status: 7"]);
    whole(&outcome);
}

#[test]
fn a_disk_without_room_for_a_span_is_said_and_the_target_goes_on() {
    let name = "a_disk_without_room_for_a_span_is_said_and_the_target_goes_on";
    let Some(_turn) = turn(name) else { return };
    let Some(small) = Small::mount(name, "64k") else { return };
    let path = heat(&small.0, "x");
    // Room for the header, not for a span.
    fs::write(small.0.path().join("ballast"), vec![1; 56 << 10]).unwrap();
    let mut recording = recording(&path);
    recording.args(["--", "sh", "-c", "sleep 2; echo done"]);
    let outcome = finish(recording);
    outcome.fails(1, &["the disk is full", "x.heat", "free some space"]);
    assert_eq!(outcome.out, "done\n", "the target was harmed");
    let planned = pagetide(&format!("plan {}", path.display()));
    planned.fails(1, &["no complete span", "the disk was full", "record again"]);
}

#[test]
fn a_full_disk_under_standard_output_is_named() {
    for word in ["governors", "--help", "--version"] {
        let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let done = Command::new(PAGETIDE).arg(word).stdout(full).output().unwrap();
        let said = String::from_utf8_lossy(&done.stderr);
        assert!(said.contains("standard output: No space left"), "{word}: {said}");
        assert_eq!(done.status.code(), Some(1), "{word}");
    }
}
