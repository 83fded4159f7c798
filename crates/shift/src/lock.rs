//! Locks that say who holds them: one manager at a time, and one change at a time.

use nix::{
    errno::Errno,
    fcntl::{Flock, FlockArg},
};
use std::{
    fs::{self, File, OpenOptions},
    io::{self, Read, Seek, Write},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

/// How often a lock that is held is tried again.
const AGAIN: Duration = Duration::from_millis(50);

/// Why a lock was not got.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LockError {
    /// Another process has it.
    #[error("{} is held by {by}; wait for it, or end it (what it converted stays as it is)", path.display())]
    Held {
        /// The lock's file.
        path: PathBuf,
        /// Who, as it wrote there.
        by: String,
    },
    /// Its file cannot be made or locked.
    #[error("cannot lock {}: {source}", path.display())]
    Io {
        /// The lock's file.
        path: PathBuf,
        /// What the kernel answered.
        source: io::Error,
    },
}

/// A lock that is held until it is dropped, or its process ends.
#[derive(Debug)]
pub struct Lock(#[expect(dead_code, reason = "dropping it unlocks")] Flock<File>);

impl Lock {
    /// The lock of him who shifts by himself: held for as long as he runs.
    ///
    /// # Errors
    /// When another process has it, or it cannot be made.
    pub fn manager(folder: &Path) -> Result<Self, LockError> {
        Self::take(folder, "manager.lock", Duration::ZERO)
    }

    /// The lock on the journal: held for one change. Waits for another's change up to a limit.
    ///
    /// # Errors
    /// When another process has it for all of the time, or it cannot be made.
    pub fn change(folder: &Path, limit: Duration) -> Result<Self, LockError> {
        Self::take(folder, "change.lock", limit)
    }

    /// Who shifts by himself just now; none where nobody does.
    #[must_use]
    pub fn manager_of(folder: &Path) -> Option<String> {
        let file = File::open(folder.join("manager.lock")).ok()?;
        match Flock::lock(file, FlockArg::LockSharedNonblock) {
            Err((mut file, Errno::EWOULDBLOCK)) => Some(holder(&mut file)),
            _ => None,
        }
    }

    fn take(folder: &Path, name: &str, limit: Duration) -> Result<Self, LockError> {
        let path = folder.join(name);
        let wrong = |source| LockError::Io { path: path.clone(), source };
        fs::create_dir_all(folder).map_err(wrong)?;
        let mut file = open_to_all(&path).map_err(wrong)?;
        let since = Instant::now();
        loop {
            match Flock::lock(file, FlockArg::LockExclusiveNonblock) {
                Ok(mut locked) => {
                    sign(&mut locked).map_err(wrong)?;
                    return Ok(Self(locked));
                }
                Err((mut held, Errno::EWOULDBLOCK)) => {
                    if since.elapsed() >= limit {
                        return Err(LockError::Held { path, by: holder(&mut held) });
                    }
                    file = held;
                    thread::sleep(AGAIN);
                }
                Err((_, errno)) => return Err(wrong(errno.into())),
            }
        }
    }
}

/// Writes who has the lock.
fn sign(file: &mut File) -> io::Result<()> {
    let words: Vec<String> =
        std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
    file.set_len(0)?;
    file.rewind()?;
    writeln!(file, "process {} ({})", std::process::id(), words.join(" "))
}

/// Opens a file to read and write, or makes it; all may read it.
pub(crate) fn open_to_all(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false).mode(0o644).open(path)
}

fn holder(file: &mut File) -> String {
    let mut text = String::new();
    let read = file.rewind().and_then(|()| file.take(4096).read_to_string(&mut text));
    match (read, text.trim()) {
        (Ok(_), said) if !said.is_empty() => said.to_owned(),
        _ => "another process".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_says_who_has_it_and_is_free_when_dropped() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(Lock::manager_of(folder.path()), None);
        let held = Lock::manager(folder.path()).unwrap();
        let us = format!("process {} (", std::process::id());
        assert!(Lock::manager_of(folder.path()).unwrap().starts_with(&us));
        let error = Lock::manager(folder.path()).unwrap_err().to_string();
        assert!(error.contains(&us) && error.contains("manager.lock"), "{error}");
        // A change is another matter.
        let _change = Lock::change(folder.path(), Duration::ZERO).unwrap();
        drop(held);
        assert_eq!(Lock::manager_of(folder.path()), None);
        Lock::manager(folder.path()).unwrap();
    }
}
