//! How much of a time other work, the hypervisor or a stall took from this process and its
//! descendants: what they waited for a CPU (`/proc/PID/task/TID/schedstat`, in the kernel's
//! Documentation/scheduler/sched-stats.rst), what the hypervisor gave to others (`steal` in
//! `/proc/stat`, see proc_stat(5)), and by how much sleeps came too late.

use pagetide_host::Host;
use pagetide_types::Pid;
use std::collections::HashMap;
use std::fmt;
use std::fs;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Time lost over time watched from which on a result says nothing.
const LARGE: f64 = 0.02;
/// Between two looks at the clock; a sleep that is later than `LATE` was a stall.
const NAP: Duration = Duration::from_millis(20);
const LATE: Duration = Duration::from_millis(10);
/// Naps between two looks at all processes; who ends in between takes what it waited along.
const NAPS: u32 = 10;
/// The unit of `/proc/stat` (`USER_HZ`).
const TICK: Duration = Duration::from_millis(10);

/// What was lost during a time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Disturbance {
    /// How long it was watched.
    pub wall: Duration,
    /// What all threads of the family together waited for a CPU.
    pub waited: Duration,
    /// What the hypervisor took from each CPU on average.
    pub stolen: Duration,
    /// What the watcher's own sleeps were too late.
    pub stalled: Duration,
}

impl Disturbance {
    /// Time lost over time watched; may exceed 1, for many threads can wait at once.
    #[must_use]
    pub fn share(&self) -> f64 {
        let lost = self.waited + self.stolen + self.stalled;
        lost.as_secs_f64() / self.wall.as_secs_f64().max(1e-9)
    }

    /// Whether so little was lost that a wrong result is a wrong program's.
    #[must_use]
    pub fn is_small(&self) -> bool {
        self.share() < LARGE
    }
}

impl fmt::Display for Disturbance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { wall, waited, stolen, stalled } = self;
        write!(f, "of {wall:.1?} {waited:.1?} waited for a CPU, ")?;
        write!(f, "{stolen:.1?} stolen, {stalled:.1?} stalled")
    }
}

/// Watches this process and its descendants until it is stopped.
#[derive(Debug)]
pub struct Watch {
    end: Sender<()>,
    thread: JoinHandle<Disturbance>,
}

impl Watch {
    /// Begins to watch.
    #[must_use]
    pub fn start() -> Self {
        let (end, ended) = mpsc::channel();
        let mut watcher = Watcher::new(Host::live());
        let thread = thread::spawn(move || {
            let mut naps = 0;
            loop {
                let before = Instant::now();
                let woken = ended.recv_timeout(NAP);
                let late = before.elapsed().saturating_sub(NAP);
                if late > LATE {
                    watcher.stalled += late;
                }
                naps += 1;
                if woken != Err(RecvTimeoutError::Timeout) {
                    return watcher.finish();
                }
                if naps % NAPS == 0 {
                    watcher.look();
                }
            }
        });
        Self { end, thread }
    }

    /// What was lost since.
    ///
    /// # Panics
    /// If the watching thread did.
    #[must_use]
    pub fn stop(self) -> Disturbance {
        // It waits for nothing else.
        let _ = self.end.send(());
        match self.thread.join() {
            Ok(disturbance) => disturbance,
            Err(panic) => std::panic::resume_unwind(panic),
        }
    }
}

struct Watcher {
    host: Host,
    start: Instant,
    stolen: Duration,
    /// What every thread had waited when it was last looked at, ns.
    known: HashMap<i32, u64>,
    waited: u64,
    stalled: Duration,
}

impl Watcher {
    fn new(host: Host) -> Self {
        let stolen = host_stolen(&host);
        let mut watcher = Self {
            host,
            start: Instant::now(),
            stolen,
            known: HashMap::new(),
            waited: 0,
            stalled: Duration::ZERO,
        };
        watcher.look();
        // What was waited before is no disturbance of what comes.
        watcher.waited = 0;
        watcher
    }

