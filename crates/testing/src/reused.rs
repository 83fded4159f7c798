//! A process under a number of the test's choice, as when numbers are reused.

use std::mem::size_of;

/// `struct clone_args` (linux/sched.h) up to `set_tid_size`.
#[repr(C)]
#[derive(Default)]
struct CloneArgs {
    flags: u64,
    pidfd: u64,
    child_tid: u64,
    parent_tid: u64,
    exit_signal: u64,
    stack: u64,
    stack_size: u64,
    tls: u64,
    set_tid: u64,
    set_tid_size: u64,
}

/// A child that does nothing; killed and collected on drop.
#[derive(Debug)]
pub struct Numbered(libc::pid_t);

/// Starts a child with this number (clone3(2) with `set_tid`). None where that is not allowed, or
/// the number is taken.
#[must_use]
pub fn process_with_number(pid: i32) -> Option<Numbered> {
    let wanted: libc::pid_t = pid;
    let parent = std::process::id();
    let arguments = CloneArgs {
        exit_signal: libc::SIGCHLD.unsigned_abs().into(),
        set_tid: (&raw const wanted) as u64,
        set_tid_size: 1,
        ..CloneArgs::default()
    };
    // SAFETY: as fork(2); the child only waits for its end.
    let found =
        unsafe { libc::syscall(libc::SYS_clone3, &raw const arguments, size_of::<CloneArgs>()) };
    if found == 0 {
        loop {
            // SAFETY: plain system calls.
            unsafe {
                libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
                if libc::getppid().unsigned_abs() != parent {
                    libc::_exit(1);
                }
                libc::pause();
            }
        }
    }
    (found > 0).then_some(Numbered(pid))
}

impl Drop for Numbered {
    fn drop(&mut self) {
        // SAFETY: our own child, not collected yet.
        unsafe {
            libc::kill(self.0, libc::SIGKILL);
            libc::waitpid(self.0, std::ptr::null_mut(), 0);
        }
    }
}
