//! The way of the counters, with counters that every kernel has, on a real child.

use super::*;
use pagetide_host::CpuEvent;
use pagetide_testing::skip;
use perf_event_open_sys::bindings;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

const TASK_CLOCK: CpuEvent = software(bindings::PERF_COUNT_SW_TASK_CLOCK);
const FAULTS: CpuEvent = software(bindings::PERF_COUNT_SW_PAGE_FAULTS);

const fn software(config: bindings::perf_sw_ids) -> CpuEvent {
    CpuEvent { kind: bindings::PERF_TYPE_SOFTWARE, config: config as u64 }
}

fn events(whole: CpuEvent, stalled: CpuEvent) -> Option<StallEvents> {
    Some(StallEvents { name: "a test's", whole, stalled })
}

/// Ends the child with the test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Running {
    fn pid(&self) -> Pid {
        Pid(self.0.id().cast_signed())
    }

    /// A program of python's, and its words, one a line.
    fn python(program: &str) -> (Self, impl Iterator<Item = String>) {
        let mut child = Command::new("python3")
            .args(["-u", "-c", program])
            .stdout(Stdio::piped())
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
        (Self(child), lines)
    }

    /// Waits until it has said that, and its first thread sleeps.
    fn has_said(&self, word: &str, said: &mut impl Iterator<Item = String>) {
        assert_eq!(said.next().as_deref(), Some(word));
        let asleep = || {
            let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.pid())).unwrap();
            stat.rsplit(')').next().is_some_and(|rest| rest.starts_with(" S"))
        };
        while !asleep() {
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    fn go_on(&self) {
        self.0.stdin.as_ref().unwrap().write_all(b"go\n").unwrap();
    }
}

fn clock_and_clock() -> Stalls {
    Stalls::new(events(TASK_CLOCK, TASK_CLOCK))
}

/// Nanoseconds counted in all groups.
fn counted(stalls: &Stalls) -> (u64, u64) {
    let readings = stalls.processes.values().flatten().map(|c| c.group.read().unwrap());
    readings.fold((0, 0), |(time, count), r| (time + r.running, count + r.leader))
}

fn permitted(name: &str) -> bool {
    match Group::open(0, TASK_CLOCK, TASK_CLOCK) {
        Ok(_) => true,
        Err(error) => {
            skip(name, &format!("counters cannot be opened: {error}"));
            false
        }
    }
}

#[test]
fn threads_that_are_there_and_threads_to_come_are_counted() {
    if !permitted("threads_that_are_there_and_threads_to_come_are_counted") {
        return;
    }
    let (child, mut said) = Running::python(
        "import threading, sys, time\n\
         def work(s):\n  while time.thread_time() < s: pass\n\
         stay = threading.Event()\n\
         old = threading.Thread(target=lambda: (stay.wait(), work(0.2)))\n\
         old.start()\nprint('there')\nsys.stdin.readline()\n\
         new = threading.Thread(target=work, args=(0.3,))\n\
         new.start()\nnew.join()\nstay.set()\nold.join()\nprint('done')\nsys.stdin.readline()\n",
    );
    child.has_said("there", &mut said);
    let mut stalls = clock_and_clock();
    stalls.follow(&Host::live(), [child.pid()].into_iter());
    assert_eq!(stalls.processes[&child.pid()].len(), 2, "one group for each thread there is");
    assert_eq!(counted(&stalls).1 / 100_000_000, 0, "nothing was done yet");
    child.go_on();
    child.has_said("done", &mut said);
    let (time, count) = counted(&stalls);
    // 0.2 s in the old thread, 0.3 s in one that did not exist when counting began; by another
    // clock than the threads' own.
    assert!(count > 400_000_000, "{count}");
    assert!(time.abs_diff(count) < count / 5, "{time} and {count}: no other wanted the counters");
    let share = stalls.share().unwrap();
    assert!(share > 0.99, "{share}: the clock over itself");
    assert_eq!(stalls.share(), None, "nothing ran since");
}

#[test]
fn a_child_process_is_counted_on_its_own_only() {
    if !permitted("a_child_process_is_counted_on_its_own_only") {
        return;
    }
    let (parent, mut said) = Running::python(
        "import os, sys, time\nprint('there')\nsys.stdin.readline()\npid = os.fork()\n\
         if pid == 0:\n  while time.process_time() < 1: pass\n  os._exit(0)\n\
         os.waitpid(pid, 0)\nprint('done')\nsys.stdin.readline()\n",
    );
    parent.has_said("there", &mut said);
    let mut stalls = clock_and_clock();
    stalls.follow(&Host::live(), [parent.pid()].into_iter());
    parent.go_on();
    parent.has_said("done", &mut said);
    // A stall of the machine counts as time on the CPU.
    assert!(counted(&stalls).1 < 800_000_000, "{:?}", counted(&stalls));
}

#[test]
fn what_is_gone_is_closed_and_what_cannot_be_counted_is_unknown() {
    let nobody = || std::iter::empty();
    let mut none = Stalls::new(None);
    none.follow(&Host::live(), [Pid(1)].into_iter());
    assert_eq!((none.share(), none.processes.len()), (None, 0));

    // An event that no kernel has: opening fails, nothing else does.
    let impossible = CpuEvent { kind: bindings::PERF_TYPE_SOFTWARE, config: 9999 };
    let mut stalls = Stalls::new(events(impossible, impossible));
    let own = Pid(std::process::id().cast_signed());
    stalls.follow(&Host::live(), [own].into_iter());
    assert_eq!((stalls.share(), stalls.events), (None, None));

    if permitted("what_is_gone_is_closed_and_what_cannot_be_counted_is_unknown") {
        // Of a program that spins, no page fault is left: a counter that stays at zero.
        let (child, mut said) = Running::python("print('there')\nwhile True: pass");
        assert_eq!(said.next().as_deref(), Some("there"));
        let mut stalls = Stalls::new(events(TASK_CLOCK, FAULTS));
        stalls.follow(&Host::live(), [child.pid()].into_iter());
        let read = |stalls: &Stalls| stalls.processes[&child.pid()][0].group.read().unwrap();
        while read(&stalls).leader < 50_000_000 {}
        let (before, share, after) = (read(&stalls).member, stalls.share(), read(&stalls).member);
        // Unless there was one just now.
        if before == after {
            assert_eq!(share.is_some(), before > 0, "zero is not believed");
        }
        stalls.follow(&Host::live(), nobody());
        assert_eq!(stalls.processes.len(), 0);
    }
}
