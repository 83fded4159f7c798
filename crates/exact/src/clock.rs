//! The program's own time. Emulated it computes several times more slowly (the *dilation*), while
//! what it waits for, people, clients, timers, goes on at its own pace.
//!
//! In an interval of wall time, let R be the CPU time of all its threads and W the time that they
//! waited for a CPU (both from `schedstat`). The program is busy for the shorter of the interval
//! and R + W, and idle for the rest. Idle time counts as it is; of busy time, the part R / (R + W)
//! in which it did run, divided by the dilation; waiting for a CPU not at all.

use pagetide_types::Pid;
use std::{collections::HashMap, fs, time::Duration, time::Instant};

/// Threads' clocks stand still for some milliseconds and then jump: shorter intervals would show
/// idle time where there is none.
const INTERVAL: Duration = Duration::from_millis(200);

/// CPU time and time of waiting for a CPU, nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Used {
    run: u64,
    wait: u64,
}

/// What passed of the program's own time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Passed {
    /// Seconds of its own.
    pub(crate) own_s: f64,
    /// CPU seconds as if it had run natively.
    pub(crate) cpu_s: f64,
    /// CPU seconds of the emulation.
    pub(crate) emulated_s: f64,
}

/// Reads the clocks of threads.
#[derive(Debug)]
pub(crate) struct Clock {
    dilation: f64,
    last: Instant,
    threads: HashMap<(Pid, Pid), Used>,
    /// Since the last interval ended.
    used: Used,
}

impl Clock {
    pub(crate) fn new(dilation: f64) -> Self {
        Self { dilation, last: Instant::now(), threads: HashMap::new(), used: Used::default() }
    }

    /// Whether an interval is over.
    pub(crate) fn due(&self) -> bool {
        self.last.elapsed() >= INTERVAL
    }

    /// Takes in what the threads of a process used so far: of one that ends, it would be too late.
    pub(crate) fn collect(&mut self, pid: Pid) {
        for tid in tasks(pid) {
            let Some(now) = read(pid, tid) else { continue };
            let before = self.threads.insert((pid, tid), now).unwrap_or_default();
            self.used.run += now.run.saturating_sub(before.run);
            self.used.wait += now.wait.saturating_sub(before.wait);
        }
    }

    /// What passed since the last call for these processes, which meanwhile waited for us for
    /// `held_ns`: that counts as waiting for a CPU.
    pub(crate) fn passed(&mut self, pids: &[Pid], held_ns: u64) -> Passed {
        for pid in pids {
            self.collect(*pid);
        }
        self.threads.retain(|(pid, _), _| pids.contains(pid));
        let mut used = std::mem::take(&mut self.used);
        used.wait += held_ns;
        let now = Instant::now();
        let elapsed = now - self.last;
        self.last = now;
        passed(elapsed, used, self.dilation)
    }
}

fn passed(elapsed: Duration, used: Used, dilation: f64) -> Passed {
    let (run, wait, elapsed) =
        (used.run as f64 * 1e-9, used.wait as f64 * 1e-9, elapsed.as_secs_f64());
    let busy = elapsed.min(run + wait);
    let ran = if run > 0.0 { busy * run / (run + wait) } else { 0.0 };
    Passed { own_s: elapsed - busy + ran / dilation, cpu_s: run / dilation, emulated_s: run }
}

fn tasks(pid: Pid) -> Vec<Pid> {
    let Ok(entries) = fs::read_dir(format!("/proc/{pid}/task")) else { return Vec::new() };
    let names = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
    names.filter_map(|name| name.parse().ok().map(Pid)).collect()
}

fn read(pid: Pid, tid: Pid) -> Option<Used> {
    let text = fs::read_to_string(format!("/proc/{pid}/task/{tid}/schedstat")).ok()?;
    let mut numbers = text.split_ascii_whitespace().map_while(|word| word.parse().ok());
    Some(Used { run: numbers.next()?, wait: numbers.next()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn own(elapsed_ms: u64, run_ms: u64, wait_ms: u64) -> f64 {
        let used = Used { run: run_ms * 1_000_000, wait: wait_ms * 1_000_000 };
        (passed(Duration::from_millis(elapsed_ms), used, 5.0).own_s * 1e6).round() / 1e3
    }

    #[test]
    fn running_is_dilated_idling_is_not_and_queueing_does_not_count() {
        assert_eq!(own(1000, 0, 0), 1000.0, "idle");
        assert_eq!(own(1000, 1000, 0), 200.0, "one thread");
        assert_eq!(own(1000, 500, 0), 600.0, "half idle");
        assert_eq!(own(1000, 500, 500), 100.0, "half of the time another had the CPU");
        assert_eq!(own(1000, 2000, 0), 200.0, "two threads on two CPUs");
        assert_eq!(own(1000, 2000, 2000), 100.0, "four threads on two CPUs");
        assert_eq!(own(1000, 0, 500), 500.0, "waited, never ran");
    }

    #[test]
    fn our_own_threads_have_clocks() {
        let us = Pid(std::process::id().cast_signed());
        let mut clock = Clock::new(1.0);
        let start = Instant::now();
        while start.elapsed() < Duration::from_millis(50) {}
        let passed = clock.passed(&[us], 0);
        assert!(passed.cpu_s > 0.0, "{passed:?}");
    }
}
