//! The CPU time of a process with many threads. The kernel adds it up thread by thread whenever it is asked, unless a
//! timer waits for it: then it keeps the sum, and whoever asks reads one number (`thread_group_cputimer`,
//! kernel/time/posix-cpu-timers.c). So a timer is set that never fires.

use pagetide_types::Pid;
use std::io;
use std::mem::zeroed;

/// linux/posix-timers.h: the kind of CPU clock that counts nanoseconds.
const CPUCLOCK_SCHED: libc::clockid_t = 2;
/// CPU time at which it would fire: more than a hundred years.
const NEVER_S: libc::time_t = 1 << 32;

/// See the module. The kernel stops adding up when it is dropped.
#[derive(Debug)]
pub(crate) struct GroupClock(libc::timer_t);

// SAFETY: a number of the kernel's, whichever thread names it.
unsafe impl Send for GroupClock {}
// SAFETY: as above; nothing is changed through it but at its end.
unsafe impl Sync for GroupClock {}

impl GroupClock {
    /// The CPU clock of a process, which any process may read.
    pub(crate) fn of(pid: Pid) -> libc::clockid_t {
        (!pid.0 << 3) | CPUCLOCK_SCHED
    }

    /// Has the kernel add up.
    pub(crate) fn start(pid: Pid) -> io::Result<Self> {
        let mut timer: libc::timer_t = std::ptr::null_mut();
        // SAFETY: an all-zero sigevent is valid.
        let mut event: libc::sigevent = unsafe { zeroed() };
        event.sigev_notify = libc::SIGEV_SIGNAL;
        event.sigev_signo = libc::SIGURG;
        // SAFETY: both live through the call.
        if unsafe { libc::timer_create(Self::of(pid), &raw mut event, &raw mut timer) } != 0 {
            return Err(io::Error::last_os_error());
        }
        let clock = Self(timer);
        // SAFETY: an all-zero itimerspec is valid.
        let mut when: libc::itimerspec = unsafe { zeroed() };
        when.it_value.tv_sec = NEVER_S;
        // SAFETY: a timer of ours; `when` lives through the call, and nothing is wanted back.
        match unsafe { libc::timer_settime(timer, 0, &raw const when, std::ptr::null_mut()) } {
            0 => Ok(clock),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

impl Drop for GroupClock {
    fn drop(&mut self) {
        // SAFETY: a timer of ours, which nobody names any more.
        unsafe { libc::timer_delete(self.0) };
    }
}
