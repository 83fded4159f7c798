//! What a process does that has many threads.

use crate::child::{Area, Child};
use crate::recorded::alone;
use pagetide_scan::{Range, Walker};
use pagetide_types::Pid;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// More than a look asks one by one.
const MANY: usize = 100;

fn own_cpu_ns() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: a valid timespec.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &raw mut time) };
    time.tv_sec.unsigned_abs() * 1_000_000_000 + time.tv_nsec.unsigned_abs()
}

/// Threads of this process that sleep, and one that runs.
struct Crowd {
    stop: Arc<AtomicBool>,
    threads: Vec<thread::JoinHandle<()>>,
}

impl Crowd {
    fn of(sleeping: usize) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let spawn = |work: fn()| {
            let stop = Arc::clone(&stop);
            thread::spawn(move || {
                while !stop.load(Ordering::Relaxed) {
                    work();
                }
            })
        };
        let mut threads = vec![spawn(std::hint::spin_loop)];
        threads.extend((0..sleeping).map(|_| spawn(|| thread::park_timeout(Duration::MAX))));
        Self { stop, threads }
    }
}

impl Drop for Crowd {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            thread.thread().unpark();
            thread.join().unwrap();
        }
    }
}

/// CPU time of this process by its activity, and by its own clock, ns; whether the CPUs were asked.
fn cpu_of_crowd(sleeping: usize) -> (u64, u64, bool) {
    let mut walker = Walker::load(&[]).unwrap();
    let watch = walker.watch(Pid(std::process::id().cast_signed())).unwrap();
    let _crowd = Crowd::of(sleeping);
    // The first one only learns how many there are.
    walker.activity(&watch).unwrap();
    let (before, own) = (walker.activity(&watch).unwrap(), own_cpu_ns());
    let started = Instant::now();
    while started.elapsed() < Duration::from_millis(100) || own_cpu_ns() - own < 100_000_000 {
        thread::sleep(Duration::from_millis(5));
    }
    let (after, own) = (walker.activity(&watch).unwrap(), own_cpu_ns() - own);
    assert!(after.running > 0, "at least we are: {after:?}");
    (after.exec_ns - before.exec_ns, own, walker.asked_cpus())
}

#[test]
fn of_many_threads_the_cpus_are_asked_and_say_the_same() {
    let Some(_alone) = alone("of_many_threads_the_cpus_are_asked_and_say_the_same") else { return };
    for (sleeping, by_cpu) in [(1, false), (MANY, true)] {
        let (found, own, asked) = cpu_of_crowd(sleeping);
        assert_eq!(asked, by_cpu, "{sleeping} threads");
        // Who runs has last been counted at a tick of the timer, some milliseconds ago.
        let off = found.abs_diff(own);
        assert!(off < own / 4, "{sleeping} threads: {found} ns for {own}");
    }
}

#[test]
fn memory_is_found_though_its_first_thread_has_ended() {
    let Some(_alone) = alone("memory_is_found_though_its_first_thread_has_ended") else { return };
    let area = Area::private(256 * crate::child::PAGE);
    let child = Child::fork(
        || {
            area.write(0, area.len);
            // SAFETY: the other thread only sleeps; it has a stack of its own.
            unsafe {
                let stack = Area::private(64 * crate::child::PAGE);
                let top = stack.start.add(stack.len).cast();
                let flags = libc::CLONE_VM | libc::CLONE_THREAD | libc::CLONE_SIGHAND;
                libc::clone(sleep_for_ever, top, flags, std::ptr::null_mut());
            }
        },
        || {
            // SAFETY: ends this thread alone.
            unsafe { libc::syscall(libc::SYS_exit, 0) };
        },
    );
    let state = || std::fs::read_to_string(format!("/proc/{}/stat", child.pid())).unwrap();
    while !state().contains(") Z ") {
        thread::sleep(Duration::from_millis(1));
    }
    let mut walker = Walker::load(&[]).unwrap();
    let watch = walker.watch(child.pid()).unwrap();
    let start = area.start as u64;
    let (mut rows, mut bits) = (Vec::new(), Vec::new());
    let range = Range { start, end: start + area.len as u64 };
    walker.walk(&watch, &[range], &mut rows, &mut bits).unwrap();
    assert_eq!(rows.iter().map(|row| row.present).sum::<u16>(), 256);
}

extern "C" fn sleep_for_ever(_: *mut libc::c_void) -> libc::c_int {
    loop {
        // SAFETY: a plain system call.
        unsafe { libc::pause() };
    }
}
