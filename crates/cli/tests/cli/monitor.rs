//! Virtual machine monitors, whose guests' accesses cannot be seen: said wherever one is found,
//! never left out in silence.

use crate::cgroup::Group;
use crate::run::{
    Outcome, Running, finish, heat, info, recording, scratch, skip, sleeper, turn, within,
};
use std::fs;
use std::path::Path;
use std::process::Command;

/// Opens a file with the name of the kernel's interface to virtual machines, in a mount namespace
/// of its own: it need not exist, and nobody else sees it.
const MONITOR: &str =
    "mount -t tmpfs none /dev && : >/dev/kvm && exec 3</dev/kvm && exec sleep 1000";

fn unshared(script: &str) -> Command {
    let mut command = Command::new("unshare");
    command.args(["-m", "sh", "-c", script]);
    command
}

/// A process that looks like a monitor. None, said aloud, where there can be none.
fn monitor(test: &str) -> Option<Running> {
    let mut monitor = Running::start(unshared(MONITOR));
    let file = format!("/proc/{}/fd/3", monitor.pid());
    let opened = || fs::read_link(&file).is_ok_and(|to| to == Path::new("/dev/kvm"));
    let mut ended = false;
    let settled = within(60, || {
        ended = !matches!(monitor.0.try_wait(), Ok(None));
        ended || opened()
    });
    assert!(settled, "it neither opened the file nor ended");
    if ended {
        skip(test, "no mount namespace can be made here");
        return None;
    }
    Some(monitor)
}

#[track_caller]
fn is_refused(outcome: &Outcome, pid: Option<i32>) {
    outcome.fails(5, &["runs a virtual machine", "inside the guest"]);
    if let Some(pid) = pid {
        assert!(outcome.err.contains(&format!("process {pid} ")), "{}", outcome.err);
    }
}

#[test]
fn a_monitor_named_by_its_number_is_refused() {
    let name = "a_monitor_named_by_its_number_is_refused";
    let Some(_turn) = turn(name) else { return };
    let Some(monitor) = monitor(name) else { return };
    let scratch = scratch();
    let path = heat(&scratch, "x");
    let mut recording = recording(&path);
    recording.args(["--pid", &monitor.pid().to_string()]);
    is_refused(&finish(recording), Some(monitor.pid()));
    assert!(!path.exists(), "an empty recording was left behind");
}

#[test]
fn a_monitor_in_a_cgroup_is_said() {
    let name = "a_monitor_in_a_cgroup_is_said";
    let Some(_turn) = turn(name) else { return };
    for group in Group::of_each_version(name) {
        let Some(monitor) = monitor(name) else { return };
        let other = sleeper();
        group.takes(&other);
        group.takes(&monitor);
        let scratch = scratch();
        let path = heat(&scratch, "x");
        let mut recording = recording(&path);
        recording.arg("--cgroup").arg(&group.0);
        is_refused(&finish(recording), Some(monitor.pid()));
        assert!(!path.exists(), "an empty recording was left behind");
    }
}

#[test]
fn a_command_that_becomes_a_monitor_ends_the_recording_which_is_kept() {
    let name = "a_command_that_becomes_a_monitor_ends_the_recording_which_is_kept";
    let Some(_turn) = turn(name) else { return };
    if monitor(name).is_none() {
        return;
    }
    let scratch = scratch();
    let path = heat(&scratch, "x");
    let mut recording = recording(&path);
    let recorded = path.join("heat-00000.parquet");
    let wait = format!("until [ -e {} ]; do sleep 0.1; done", recorded.display());
    let line = unshared(&format!("{wait}; {MONITOR}"));
    recording.arg("--").arg(line.get_program()).args(line.get_args());
    let outcome = finish(recording);
    is_refused(&outcome, None);
    assert!(outcome.err.contains("x.heat"), "{}", outcome.err);
    let info = info(&path);
    assert!(info["finished"] == true && info["epochs"].as_u64() >= Some(1), "{info}");
}
