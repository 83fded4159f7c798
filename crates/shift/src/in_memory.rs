//! Our own memory stays resident: when memory gets short, who brings more must not wait for it.

use nix::sys::mman::{MlockAllFlags, mlockall};
use std::io;

/// Keeps all that we have in memory, and what comes later (a device that is mapped, too) once it is touched. Processes
/// that we start have to do so themselves (`mlockall(2)`).
///
/// # Errors
/// Without the right to lock so much.
pub fn stay_in_memory() -> io::Result<()> {
    mlockall(MlockAllFlags::MCL_CURRENT)?;
    let on_fault = MlockAllFlags::from_bits_retain(libc::MCL_ONFAULT);
    Ok(mlockall(MlockAllFlags::MCL_FUTURE | on_fault)?)
}
