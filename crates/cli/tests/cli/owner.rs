//! Whose recordings and pages are: who called, be it through sudo; everybody else is told so.

use crate::run::{Outcome, as_nobody, command, finish, heat, recording, scratch, skip, turn};
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

/// What sudo says of who called it.
const CALLER: (u32, u32) = (65534, 65533);

fn through_sudo(mut command: Command) -> Outcome {
    command.env("SUDO_UID", CALLER.0.to_string()).env("SUDO_GID", CALLER.1.to_string());
    finish(command)
}

#[track_caller]
#[expect(clippy::unwrap_used, reason = "a test's own files")]
fn is_the_callers(path: &Path, mode: u32) {
    let found = fs::symlink_metadata(path).unwrap();
    let owner = (found.uid(), found.gid(), found.permissions().mode() & 0o7777);
    assert_eq!(owner, (CALLER.0, CALLER.1, mode), "{}", path.display());
}

#[track_caller]
#[expect(clippy::unwrap_used, reason = "a test's own files")]
fn is_the_callers_recording(path: &Path) {
    is_the_callers(path, 0o700);
    for file in path.read_dir().unwrap() {
        is_the_callers(&file.unwrap().path(), 0o600);
    }
}

/// The truth of a workload, made through sudo. None, said aloud, for others than root.
fn made(test: &str, scratch: &TempDir) -> Option<std::path::PathBuf> {
    // SAFETY: cannot fail, changes nothing.
    if unsafe { libc::geteuid() } != 0 {
        skip(test, "only root can give files away");
        return None;
    }
    let path = heat(scratch, "truth");
    let program = "workload uniform --size 16M --rate 20000 --seconds 2 --truth-epoch 0.2 --truth";
    let mut workload = command(program.split(' '));
    workload.arg(&path);
    through_sudo(workload).succeeds();
    Some(path)
}

#[test]
fn what_sudo_makes_is_the_callers() {
    let scratch = scratch();
    let Some(path) = made("what_sudo_makes_is_the_callers", &scratch) else { return };
    is_the_callers_recording(&path);
    let page = scratch.path().join("plan.html");
    let mut plan = command(["plan", "--report"]);
    plan.arg(&page).arg(&path);
    through_sudo(plan).succeeds();
    is_the_callers(&page, 0o600);
    assert_eq!(fs::metadata(scratch.path()).unwrap().uid(), 0, "only what we made");
}

#[test]
fn what_is_recorded_through_sudo_is_the_callers() {
    let name = "what_is_recorded_through_sudo_is_the_callers";
    let Some(_turn) = turn(name) else { return };
    let scratch = scratch();
    let path = heat(&scratch, "x");
    let mut recording = recording(&path);
    recording.args(["--", "sleep", "2"]);
    through_sudo(recording).succeeds();
    is_the_callers_recording(&path);
}

#[test]
fn somebody_elses_recording_is_said_to_be_theirs_with_the_remedy() {
    let name = "somebody_elses_recording_is_said_to_be_theirs_with_the_remedy";
    let scratch = scratch();
    let Some(theirs) = made(name, &scratch) else { return };
    let roots = heat(&scratch, "roots");
    fs::create_dir(&roots).unwrap();
    fs::set_permissions(&roots, fs::Permissions::from_mode(0o700)).unwrap();
    for line in ["plan", "plan --json", "report", "trace info", "trace export"] {
        let outcome = as_nobody(&scratch, &format!("{line} {}", roots.display()));
        let remedy = format!("sudo chown -R \"$USER\" {}", roots.display());
        outcome.fails(1, &["roots.heat", "belongs to root", "sudo", &remedy]);
        assert_eq!(outcome.err.lines().count(), 1, "{}", outcome.err);
        assert!(outcome.err.trim_end().ends_with(&remedy), "{}", outcome.err);
    }
    // 65534 is who the other one was made for.
    as_nobody(&scratch, &format!("trace info {}", theirs.display())).succeeds();
}
