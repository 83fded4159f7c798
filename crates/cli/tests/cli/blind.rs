//! A machine on which accessed bits cannot be cleared, or cannot be tested: nothing is recorded.

use crate::run::{Outcome, command, finish, heat, recording, scratch, skip, sleeper, turn};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

/// What holds of the kernel's `process_madvise` from then on, for us and our children: it does
/// nothing, and says so (0 bytes done), or fails with an error.
fn clear_nothing(error: u16) -> std::io::Result<()> {
    const LOAD: u16 = 0x20; // BPF_LD | BPF_W | BPF_ABS: the system call's number, at offset 0
    const EQUAL: u16 = 0x15; // BPF_JMP | BPF_JEQ | BPF_K
    const RETURN: u16 = 0x06; // BPF_RET | BPF_K
    let step = |code, jt, jf, k| libc::sock_filter { code, jt, jf, k };
    #[expect(clippy::cast_possible_truncation, reason = "440")]
    let number = libc::SYS_process_madvise as u32;
    let mut steps = [
        step(LOAD, 0, 0, 0),
        step(EQUAL, 0, 1, number),
        step(RETURN, 0, 0, libc::SECCOMP_RET_ERRNO | u32::from(error)),
        step(RETURN, 0, 0, libc::SECCOMP_RET_ALLOW),
    ];
    let program = libc::sock_fprog { len: 4, filter: steps.as_mut_ptr() };
    // SAFETY: the program lives through the call; it concerns only this process and its children.
    let set =
        unsafe { libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program) };
    if set == 0 { Ok(()) } else { Err(std::io::Error::last_os_error()) }
}

/// A command line of ours where no self-test is remembered, after a shell's `preparation` in a
/// mount namespace of its own. None, said aloud, where there can be none.
fn in_a_namespace(test: &str, preparation: &str, ours: &Command) -> Option<Command> {
    let made = Command::new("unshare").args(["-m", "true"]).status();
    if !made.is_ok_and(|status| status.success()) {
        skip(test, "no mount namespace can be made here");
        return None;
    }
    let script = format!("mount -t tmpfs none /run && {preparation} && exec \"$0\" \"$@\"");
    let mut command = Command::new("unshare");
    command.args(["-m", "sh", "-c", &script]).arg(ours.get_program()).args(ours.get_args());
    Some(command)
}

fn record(path: &Path) -> Command {
    let mut recording = command(["record", "-q", "-o"]);
    recording.arg(path).args(["--", "sh", "-c", "echo started"]);
    recording
}

#[track_caller]
fn is_refused(outcome: &Outcome, path: &Path, why: &str) {
    outcome.fails(4, &["self test failed", why, "nothing is recorded", "pagetide doctor"]);
    assert_eq!(outcome.out, "", "the command was started");
    assert!(!path.exists(), "an empty recording was left behind");
}

#[test]
fn a_machine_that_clears_nothing_is_refused() {
    let name = "a_machine_that_clears_nothing_is_refused";
    let Some(_turn) = turn(name) else { return };
    let scratch = scratch();
    let path = heat(&scratch, "x");
    for doctor in [false, true] {
        let ours = if doctor { command(["doctor"]) } else { record(&path) };
        let Some(mut blind) = in_a_namespace(name, "true", &ours) else { return };
        // SAFETY: it makes one system call.
        unsafe { blind.pre_exec(|| clear_nothing(0)) };
        let outcome = finish(blind);
        if doctor {
            assert_eq!(outcome.code, Some(4), "{outcome:?}");
            assert!(outcome.out.contains("This machine cannot record"), "{}", outcome.out);
        } else {
            is_refused(&outcome, &path, "of the seen were touched");
        }
    }
}

#[test]
fn a_machine_without_memory_for_the_test_is_refused() {
    let name = "a_machine_without_memory_for_the_test_is_refused";
    let Some(_turn) = turn(name) else { return };
    let scratch = scratch();
    let path = heat(&scratch, "x");
    let full = "echo 'MemTotal: 9000 kB\nMemAvailable: 200 kB' >/run/meminfo \
                && mount --bind /run/meminfo /proc/meminfo";
    let Some(blind) = in_a_namespace(name, full, &record(&path)) else { return };
    is_refused(&finish(blind), &path, "too little memory is free");
}

#[test]
fn a_process_that_the_kernel_keeps_from_root_is_said_to_be_protected() {
    let name = "a_process_that_the_kernel_keeps_from_root_is_said_to_be_protected";
    let Some(_turn) = turn(name) else { return };
    let (scratch, target) = (scratch(), sleeper());
    let path = heat(&scratch, "x");
    // The self-test has passed before: it is not what fails.
    let mut recording = recording(&path);
    recording.args(["--pid", &target.pid().to_string()]);
    // SAFETY: it makes one system call.
    unsafe { recording.pre_exec(|| clear_nothing(13)) }; // EACCES
    let outcome = finish(recording);
    let process = format!("process {}", target.pid());
    outcome.fails(5, &[&process, "root included", "record another process"]);
    assert!(!outcome.err.contains("run as root"), "{}", outcome.err);
    assert!(!path.exists(), "an empty recording was left behind");
}

#[test]
fn root_without_a_capability_is_told_which() {
    let name = "root_without_a_capability_is_told_which";
    let Some(_turn) = turn(name) else { return };
    if Command::new("setpriv").arg("--version").output().is_err() {
        return skip(name, "setpriv(1) is not installed");
    }
    let scratch = scratch();
    let path = heat(&scratch, "x");
    let ours = record(&path);
    let mut without = Command::new("setpriv");
    without.arg("--bounding-set=-sys_nice").arg(ours.get_program()).args(ours.get_args());
    let outcome = finish(without);
    outcome.fails(3, &["not permitted", "root has no CAP_SYS_NICE", "privileged"]);
    assert!(!path.exists(), "an empty recording was left behind");
}
