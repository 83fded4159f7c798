//! Ctrl-C and termination: the first asks to stop, a second one ends at once.

use std::sync::atomic::{AtomicBool, Ordering};

static ASKED: AtomicBool = AtomicBool::new(false);

extern "C" fn note(_signal: libc::c_int) {
    if ASKED.swap(true, Ordering::Relaxed) {
        // SAFETY: `_exit` may be called from a signal handler.
        unsafe { libc::_exit(i32::from(crate::exit::INTERRUPTED)) };
    }
}

/// From now on SIGINT, SIGTERM and SIGHUP only ask to stop; what was ignored (`nohup`) still is.
pub(crate) fn listen() {
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
        // SAFETY: the handler only touches an atomic and calls `_exit`.
        unsafe {
            if libc::signal(signal, note as *const () as libc::sighandler_t) == libc::SIG_IGN {
                libc::signal(signal, libc::SIG_IGN);
            }
        }
    }
}

/// Whether the user asked to stop.
pub(crate) fn asked() -> bool {
    ASKED.load(Ordering::Relaxed)
}
