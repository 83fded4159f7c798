//! A guest boots, runs a command, brings back what it left, and is gone.

use crate::lab::{can_boot, lab, ran};
use std::{
    fs,
    process::Stdio,
    thread,
    time::{Duration, Instant},
};

#[test]
fn output_exit_code_and_files_come_back() {
    if !can_boot("output_exit_code_and_files_come_back") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("input"), "from the host\n").unwrap();
    let run = ran(lab()
        .arg("--copy")
        .arg(format!("{}:/in", folder.path().display()))
        .arg("--out")
        .arg(folder.path().join("back"))
        .args(["--env", "WORD=it's \"this\"", "--", "sh", "-c"])
        .arg(
            "uname -r; echo \"$WORD $1\"; echo complaint >&2; mkdir $OUT/a; \
             cp /in/input $OUT/a/b; ln -s a/b $OUT/link; exit 42",
        )
        .args(["sh", "an argument; with * all"]));
    assert_eq!(run.code, 42, "{run:?}");
    let lines: Vec<&str> = run.out.lines().collect();
    assert!(lines[0].starts_with("6.12."), "{run:?}");
    assert_eq!(lines[1..], ["it's \"this\" an argument; with * all"]);
    assert_eq!(run.err, "complaint\n");
    let back = folder.path().join("back");
    assert_eq!(fs::read_to_string(back.join("a/b")).unwrap(), "from the host\n");
    assert_eq!(fs::read_link(back.join("link")).unwrap().to_str(), Some("a/b"));
}

#[test]
fn a_program_of_the_host_runs_with_its_libraries() {
    if !can_boot("a_program_of_the_host_runs_with_its_libraries") {
        return;
    }
    // `ldd` is a script for bash, which has libraries; `env` of the host is no busybox.
    let run =
        ran(lab().args(["--with", "bash", "--", "/usr/bin/env", "bash", "-c", "echo $((2**5))"]));
    assert_eq!((run.code, run.out.as_str()), (0, "32\n"), "{run:?}");
}

#[test]
fn ten_megabytes_come_through_whole() {
    if !can_boot("ten_megabytes_come_through_whole") {
        return;
    }
    let run = ran(lab().args(["--", "sh", "-c", "yes 0123456789abcde | head -c 10000000"]));
    assert_eq!((run.code, run.out.len()), (0, 10_000_000));
    assert!(run.out.lines().take(600_000).all(|line| line == "0123456789abcde"));
}

#[test]
fn what_takes_too_long_is_ended_and_said() {
    if !can_boot("what_takes_too_long_is_ended_and_said") {
        return;
    }
    let run = ran(lab().args(["--timeout", "2", "--", "sleep", "1000"]));
    assert_eq!(run.code, 125, "{run:?}");
    assert!(run.err.contains("did not end within 2 s"), "{run:?}");
    let run = ran(lab().args(["--boot-timeout", "0", "--", "true"]));
    assert_eq!(run.code, 125, "{run:?}");
    assert!(run.err.contains("not ready after 0 s (--boot-timeout)"), "{run:?}");
}

#[test]
fn a_kernel_that_panics_is_quoted() {
    if !can_boot("a_kernel_that_panics_is_quoted") {
        return;
    }
    let run = ran(lab().args(["--", "sh", "-c", "echo c >/proc/sysrq-trigger"]));
    assert_eq!(run.code, 125, "{run:?}");
    assert!(run.err.contains("sysrq triggered crash"), "{run:?}");
}

/// A guest that finds nothing to run.
const NO_INIT: &str = r#"
name = "no-init"
title = "A kernel that finds nothing to run"
kernel = "rdinit=/nothing"

[[node]]
name = "DRAM"
cpus = 1
memory = "512M"
latency_ns = 100
bandwidth_gb_s = 100
"#;

#[test]
fn a_kernel_that_ends_before_anything_ran_is_booted_twice_more() {
    if !can_boot("a_kernel_that_ends_before_anything_ran_is_booted_twice_more") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let topology = folder.path().join("no-init.toml");
    fs::write(&topology, NO_INIT).unwrap();
    let run = ran(lab().arg("--topology").arg(topology).args(["--", "true"]));
    assert_eq!(run.code, 125, "{run:?}");
    assert_eq!(run.err.matches("note: the guest's kernel ended before").count(), 2, "{run:?}");
    assert_eq!(run.err.matches("error: the guest's kernel ended before").count(), 1, "{run:?}");
    assert!(run.err.contains("Kernel panic"), "{run:?}");
}

#[test]
fn a_killed_lab_leaves_no_guest() {
    if !can_boot("a_killed_lab_leaves_no_guest") {
        return;
    }
    let mut running = lab()
        .args(["--", "sh", "-c", "echo up; sleep 1000"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut out = running.stdout.take().unwrap();
    let mut up = [0; 3];
    std::io::Read::read_exact(&mut out, &mut up).unwrap();
    let guest = child_of(running.id()).expect("QEMU runs");
    running.kill().unwrap();
    running.wait().unwrap();
    let since = Instant::now();
    while fs::read_to_string(format!("/proc/{guest}/comm")).is_ok_and(|name| name.contains("qemu"))
    {
        assert!(since.elapsed() < Duration::from_secs(60), "QEMU {guest} lives on");
        thread::sleep(Duration::from_millis(50));
    }
}

/// The process that has `parent` for its parent.
fn child_of(parent: u32) -> Option<String> {
    let children = fs::read_dir("/proc").ok()?.flatten();
    let mut numbers = children.filter_map(|entry| entry.file_name().into_string().ok());
    numbers.find(|number| {
        let status = fs::read_to_string(format!("/proc/{number}/status")).unwrap_or_default();
        status.lines().any(|line| line == format!("PPid:\t{parent}"))
    })
}
