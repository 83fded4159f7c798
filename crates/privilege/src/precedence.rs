//! Precedence of threads: the one that clears bits has it, others and what we start do not. A
//! thread inherits the niceness of the thread that made it (sched(7)), so it is set back.

use std::io;
use std::sync::OnceLock;

/// The niceness that we were started with.
static AT_START: OnceLock<libc::c_int> = OnceLock::new();

/// The niceness that what we start is to have.
pub(crate) fn ordinary_nice() -> libc::c_int {
    // SAFETY: plain system call. An error cannot be told from -1, and does not occur for ourselves.
    *AT_START.get_or_init(|| unsafe { libc::getpriority(libc::PRIO_PROCESS, 0) })
}

/// Gives this thread precedence and exact timers: it holds locks of the target for tens of
/// microseconds, and would hold them for milliseconds were it put off in the middle.
pub fn hurry() {
    ordinary_nice();
    // SAFETY: plain system calls that only affect the calling thread.
    let failed = unsafe {
        libc::prctl(libc::PR_SET_TIMERSLACK, 1, 0, 0, 0);
        libc::setpriority(libc::PRIO_PROCESS, 0, -20)
    };
    if failed != 0 {
        tracing::debug!("no precedence: {}", io::Error::last_os_error());
    }
}

/// Gives this thread the precedence that we were started with, whoever made it.
pub fn ordinary() {
    set_nice(ordinary_nice());
    // SAFETY: plain system call that only affects the calling thread; 0: the default.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 0, 0, 0, 0) };
}

/// May be called between fork and exec.
pub(crate) fn set_nice(nice: libc::c_int) {
    // SAFETY: plain system call that only affects the calling thread. Less precedence is always
    // allowed.
    unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, nice) };
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    fn nice() -> libc::c_int {
        // SAFETY: plain system call.
        unsafe { libc::getpriority(libc::PRIO_PROCESS, 0) }
    }

    #[test]
    fn a_thread_of_a_hurried_one_is_ordinary_when_it_says_so() {
        let before = ordinary_nice();
        thread::spawn(move || {
            hurry();
            thread::spawn(move || {
                ordinary();
                assert_eq!(nice(), before);
            })
            .join()
            .unwrap();
        })
        .join()
        .unwrap();
        assert_eq!(nice(), before, "only the calling thread");
    }
}
