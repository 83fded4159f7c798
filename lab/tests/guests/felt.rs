//! Felt memory against machine files. By the host's clock times are compared, so the CPUs must be free: elsewhere
//! these tests say that they are skipped. By instructions they need not be.

use crate::lab::{beside_others, can_boot, lab, ran};
use nix::time::{ClockId, clock_gettime};
use std::{
    fs, thread,
    time::{Duration, Instant},
};

/// Two tiers and one CPU.
const ONE_CPU: &str = r#"name = "one-cpu"
title = "two tiers, one CPU"

[[node]]
name = "DRAM"
cpus = 1
memory = "512M"
latency_ns = 100
bandwidth_gb_s = 100

[[node]]
name = "CXL"
memory = "512M"
latency_ns = 250
bandwidth_gb_s = 28
"#;

/// Whether two threads get nearly all of two CPUs.
#[expect(clippy::unwrap_used, reason = "a test's own clock and output")]
fn cpus_are_free() -> bool {
    let spin = || {
        let cpu = || Duration::from(clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).unwrap());
        let (before, started) = (cpu(), Instant::now());
        while started.elapsed() < Duration::from_millis(500) {}
        (cpu() - before).as_secs_f64() / started.elapsed().as_secs_f64()
    };
    let other = thread::spawn(spin);
    let mine = spin();
    mine.min(other.join().unwrap()) > 0.9
}

/// What `probe times` says of a node, the best of its rounds, in the machine's time: nanoseconds of
/// a chase and of loads that need no other, GB/s of a stream.
struct Felt {
    chase_ns: f64,
    gather_ns: f64,
    stream_gb_s: f64,
}

/// Both nodes; None, and why, where times cannot be compared.
fn felt(test: &str, options: &[&str]) -> Option<[Felt; 2]> {
    let why = || {
        eprintln!("SKIPPED {test}: other programs take the CPUs, so times say nothing");
        None
    };
    if !can_boot(test) || !cpus_are_free() {
        return why();
    }
    let found = measured(options);
    if cpus_are_free() { Some(found) } else { why() }
}

/// Both nodes of a guest with these options of the lab.
#[expect(clippy::unwrap_used, reason = "a test's own output")]
fn measured(options: &[&str]) -> [Felt; 2] {
    let folder = tempfile::tempdir().unwrap();
    let run = ran(lab()
        .arg("--meter")
        .arg(folder.path().join("meter"))
        .args(options)
        .args(["-v", "--", "sh", "-ec"])
        // The kernel tests its ciphers for a while after it has booted.
        .arg("sleep 3; echo dilation $PAGETIDE_DILATION; pagetide-lab probe times --nodes 0,1"));
    assert_eq!(run.code, 0, "{run:?}");
    eprintln!("{}{}", run.err, run.out);
    let words = |prefix: &str| -> Vec<f64> {
        let line = run.out.lines().find_map(|line| line.strip_prefix(prefix)).unwrap();
        line.split_whitespace().filter_map(|word| word.parse().ok()).collect()
    };
    let dilation = words("dilation")[0];
    let node = |prefix: &str| {
        let [chase, _, stream, _] = words(prefix)[..] else { panic!("{}", run.out) };
        let gather = words(&format!("{prefix} gather"))[0];
        let [chase_ns, gather_ns] = [chase, gather].map(|ns| ns / dilation);
        Felt { chase_ns, gather_ns, stream_gb_s: 64.0 / (stream / dilation) }
    };
    [node("node 0"), node("node 1")]
}

#[track_caller]
fn within_a_tenth(felt: f64, machine: f64) {
    assert!((felt / machine - 1.0).abs() < 0.1, "felt {felt:.1}, the machine's is {machine}");
}

#[test]
fn a_chase_and_a_stream_are_as_slow_as_on_the_machine() {
    let test = "a_chase_and_a_stream_are_as_slow_as_on_the_machine";
    if let Some([fast, slow]) = felt(test, &["--felt", "disaggregated-pcm"]) {
        within_a_tenth(fast.chase_ns, 60.0);
        within_a_tenth(slow.chase_ns, 340.0);
        within_a_tenth(slow.stream_gb_s, 3.4);
    }
}

