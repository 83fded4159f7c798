//! `--exact`: needs QEMU's user mode, and neither root nor a turn.

use crate::run::{PAGETIDE, command, finish, heat, info, pagetide, scratch, skip};
use std::process::Command;

/// False where QEMU is missing, which was said.
fn qemu(test: &str) -> bool {
    let there = Command::new("qemu-x86_64").arg("--version").output().is_ok();
    if !there {
        skip(test, "there is no qemu-x86_64 (package qemu-user)");
    }
    there
}

#[test]
fn a_workload_is_counted_and_planned_for_without_root() {
    if !qemu("a_workload_is_counted_and_planned_for_without_root") {
        return;
    }
    let scratch = scratch();
    let (seen, stream) = (heat(&scratch, "seen"), scratch.path().join("stream"));
    let mut recording = command(["record", "-q", "--exact", "--epoch", "20ms", "-o"]);
    recording.arg(&seen).args(["--dilation", "5", "--stream"]).arg(&stream);
    let program = "workload hot-cold --size 64M --hot 16M --page-size 4K --accesses 16000000";
    recording.args(["--", PAGETIDE]).args(program.split(' '));
    let told = finish(recording).succeeds();
    assert!(told.err.contains("pagetide plan"), "{told:?}");
    let info = info(&seen);
    assert_eq!(info["finished"], true, "{info}");
    assert!(std::fs::metadata(&stream).is_ok_and(|file| file.len() > 1 << 16));

    let plan = pagetide(&format!("plan --json {}", seen.display())).succeeds().json();
    let needs = plan["recommendation"]["fast_bytes"].as_f64().unwrap_or(f64::NAN) / 1048576.0;
    assert!((14.0..90.0).contains(&needs), "{plan}");
}

#[test]
fn what_cannot_be_counted_is_said_with_a_remedy() {
    let scratch = scratch();
    let seen = heat(&scratch, "seen");
    let mut missing = command(["record", "--exact", "-o"]);
    missing.arg(&seen).args(["--", "/bin/true"]).env("PATH", "/nonexistent");
    finish(missing).fails(1, &["qemu-user", "deps.sh exact"]);
    assert!(!seen.exists());

    pagetide("record --exact --pid 1 -o x").fails(2, &["--exact"]);
    pagetide("record --exact --range 7f0000000000-7f0040000000 -o x -- true")
        .fails(2, &["--exact", "--range"]);
    pagetide("record --cache 2M -o x -- true").fails(2, &["--exact"]);
    if qemu("what_cannot_be_counted_is_said_with_a_remedy") {
        let mut strange = command(["record", "--exact", "--dilation", "5", "-o"]);
        strange.arg(&seen).args(["--", "no-such-command"]);
        finish(strange).fails(1, &["there is no command 'no-such-command'"]);
        let mut open = command(["record", "--exact", "--dilation", "5", "-o"]);
        open.arg(&seen).args(["--", "true"]).env("PAGETIDE_CACHE", "/tmp");
        finish(open).fails(1, &["PAGETIDE_CACHE"]);
        // Nothing can be made below a file, not even by root.
        let file = scratch.path().join("file");
        std::fs::write(&file, "").unwrap();
        for options in [&["--dilation", "5"][..], &[]] {
            let mut unwritable = command(["record", "--exact", "-o"]);
            unwritable.arg(&seen).args(options).args(["--", "true"]);
            unwritable.env("PAGETIDE_CACHE", file.join("cache"));
            let said = ["cannot write", "file/cache", "name a folder that can be written"];
            finish(unwritable).fails(1, &said);
            assert!(!seen.exists());
        }
    }
}
