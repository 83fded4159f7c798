//! Which processes a recorder watches, for other recorders to know: two on one process clear the accessed bits that
//! the other one looks for, and neither can tell.

use pagetide_types::Pid;
use std::fs::{DirBuilder, File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;

/// Each process number is a byte of a file, and another one from here on. Who watches it holds a lock on the first,
/// who found that taken and watches it all the same shares one on the second. The kernel takes locks back when we end,
/// however that is.
const ALSO: i64 = 1 << 32;

/// See [`ALSO`].
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

    /// Claims a process. False if another recorder has, which can see from now on that it is not alone.
    pub(crate) fn take(&self, pid: Pid) -> bool {
        let free = self.set(libc::F_WRLCK, of(pid));
        if !free {
            self.set(libc::F_RDLCK, ALSO + of(pid));
        }
        free
    }

    /// Its number may be another's soon.
    pub(crate) fn give_up(&self, pid: Pid) {
        self.set(libc::F_UNLCK, of(pid));
        self.set(libc::F_UNLCK, ALSO + of(pid));
    }

    /// How many of our processes another recorder watches, too, that came later.
    pub(crate) fn also_watched(&self, ours: impl Iterator<Item = Pid>) -> usize {
        let to_the_end = 0;
        if !self.is_another_s(ALSO, to_the_end) {
            return 0;
        }
        ours.filter(|pid| self.is_another_s(ALSO + of(*pid), 1)).count()
    }

    /// Locks a byte, or gives it up. False if another recorder has it.
    fn set(&self, kind: libc::c_int, byte: i64) -> bool {
        let asked = self.ask(libc::F_OFD_SETLK, kind, byte, 1);
        asked.err().is_none_or(|error| error.kind() != io::ErrorKind::WouldBlock)
    }

    /// Whether another recorder has one of these bytes.
    fn is_another_s(&self, first: i64, length: i64) -> bool {
        let held = self.ask(libc::F_OFD_GETLK, libc::F_WRLCK, first, length);
        held.is_ok_and(|kind| kind != libc::F_UNLCK)
    }

    /// Asks for a lock, and what became of the question.
    fn ask(&self, ask: libc::c_int, kind: libc::c_int, first: i64, length: i64) -> io::Result<i32> {
        let (Some(file), Ok(kind)) = (&self.0, i16::try_from(kind)) else {
            return Ok(libc::F_UNLCK);
        };
        let mut bytes = libc::flock {
            l_type: kind,
            l_whence: 0, // SEEK_SET
            l_start: first,
            l_len: length,
            l_pid: 0,
        };
        // SAFETY: a descriptor that is open, and a request that lives through the call.
        let done = unsafe { libc::fcntl(file.as_raw_fd(), ask, &raw mut bytes) } == 0;
        if done { Ok(i32::from(bytes.l_type)) } else { Err(io::Error::last_os_error()) }
    }
}

fn of(pid: Pid) -> i64 {
    i64::from(pid.0)
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
    #[test]
    fn who_came_first_sees_who_came_later() {
        let folder = tempfile::tempdir().unwrap();
        let [one, other, third] = [0, 1, 2].map(|_| Claims::on(folder.path()));
        let ours = || [7, 8, 9].map(Pid).into_iter();
        assert!(ours().all(|pid| one.take(pid)));
        assert_eq!(one.also_watched(ours()), 0);
        for pid in [Pid(7), Pid(9), Pid(100)] {
            other.take(pid);
        }
        assert_eq!((one.also_watched(ours()), other.also_watched(ours())), (2, 0));
        assert!(!third.take(Pid(9)));
        assert_eq!(other.also_watched(ours()), 1, "the second sees the third");
        drop((other, third));
        assert_eq!(one.also_watched(ours()), 0, "they have ended");
    }
}
