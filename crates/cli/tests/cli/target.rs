//! Targets and outputs that cannot be: which code, what is said, and that nothing is left behind.

use crate::run::{Outcome, as_nobody, heat, pagetide, scratch, skip, turn};
use std::fs;
use std::path::Path;

/// Tries to record a target into `path`.
#[track_caller]
fn record(path: &Path, target: &str) -> Outcome {
    pagetide(&format!("record -q -o {} {target}", path.display()))
}

/// A PID that no process can have.
const NOBODY: i32 = 1 << 23;

#[test]
fn what_does_not_exist_is_named() {
    let Some(_turn) = turn("what_does_not_exist_is_named") else { return };
    let scratch = scratch();
    let path = heat(&scratch, "x");
    let nobody = NOBODY.to_string();
    record(&path, &format!("--pid {nobody}")).fails(5, &[&nobody, "does not exist"]);
    // Advice on the time is for recordings that go on: the error is all that is said.
    let short = record(&path, &format!("--for 3s --pid {nobody}"));
    short.fails(5, &["does not exist"]);
    assert_eq!(short.err.lines().count(), 1, "{}", short.err);
    record(&path, "-- no-such-command").fails(5, &["'no-such-command'", "spelling and PATH"]);
    record(&path, "--cgroup /no/such").fails(5, &["'/no/such'"]);
    let said = "'/etc/passwd' is not executable; chmod +x it, or name the program that reads it";
    record(&path, "-- /etc/passwd").fails(5, &[said]);
    record(&path, "-- /etc").fails(5, &["'/etc' is a directory; name the program in it"]);
    assert!(!path.exists(), "an empty recording was left behind");
}

#[test]
fn kernel_threads_are_refused() {
    let Some(_turn) = turn("kernel_threads_are_refused") else { return };
    if fs::read_to_string("/proc/2/comm").ok().as_deref() != Some("kthreadd\n") {
        return skip("kernel_threads_are_refused", "none to be seen here (a PID namespace)");
    }
    let scratch = scratch();
    let path = heat(&scratch, "x");
    record(&path, "--pid 2").fails(5, &["process 2", "kernel thread"]);
    assert!(!path.exists());
}

#[test]
fn what_exists_is_not_overwritten() {
    let scratch = scratch();
    let path = scratch.path().join("mine");
    fs::write(&path, "precious").unwrap();
    record(&path, "-- true").fails(1, &["mine already exists", "another file"]);
    assert_eq!(fs::read_to_string(&path).unwrap(), "precious");
}

#[test]
fn the_outputs_directory_must_exist() {
    let scratch = scratch();
    let path = scratch.path().join("no/such/x.heat");
    let outcome = record(&path, "-- true");
    outcome.fails(1, &["no/such", "does not exist", "make it"]);
    let not_a_directory = scratch.path().join("file");
    fs::write(&not_a_directory, "").unwrap();
    let outcome = record(&not_a_directory.join("x.heat"), "-- true");
    outcome.fails(1, &["file is not a directory"]);
}

#[test]
fn a_directory_that_cannot_be_written_is_named_once() {
    let Some(_turn) = turn("a_directory_that_cannot_be_written_is_named_once") else { return };
    // Permissions do not stop root; /proc takes no directories from anyone.
    let outcome = record(Path::new("/proc/x.heat"), "-- true");
    outcome.fails(1, &["/proc/x.heat"]);
    assert_eq!(outcome.err.matches("os error").count(), 1, "{}", outcome.err);
}

#[test]
fn others_than_root_are_told_what_they_lack() {
    // SAFETY: cannot fail, changes nothing.
    if unsafe { libc::geteuid() } != 0 {
        let path = heat(&scratch(), "x");
        return record(&path, "-- true").fails(3, &["run as root", "CAP_BPF"]);
    }
    let scratch = scratch();
    let nobody = |arguments: &str| as_nobody(&scratch, arguments);
    let path = heat(&scratch, "x");
    let outcome = nobody(&format!("record -q -o {} -- true", path.display()));
    outcome.fails(3, &["not permitted", "run as root (sudo)", "CAP_BPF"]);
    let binary = scratch.path().join("pagetide").display().to_string();
    outcome.fails(3, &["give the binary these: sudo setcap cap_bpf,", &format!("+ep {binary} ")]);
    assert!(!path.exists());
    let doctor = nobody("doctor");
    assert_eq!(doctor.code, Some(4), "{doctor:?}");
    assert!(doctor.out.contains("cannot record"), "{}", doctor.out);
    // What needs no privilege works without one.
    nobody("policies").succeeds();
}
