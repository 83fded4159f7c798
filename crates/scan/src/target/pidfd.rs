//! Processes by descriptor: unlike a number, one never comes to mean another process.

use pagetide_types::Pid;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

/// Opens a process.
pub(crate) fn open(pid: Pid) -> io::Result<OwnedFd> {
    // SAFETY: plain system call with integer arguments.
    let fd = unsafe { libc::syscall(libc::SYS_pidfd_open, pid.0, 0) };
    let fd = i32::try_from(fd).map_err(io::Error::other)?;
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: a fresh descriptor that nobody else owns.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Sends a signal to it; whether it was still there to get it.
pub(crate) fn signal(process: &OwnedFd, signal: libc::c_int) -> bool {
    let none = std::ptr::null::<libc::siginfo_t>();
    // SAFETY: plain system call; no signal information is passed.
    let sent =
        unsafe { libc::syscall(libc::SYS_pidfd_send_signal, process.as_raw_fd(), signal, none, 0) };
    sent == 0
}

/// Whether it has ended: a call without a path to look up, cheap enough to be asked often.
pub(crate) fn has_ended(process: &OwnedFd) -> bool {
    let mut poll = libc::pollfd { fd: process.as_raw_fd(), events: libc::POLLIN, revents: 0 };
    // SAFETY: one valid pollfd; no waiting.
    unsafe { libc::poll(&raw mut poll, 1, 0) == 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_ends_before_it_is_waited_for() {
        let mut child = std::process::Command::new("sleep").arg("600").spawn().unwrap();
        let process = open(Pid(child.id().cast_signed())).unwrap();
        assert!(!has_ended(&process));
        assert!(signal(&process, libc::SIGKILL));
        while !has_ended(&process) {
            std::thread::yield_now();
        }
        child.wait().unwrap();
        assert!(has_ended(&process) && !signal(&process, 0));
    }
}
