//! Memory whose accessed bits cannot be cleared is marked, not guessed.

use crate::run::{finish, heat, info, recording, scratch, skip, turn};
use serde_json::Value;
use std::process::Command;

/// What is recorded of a Perl program that first runs `preparation` with 32 MiB in `$x`, and then
/// reads a byte of every page in turn. None, said aloud, where there is no Perl.
fn recorded(test: &str, preparation: &str) -> Option<Value> {
    let read = "while (1) { my $y = substr($x, $i, 1); $i = ($i + 4096) % $n }";
    let script = format!("my $i = 0; my $n = 32 << 20; my $x = 'a' x $n; {preparation}; {read}");
    if !Command::new("perl").args(["-e", "1"]).status().is_ok_and(|status| status.success()) {
        skip(test, "there is no perl");
        return None;
    }
    let scratch = scratch();
    let path = heat(&scratch, "x");
    let mut recording = recording(&path);
    // Of half a second 1 % does not pay for a look at every page where waking up is dear.
    recording.args(["--budget", "20%", "--for", "5s", "--", "perl", "-e", &script]);
    finish(recording).succeeds();
    Some(info(&path))
}

fn uncleared(info: &Value) -> u64 {
    info["uncleared_max_bytes"].as_u64().unwrap_or(u64::MAX)
}

#[test]
fn locked_memory_is_marked() {
    let Some(_turn) = turn("locked_memory_is_marked") else { return };
    // mlockall(MCL_CURRENT)
    let Some(info) = recorded("locked_memory_is_marked", "syscall(151, 1) == 0 or die $!") else {
        return;
    };
    assert!(uncleared(&info) >= 32 << 20, "{info}");
}

#[test]
fn memory_that_is_locked_in_the_midst_is_marked_from_then_on() {
    let name = "memory_that_is_locked_in_the_midst_is_marked_from_then_on";
    let Some(_turn) = turn(name) else { return };
    // Most likely within an epoch: some of its visits are refused then, some are not.
    let late = "my $t = time + 2; 1 while time < $t; syscall(151, 1) == 0 or die $!";
    let Some(info) = recorded(name, late) else { return };
    assert!(uncleared(&info) >= 32 << 20, "{info}");
    assert!(info["watched_share"].as_f64() > Some(0.02), "watched before: {info}");
}

#[test]
fn memory_mapped_by_several_processes_is_marked() {
    let name = "memory_mapped_by_several_processes_is_marked";
    let Some(_turn) = turn(name) else { return };
    // Parent and child have the same pages until one of them writes.
    let Some(info) = recorded(name, "defined fork or die $!") else { return };
    assert_eq!(info["processes"], 2, "{info}");
    assert!(uncleared(&info) >= 64 << 20, "{info}");
}

#[test]
fn memory_of_one_process_alone_is_not_marked() {
    let name = "memory_of_one_process_alone_is_not_marked";
    let Some(_turn) = turn(name) else { return };
    let Some(info) = recorded(name, "1") else { return };
    assert!(uncleared(&info) < 4 << 20, "{info}");
}
