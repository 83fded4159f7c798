//! Which processes a recorder watches, for other recorders to know: two on one process clear the accessed bits that
//! the other one looks for, and neither can tell.

use pagetide_types::Pid;
use std::fs::{DirBuilder, File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;

/// A file of which each process number is a byte; who watches it holds a lock on that byte, which the kernel takes
/// back when we end, however that is.
pub(crate) struct Claims(Option<File>);

impl Claims {
    /// Those of all recorders on this machine; without a place for the file nobody knows of anybody.
    pub(crate) fn on(folder: &Path) -> Self {
        let open = || {
            DirBuilder::new().mode(0o700).recursive(true).create(folder)?;
            OpenOptions::new()
                .read(true)
                .write(true)
                .create(true)
                .truncate(false)
                .mode(0o600)
                .custom_flags(libc::O_NOFOLLOW)
                .open(folder.join("watched"))
        };
        let file: io::Result<File> = open();
        Self(
            file.inspect_err(|error| tracing::debug!(%error, "recorders do not know each other"))
                .ok(),
        )
    }

    /// Claims a process. False if another recorder has.
    pub(crate) fn take(&self, pid: Pid) -> bool {
        self.lock(pid, libc::F_WRLCK)
    }

    /// Its number may be another's soon.
    pub(crate) fn give_up(&self, pid: Pid) {
        self.lock(pid, libc::F_UNLCK);
    }

    fn lock(&self, pid: Pid, kind: libc::c_int) -> bool {
        let (Some(file), Ok(kind)) = (&self.0, i16::try_from(kind)) else { return true };
        let byte = libc::flock {
            l_type: kind,
            l_whence: 0, // SEEK_SET
            l_start: i64::from(pid.0),
            l_len: 1,
            l_pid: 0,
        };
        // SAFETY: a descriptor that is open, and a request that lives through the call.
        let done =
            unsafe { libc::fcntl(file.as_raw_fd(), libc::F_OFD_SETLK, &raw const byte) } == 0;
        done || io::Error::last_os_error().kind() != io::ErrorKind::WouldBlock
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_watched_by_one_recorder_until_that_gives_it_up_or_ends() {
        let folder = tempfile::tempdir().unwrap();
        let [one, other] = [0, 1].map(|_| Claims::on(&folder.path().join("x")));
        assert!(one.take(Pid(7)) && one.take(Pid(7)) && other.take(Pid(8)));
        assert!(!other.take(Pid(7)) && !one.take(Pid(8)));
        one.give_up(Pid(7));
        assert!(other.take(Pid(7)));
        drop(other);
        assert!(one.take(Pid(7)) && one.take(Pid(8)));
        let nowhere = Claims::on(Path::new("/proc/no/such"));
        assert!(nowhere.take(Pid(7)), "where nobody can tell nothing is said");
    }
}
