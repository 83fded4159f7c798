//! One pass of the page-table scan over a process against the kernel's own walk of the same memory
//! (reading `/proc/PID/smaps`), and the cost of clearing accessed bits by `process_madvise`.
//!
//! `scan-speed PID START END HUGE REPEATS`: addresses in hexadecimal; prints one CSV line per
//! repeat and kind (kind, GiB, seconds, calls). HUGE is 1 for huge pages, else 0.
#![expect(clippy::unwrap_used, reason = "a measurement that fails may stop")]

use pagetide_scan::{Range, Walker};
use pagetide_types::Pid;
use std::fs::File;
use std::io::{Read, Write};
use std::time::{Duration, Instant};

const MADV_COLD: libc::c_int = 20;
/// As in the recorder: 512 base pages, or 8 huge ones, per call.
const CLEAR_BYTES: [u64; 2] = [2 << 20, 16 << 20];

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [pid, start, end, huge, repeats] = &words[..] else {
        eprintln!("usage: scan-speed PID START END HUGE REPEATS");
        std::process::exit(2);
    };
    let pid = Pid(pid.parse().unwrap());
    let area = Range {
        start: u64::from_str_radix(start, 16).unwrap(),
        end: u64::from_str_radix(end, 16).unwrap(),
    };
    let huge = usize::from(huge == "1");
    let gib = (area.end - area.start) as f64 / (1u64 << 30) as f64;
    let mut walker = Walker::load(&[]).unwrap();
    let watch = walker.watch(pid).unwrap();
    let (mut rows, mut bits, mut text) = (Vec::new(), Vec::new(), Vec::new());
    let mut out = std::io::stdout().lock();
    for _ in 0..repeats.parse::<u32>().unwrap() {
        let mut report = |kind: &str, took: Duration, calls: usize| {
            writeln!(out, "{kind},{gib},{:.9},{calls}", took.as_secs_f64()).unwrap();
        };
        rows.clear();
        let began = Instant::now();
        walker.walk(&watch, &[area], &mut rows, &mut bits).unwrap();
        report("scan", began.elapsed(), 1);
        let present: u64 = rows.iter().map(|row| u64::from(row.present)).sum();
        assert_eq!(present, (area.end - area.start) >> 12, "all of it is resident");

        text.clear();
        let began = Instant::now();
        File::open(format!("/proc/{pid}/smaps")).unwrap().read_to_end(&mut text).unwrap();
        report("smaps", began.elapsed(), 1);

        let (took, longest, calls) = clear(pid, area, CLEAR_BYTES[huge]);
        report("clear", took, calls);
        report("longest-clear", longest, 1);
    }
}

/// Clears the area in calls of `step` bytes: time in all, the longest call, calls.
fn clear(pid: Pid, area: Range, step: u64) -> (Duration, Duration, usize) {
    // SAFETY: plain system call with integer arguments.
    let pidfd = unsafe { libc::syscall(libc::SYS_pidfd_open, pid.0, 0) };
    assert!(pidfd >= 0, "{}", std::io::Error::last_os_error());
    let (mut took, mut longest, mut calls) = (Duration::ZERO, Duration::ZERO, 0);
    let mut at = area.start;
    while at < area.end {
        let len = step.min(area.end - at);
        #[expect(clippy::cast_possible_truncation, reason = "64-bit only")]
        let iovec = libc::iovec { iov_base: at as *mut libc::c_void, iov_len: len as usize };
        let began = Instant::now();
        // SAFETY: the iovec lives through the call; its address is the target's, not ours.
        let done = unsafe {
            libc::syscall(libc::SYS_process_madvise, pidfd, &raw const iovec, 1, MADV_COLD, 0)
        };
        let call = began.elapsed();
        assert!(done > 0, "{}", std::io::Error::last_os_error());
        (took, longest, calls) = (took + call, longest.max(call), calls + 1);
        at += len;
    }
    #[expect(clippy::cast_possible_truncation, reason = "a descriptor")]
    // SAFETY: our own descriptor, closed once.
    let _ = unsafe { libc::close(pidfd as libc::c_int) };
    (took, longest, calls)
}