#[test]
fn a_faster_machine_needs_more_dilation() {
    let test = "a_faster_machine_needs_more_dilation";
    if let Some([fast, slow]) = felt(test, &["--felt", "cxl", "--dilation", "60"]) {
        within_a_tenth(fast.chase_ns, 100.0);
        within_a_tenth(slow.chase_ns, 250.0);
        within_a_tenth(slow.stream_gb_s, 28.0);
    }
}

#[test]
fn by_instructions_memory_is_felt_however_busy_the_host_is() {
    if !can_boot("by_instructions_memory_is_felt_however_busy_the_host_is") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let one_cpu = folder.path().join("one-cpu.toml");
    fs::write(&one_cpu, ONE_CPU).unwrap();
    for (topology, time, ns) in
        [("two-tiers", "1", 1.0), (one_cpu.to_str().unwrap(), "0.08,0.13", 0.08)]
    {
        let options = ["-t", topology, "--instruction-ns", time, "--felt", "cxl"];
        let [fast, slow] = beside_others(|| measured(&options));
        within_a_tenth(fast.chase_ns, 100.0);
        within_a_tenth(slow.chase_ns, 250.0);
        // A dozen instructions a load: several wait at the same time.
        for node in [&fast, &slow] {
            assert!(node.gather_ns < node.chase_ns / 3.0, "{}", node.gather_ns);
        }
        // A core waits for 48 lines at a time; the instructions of their turns in the loop may take longer.
        let most = 48.0 * 64.0 / 250.0;
        assert!(slow.stream_gb_s < 1.02 * most, "{}", slow.stream_gb_s);
        assert!(ns > 0.5 || slow.stream_gb_s > 0.8 * most, "{}", slow.stream_gb_s);
        // 16 are on their way at most.
        assert!(slow.gather_ns > 250.0 / 16.0, "{}", slow.gather_ns);
    }
}

#[test]
fn the_kernels_instructions_have_a_time_of_their_own() {
    if !can_boot("the_kernels_instructions_have_a_time_of_their_own") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let one_cpu = folder.path().join("one-cpu.toml");
    fs::write(&one_cpu, ONE_CPU).unwrap();
    // Nanoseconds of system calls, and of a loop of a program.
    let taken = |time: &str| {
        let script = "now() { sed -n 's/^now at \\([0-9]*\\) .*/\\1/p' /proc/timer_list; }
            for i in 1 2 3 4 5; do
                started=$(now); dd if=/dev/zero of=/dev/null bs=1 count=200000 2>/dev/null
                echo calls $(($(now) - started))
            done; pagetide-lab probe times --nodes 0";
        let mut guest = lab();
        guest.arg("-t").arg(&one_cpu).arg("--meter").arg(folder.path().join("meter"));
        let run = ran(guest.args(["--instruction-ns", time, "--", "sh", "-ec", script]));
        assert_eq!(run.code, 0, "{run:?}");
        ["calls ", "compute ", "crossing "].map(|which| {
            // The least: what the kernel still does after its start comes in between.
            let lines = run.out.lines().filter_map(|line| line.strip_prefix(which));
            lines.map(|line| line.parse::<f64>().unwrap()).min_by(f64::total_cmp).unwrap()
        })
    };
    let [calls, computes, crossing] = taken("0.07");
    let [dearer_calls, same, _] = taken("0.07,0.35");
    assert!((0.25..0.31).contains(&crossing), "four of 0.07 ns, one across pages: {crossing}");
    assert!((same / computes - 1.0).abs() < 0.02, "{computes} {same}");
    // A few instructions of each call are the program's.
    let ratio = dearer_calls / calls;
    assert!((0.8..1.01).contains(&(ratio / 5.0)), "{calls} {dearer_calls}");
}

#[test]
fn an_instruction_takes_less_than_a_nanosecond_only_on_one_cpu_and_with_a_meter() {
    let run = ran(lab().args(["-t", "two-tiers", "--instruction-ns", "0.5", "--", "true"]));
    assert_eq!(run.code, 125, "{run:?}");
    assert!(run.err.contains("needs --meter, and a topology with one CPU; 'two-tiers' has 2"));
}
