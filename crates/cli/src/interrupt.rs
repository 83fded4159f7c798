//! Ctrl-C and termination: the first asks to stop, a later one ends at once.

use std::sync::atomic::{AtomicU64, Ordering};

/// When it was asked first, nanoseconds of the monotonic clock; 0 if it was not.
static ASKED: AtomicU64 = AtomicU64::new(0);
/// What comes so soon after the first is the same wish: `timeout` signals the program, and then its whole group.
const SAME_NS: u64 = 500_000_000;

extern "C" fn note(_signal: libc::c_int) {
    let now = now_ns();
    let first = ASKED.compare_exchange(0, now, Ordering::Relaxed, Ordering::Relaxed);
    if first.is_err_and(|first| now.saturating_sub(first) > SAME_NS) {
        // SAFETY: `_exit` may be called from a signal handler.
        unsafe { libc::_exit(i32::from(crate::exit::INTERRUPTED)) };
    }
}

/// The monotonic clock, which may be read in a signal handler.
fn now_ns() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the time is ours to write to.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut time) };
    time.tv_sec.unsigned_abs() * 1_000_000_000 + time.tv_nsec.unsigned_abs()
}

/// From now on SIGINT, SIGTERM and SIGHUP only ask to stop; what was ignored (`nohup`) still is.
pub(crate) fn listen() {
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
        // SAFETY: the handler only reads a clock, touches an atomic and calls `_exit`.
        unsafe {
            if libc::signal(signal, note as *const () as libc::sighandler_t) == libc::SIG_IGN {
                libc::signal(signal, libc::SIG_IGN);
            }
        }
    }
}

/// Whether the user asked to stop.
pub(crate) fn asked() -> bool {
    ASKED.load(Ordering::Relaxed) != 0
}
