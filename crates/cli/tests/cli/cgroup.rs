//! A cgroup as the target, of both versions.

use crate::run::{
    Running, alive, command, finish, heat, info, recording, scratch, skip, sleeper, turn,
    until_recorded, within,
};
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::Command;

/// A cgroup of a test's own, and where its hierarchy is mounted; removed on drop, when its processes
/// have ended.
pub(crate) struct Group(pub(crate) PathBuf, PathBuf);

impl Group {
    /// Makes one below the test's own in every kind of hierarchy that is mounted and lets us.
    pub(crate) fn of_each_version(test: &str) -> Vec<Self> {
        let mounts = fs::read_to_string("/proc/mounts").unwrap_or_default();
        let own = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
        let mut made: Vec<(&str, Self)> = Vec::new();
        for mount in mounts.lines().map(|line| line.split(' ').collect::<Vec<_>>()) {
            let [_, at, kind @ ("cgroup" | "cgroup2"), options, ..] = mount[..] else { continue };
            // A new cgroup of cpuset takes no processes before it is set up.
            if made.iter().any(|(k, _)| *k == kind) || options.contains("cpuset") {
                continue;
            }
            let last_option = options.rsplit(',').next().unwrap_or_default();
            let controllers = if kind == "cgroup2" { "" } else { last_option };
            let ours = own.lines().find_map(|line| {
                let (_, rest) = line.split_once(':')?;
                let (names, path) = rest.split_once(':')?;
                (names == controllers).then_some(path)
            });
            let below = Path::new(at).join(ours.unwrap_or_default().trim_start_matches('/'));
            let parent = if below.is_dir() { below } else { PathBuf::from(at) };
            // A number of its own: a cgroup of a test that was killed may still be there.
            if let Ok(new) = tempfile::Builder::new().prefix("pagetide-test-").tempdir_in(&parent) {
                made.push((kind, Self(new.keep(), PathBuf::from(at))));
            }
        }
        if made.is_empty() {
            skip(test, "no cgroup can be made here");
        }
        made.into_iter().map(|(_, group)| group).collect()
    }

    #[expect(clippy::unwrap_used, reason = "a test's own cgroup")]
    fn child(&self, name: &str) -> Self {
        let child = self.0.join(name);
        fs::create_dir(&child).unwrap();
        Self(child, self.1.clone())
    }

    #[track_caller]
    #[expect(clippy::unwrap_used, reason = "a test's own process")]
    pub(crate) fn takes(&self, process: &Running) {
        fs::write(self.0.join("cgroup.procs"), process.pid().to_string()).unwrap();
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let removed = within(20, || fs::remove_dir(&self.0).is_ok());
        // A panic while a test fails would take the others with it.
        assert!(removed || std::thread::panicking(), "{} stays", self.0.display());
    }
}

/// A program with that much memory, all of it in place.
#[track_caller]
fn workload(size: &str) -> Running {
    let mut workload = command(["workload", "uniform", "--rate", "1000", "--seconds", "1000"]);
    workload.args(["--size", size]);
    let mut workload = Running::start(workload);
    let mut line = String::new();
    let read = workload.0.stdout.as_mut().map(|out| BufReader::new(out).read_line(&mut line));
    assert!(matches!(read, Some(Ok(_))) && line.starts_with("ready "), "{line}");
    workload
}

/// A recording of a cgroup, named as `name`.
fn of_cgroup(path: &Path, name: &Path) -> Command {
    let mut recording = recording(path);
    recording.arg("--cgroup").arg(name);
    recording
}

#[test]
fn all_in_a_cgroup_and_below_it_is_recorded_and_goes_on() {
    let name = "all_in_a_cgroup_and_below_it_is_recorded_and_goes_on";
    let Some(_turn) = turn(name) else { return };
    for group in Group::of_each_version(name) {
        let scratch = scratch();
        let below = group.child("below");
        let (a, b, outside) = (workload("32M"), workload("48M"), workload("64M"));
        group.takes(&a);
        below.takes(&b);
        let path = heat(&scratch, "x");
        let mut recording = of_cgroup(&path, &group.0);
        recording.args(["--for", "4s"]);
        finish(recording).succeeds();
        let info = info(&path);
        assert_eq!(info["processes"], 2, "{info}");
        assert_eq!(info["target"], format!("cgroup {}", group.0.display()));
        let most = info["resident_max_bytes"].as_u64().unwrap_or(0);
        assert!((80 << 20..110 << 20).contains(&most), "{info}");
        for workload in [&a, &b, &outside] {
            assert!(alive(workload.pid()), "a target that we did not start was ended");
        }
    }
}

#[test]
fn who_joins_is_followed_and_the_end_of_the_last_ends_the_recording() {
    let name = "who_joins_is_followed_and_the_end_of_the_last_ends_the_recording";
    let Some(_turn) = turn(name) else { return };
    for group in Group::of_each_version(name) {
        let scratch = scratch();
        let path = heat(&scratch, "x");
        // As a user would name it: by its path within the hierarchy.
        let within_hierarchy = Path::new("/").join(group.0.file_name().unwrap());
        let given = if group.0.parent() == Some(&group.1) { &within_hierarchy } else { &group.0 };
        let (first, second) = (sleeper(), workload("32M"));
        group.takes(&first);
        let mut recorder = Running::start(of_cgroup(&path, given));
        until_recorded(&path);
        group.takes(&second);
        drop(first);
        assert!(within(60, || path.join("heat-00001.parquet").exists()), "it ended too early");
        drop(second);
        recorder.outcome().succeeds();
        let info = info(&path);
        assert!(info["resident_max_bytes"].as_u64() >= Some(32 << 20), "{info}");
        assert_eq!(info["finished"], true);
    }
}

#[test]
fn an_empty_cgroup_is_refused() {
    let Some(_turn) = turn("an_empty_cgroup_is_refused") else { return };
    for group in Group::of_each_version("an_empty_cgroup_is_refused") {
        let scratch = scratch();
        let path = heat(&scratch, "x");
        let said = [&*group.0.to_string_lossy(), "holds no process", "start the program in it"];
        finish(of_cgroup(&path, &group.0)).fails(5, &said);
        assert!(!path.exists(), "an empty recording was left behind");
    }
}
