//! Starts QEMU so that it never outlives us.

use crate::{emulator::Emulator, guest::GuestError};
use nix::sys::{prctl, signal::Signal};
use std::{
    fs, io,
    os::unix::process::CommandExt,
    path::Path,
    process::{Child, Stdio},
};

/// Starts `emulator` with `arguments`; what it complains of goes into the file `complaints`. The kernel
/// ends it together with the thread that calls this.
pub(crate) fn spawn(
    emulator: &Emulator,
    arguments: &[String],
    complaints: &Path,
) -> Result<Child, GuestError> {
    let log = fs::File::create(complaints)
        .map_err(|error| GuestError::File(complaints.to_owned(), error))?;
    let mut command = emulator.command();
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
    // Ctrl-C reaches us alone; we end QEMU.
    command.process_group(0);
    let parent = nix::unistd::getpid();
    let end_with_us = move || {
        prctl::set_pdeathsig(Signal::SIGKILL)?;
        // We may have ended before that took effect.
        if nix::unistd::getppid() == parent { Ok(()) } else { Err(io::ErrorKind::NotFound.into()) }
    };
    // SAFETY: between fork and exec only prctl and getppid are called, which are
    // async-signal-safe; nothing is allocated.
    unsafe { command.pre_exec(end_with_us) };
    command.spawn().map_err(GuestError::Start)
}
