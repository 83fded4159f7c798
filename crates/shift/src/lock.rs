//! Locks that say who holds them: one manager at a time, and one change at a time. Their files are for their owner
//! alone: who may read a file may lock it, and could keep us from giving memory back. For others it stands beside
//! them who manages.

use nix::{
    errno::Errno,
    fcntl::{Flock, FlockArg},
};
use pagetide_host::{Host, Identity};
use pagetide_types::Pid;
use std::{
    fs::{DirBuilder, File, OpenOptions, Permissions},
    io::{self, Read, Seek, Write},
    os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt},
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

/// The lock of who manages, and who that is, for all to read.
const MANAGER: &str = "manager.lock";
const NAMED: &str = "manager";
/// The lock on the journal.
pub(crate) const LOCKED: &str = "change.lock";

/// How often a lock that is held is tried again.
const AGAIN: Duration = Duration::from_millis(50);

/// So long the lock of who manages is tried: who looks whether anybody has it holds it for a moment.
const LOOKED_AT: Duration = Duration::from_secs(1);

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
    /// The folder of its file cannot be made.
    #[error("cannot make the folder {}: {source}; name a folder that can be made with --state", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// What the kernel answered.
        source: io::Error,
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
    /// The locks of him who shifts by himself: held for as long as he runs. One is of the folder of his journal, the other
    /// one of the machine, whatever the journal: two would take each other's devices.
    ///
    /// # Errors
    /// When another process has one, or it cannot be made.
    pub fn manager(folder: &Path, machine: &Path) -> Result<[Self; 2], LockError> {
        let of_machine = Self::take(machine, MANAGER, LOOKED_AT)?;
        let lock = Self::take(folder, MANAGER, LOOKED_AT)?;
        let path = folder.join(NAMED);
        named(&path).map_err(|source| LockError::Io { path, source })?;
        Ok([of_machine, lock])
    }

    /// The lock on the journal: held for one change. Waits for another's change up to a limit.
    ///
    /// # Errors
    /// When another process has it for all of the time, or it cannot be made.
    pub fn change(folder: &Path, limit: Duration) -> Result<Self, LockError> {
        Self::take(folder, LOCKED, limit)
    }

    /// Who shifts by himself just now; none where nobody does.
    #[must_use]
    pub fn manager_of(folder: &Path) -> Option<String> {
        let file = match File::open(folder.join(MANAGER)) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                return named_at(&Host::live(), &folder.join(NAMED));
            }
            Err(_) => return None,
        };
        match Flock::lock(file, FlockArg::LockSharedNonblock) {
            Err((mut file, Errno::EWOULDBLOCK)) => Some(holder(&mut file)),
            _ => None,
        }
    }

    fn take(folder: &Path, name: &str, limit: Duration) -> Result<Self, LockError> {
        let path = folder.join(name);
        let wrong = |source| LockError::Io { path: path.clone(), source };
        let open = || {
            make(folder)
                .map_err(|source| LockError::Folder { path: folder.to_owned(), source })
                .and_then(|()| open_for_us(&path).map_err(wrong))
        };
        let mut file = open()?;
        let since = Instant::now();
        loop {
            match Flock::lock(file, FlockArg::LockExclusiveNonblock) {
                Ok(locked) if !is_at(&locked, &path) => {
                    // Who had it took its file away; that keeps nobody out.
                    drop(locked);
                    file = open()?;
                }
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

/// Whether a file is the one at that place.
pub(crate) fn is_at(file: &File, path: &Path) -> bool {
    let number = |it: std::fs::Metadata| (it.dev(), it.ino());
    let there = std::fs::symlink_metadata(path).map(number);
    file.metadata().map(number).is_ok_and(|ours| there.is_ok_and(|there| there == ours))
}

/// Who we are.
fn us() -> String {
    let words: Vec<String> =
        std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
    format!("process {} ({})", std::process::id(), words.join(" "))
}

/// Writes who has the lock.
fn sign(file: &mut File) -> io::Result<()> {
    file.set_len(0)?;
    file.rewind()?;
    writeln!(file, "{}", us())
}

/// Writes down, for who may not lock, who manages: number, start and words.
fn named(path: &Path) -> io::Result<()> {
    let us_now = Pid(std::process::id().cast_signed());
    let id = Host::live().process(us_now).map_err(io::Error::other)?.id;
    let mut file = open_to_all(path)?;
    file.set_len(0)?;
    writeln!(file, "{} {}\n{}", id.pid, id.start_ticks, us())
}

/// Who manages by what is written down, if that process still runs.
fn named_at(host: &Host, path: &Path) -> Option<String> {
    let mut text = String::new();
    File::open(path).ok()?.take(4096).read_to_string(&mut text).ok()?;
    let (id, who) = text.split_once('\n')?;
    let (pid, start) = id.split_once(' ')?;
    let id = Identity { pid: Pid(pid.parse().ok()?), start_ticks: start.parse().ok()? };
    host.is_alive(id).then(|| who.trim().to_owned())
}

/// Makes a folder in which nobody else may write, whatever our umask is, so that it outlives a crash.
pub(crate) fn make(folder: &Path) -> io::Result<()> {
    let changed = changed_by(folder);
    DirBuilder::new().mode(0o755).recursive(true).create(folder)?;
    changed.iter().try_for_each(|folder| File::open(folder)?.sync_all())
}

/// The folders that get a new name in them when a folder is made.
fn changed_by(folder: &Path) -> Vec<PathBuf> {
    let missing = folder.ancestors().take_while(|it| !it.as_os_str().is_empty() && !it.exists());
    let here =
        |parent: &Path| if parent.as_os_str().is_empty() { ".".into() } else { parent.into() };
    missing.filter_map(Path::parent).map(here).collect()
}

/// Opens a file to read and write, or makes it; nobody else may open it.
fn open_for_us(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    let file =
        options.read(true).write(true).create(true).truncate(false).mode(0o600).open(path)?;
    // Versions before made it for all to read.
    file.set_permissions(Permissions::from_mode(0o600))?;
    Ok(file)
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
    use std::fs;
    use tempfile::TempDir;

    fn manager(folder: &TempDir, machine: &TempDir) -> Result<[Lock; 2], LockError> {
        Lock::manager(folder.path(), machine.path())
    }

    #[test]
    fn a_lock_says_who_has_it_and_is_free_when_dropped() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(Lock::manager_of(folder.path()), None);
        let machine = tempfile::tempdir().unwrap();
        let held = manager(&folder, &machine).unwrap();
        let us = format!("process {} (", std::process::id());
        assert!(Lock::manager_of(folder.path()).unwrap().starts_with(&us));
        let error = manager(&folder, &machine).unwrap_err().to_string();
        assert!(error.contains(&us) && error.contains("manager.lock"), "{error}");
        // A change is another matter.
        let _change = Lock::change(folder.path(), Duration::ZERO).unwrap();
        drop(held);
        assert_eq!(Lock::manager_of(folder.path()), None);
        manager(&folder, &machine).unwrap();
    }

    #[test]
    fn two_journals_make_no_two_managers_of_a_machine() {
        let [one, other, machine] = [(); 3].map(|()| tempfile::tempdir().unwrap());
        let _held = manager(&one, &machine).unwrap();
        let error = manager(&other, &machine).unwrap_err().to_string();
        let us = format!("process {} (", std::process::id());
        let path = machine.path().display().to_string();
        assert!(error.contains(&us) && error.contains(&path), "{error}");
    }

    #[test]
    fn all_folders_that_get_a_new_name_are_known() {
        let root = tempfile::tempdir().unwrap();
        let path = |words: &str| root.path().join(words);
        assert_eq!(changed_by(&path("a/b")), [path("a"), path("")]);
        make(&path("a/b")).unwrap();
        assert_eq!(changed_by(&path("a/b")), [] as [PathBuf; 0]);
        assert_eq!(changed_by(Path::new("no-such-folder")), [PathBuf::from(".")]);
    }

    #[test]
    fn who_looks_whether_anybody_manages_keeps_nobody_from_it() {
        let folder = tempfile::tempdir().unwrap();
        let machine = tempfile::tempdir().unwrap();
        drop(manager(&folder, &machine).unwrap());
        let file = File::open(folder.path().join(MANAGER)).unwrap();
        let looking = Flock::lock(file, FlockArg::LockSharedNonblock).ok().unwrap();
        std::thread::scope(|scope| {
            scope.spawn(move || {
                thread::sleep(2 * AGAIN);
                drop(looking);
            });
            manager(&folder, &machine).unwrap();
        });
    }

    #[test]
    fn nobody_else_may_lock_and_all_may_read_who_manages() {
        let folder = tempfile::tempdir().unwrap();
        // As versions before left it.
        fs::write(folder.path().join(MANAGER), "").unwrap();
        let machine = tempfile::tempdir().unwrap();
        let _held = manager(&folder, &machine).unwrap();
        let _change = Lock::change(folder.path(), Duration::ZERO).unwrap();
        let mode = |name| folder.path().join(name).metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!([MANAGER, "change.lock"].map(mode), [0o600; 2]);
        let named = folder.path().join(NAMED);
        let said = named_at(&Host::live(), &named).unwrap();
        assert!(said.starts_with(&format!("process {} (", std::process::id())), "{said}");
        let text = fs::read_to_string(&named).unwrap();
        let (id, who) = text.split_once('\n').unwrap();
        fs::write(&named, format!("{id}9\n{who}")).unwrap();
        assert_eq!(named_at(&Host::live(), &named), None, "another process under its number");
    }
}