    fn look(&mut self) {
        let us = Pid(std::process::id().cast_signed());
        for pid in self.host.family(&[us]).unwrap_or_default() {
            let tasks = fs::read_dir(self.host.path(format!("proc/{pid}/task")));
            for task in tasks.into_iter().flatten().flatten() {
                let id = task.file_name().to_str().and_then(|name| name.parse().ok());
                let text = fs::read_to_string(task.path().join("schedstat"));
                let waited = text.ok().and_then(|text| run_delay(&text));
                if let (Some(id), Some(waited)) = (id, waited) {
                    let before = self.known.insert(id, waited).filter(|before| *before <= waited);
                    // A number that began anew belongs to another thread.
                    self.waited += waited - before.unwrap_or(0);
                }
            }
        }
    }

    fn finish(mut self) -> Disturbance {
        self.look();
        Disturbance {
            wall: self.start.elapsed(),
            waited: Duration::from_nanos(self.waited),
            stolen: host_stolen(&self.host).saturating_sub(self.stolen),
            stalled: self.stalled,
        }
    }
}

/// Nanoseconds that a thread waited on a run queue: the second number.
fn run_delay(schedstat: &str) -> Option<u64> {
    schedstat.split_whitespace().nth(1)?.parse().ok()
}

fn host_stolen(host: &Host) -> Duration {
    let stat = fs::read_to_string(host.path("proc/stat")).unwrap_or_default();
    stolen(&stat).unwrap_or_default()
}

/// Time taken from each CPU on average since the machine was started.
fn stolen(stat: &str) -> Option<Duration> {
    let cpus = stat.lines().filter(|line| line.starts_with("cpu") && !line.starts_with("cpu "));
    let cpus = u32::try_from(cpus.count()).ok()?.max(1);
    let all = stat.lines().find(|line| line.starts_with("cpu "))?;
    let ticks: u32 = all.split_whitespace().nth(8)?.parse().ok()?;
    Some(TICK * ticks / cpus)
}

#[cfg(test)]
mod tests {
    use super::*;
    use nix::sched::{CpuSet, sched_setaffinity};
    use nix::time::{ClockId, clock_gettime};
    use nix::unistd::Pid as Thread;
    use std::sync::Barrier;

    #[test]
    fn the_kernels_numbers_are_read_as_documented() {
        let stat = "cpu  10 0 3 900 5 0 1 42 7 0\ncpu0 5 0 1 450 2 0 1 40 7 0\n\
                    cpu1 5 0 2 450 3 0 0 2 0 0\nintr 9 8\n";
        assert_eq!(stolen(stat), Some(Duration::from_millis(210)));
        assert_eq!(stolen("cpu  1 2 3\ncpu0 1 2 3\n"), None);
        assert_eq!(run_delay("123456 789 12\n"), Some(789));
        assert_eq!(run_delay(""), None);
    }

    #[test]
    fn what_is_lost_adds_up() {
        let ms = Duration::from_millis;
        let lost =
            Disturbance { wall: ms(10_000), waited: ms(100), stolen: ms(50), stalled: ms(40) };
        assert!((lost.share() - 0.019).abs() < 1e-9 && lost.is_small());
        assert!(!Disturbance { stalled: ms(60), ..lost }.is_small());
    }

    #[test]
    fn threads_that_share_a_cpu_wait_for_it() {
        if !std::path::Path::new("/proc/self/schedstat").exists() {
            return crate::skip("threads_that_share_a_cpu_wait_for_it", "no /proc/self/schedstat");
        }
        let watch = Watch::start();
        let together = Barrier::new(2);
        // Each wants 0.2 s of the same CPU; where that one is not ours to use, they say so.
        let spin = || {
            let mut one = CpuSet::new();
            one.set(0).unwrap();
            let pinned = sched_setaffinity(Thread::from_raw(0), &one).is_ok();
            together.wait();
            let used = || Duration::from(clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).unwrap());
            let before = used();
            while used() - before < Duration::from_millis(200) {}
            pinned
        };
        let pinned = thread::scope(|scope| {
            let other = scope.spawn(spin);
            spin() & other.join().unwrap()
        });
        let lost = watch.stop();
        assert!(lost.wall >= Duration::from_millis(200), "{lost}");
        if pinned {
            // Whichever ran, the other waited.
            assert!(lost.waited > Duration::from_millis(150) && !lost.is_small(), "{lost}");
        }
    }
}
