//! The host's root, and reading files below it.

use crate::Error;
use pagetide_types::Pid;
use std::{
    ffi::OsString,
    fs::{self, File},
    io::{self, Read},
    path::{Path, PathBuf},
};

/// No file of procfs or sysfs that we read whole is longer; memory maps are not bound by it.
const LONGEST: u64 = 64 << 20;

/// A Linux machine, seen through the file system below a root.
#[derive(Clone, Debug)]
pub struct Host {
    root: PathBuf,
}

impl Default for Host {
    fn default() -> Self {
        Self::live()
    }
}

impl Host {
    /// The machine whose `/proc` and `/sys` lie below `root`.
    #[must_use]
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// The machine that we run on.
    #[must_use]
    pub fn live() -> Self {
        Self::new("/")
    }

    /// Where the host's absolute `path` lies.
    #[must_use]
    pub fn path(&self, path: impl AsRef<Path>) -> PathBuf {
        let path = path.as_ref();
        self.root.join(path.strip_prefix("/").unwrap_or(path))
    }

    /// `/proc/PID/rest`.
    pub(crate) fn proc(&self, pid: Pid, rest: &str) -> PathBuf {
        self.path(format!("proc/{pid}/{rest}"))
    }

    /// A whole file; `path` is the host's.
    pub(crate) fn read(&self, path: impl AsRef<Path>) -> Result<Vec<u8>, Error> {
        let path = self.path(path);
        let read = || -> io::Result<Vec<u8>> {
            let mut bytes = Vec::new();
            File::open(&path)?.take(LONGEST + 1).read_to_end(&mut bytes)?;
            if bytes.len() as u64 > LONGEST {
                return Err(io::Error::other(format!("longer than {LONGEST} bytes")));
            }
            Ok(bytes)
        };
        read().map_err(|source| fault(path.clone(), source))
    }

    /// A small file as trimmed text, if it is there and can be read: features come and go.
    pub(crate) fn text(&self, path: impl AsRef<Path>) -> Option<String> {
        self.read(path).ok().map(|bytes| String::from_utf8_lossy(&bytes).trim().to_owned())
    }

    /// A file below `/proc/PID`; a vanished process is told from a vanished file.
    pub(crate) fn read_proc(&self, pid: Pid, rest: &str) -> Result<Vec<u8>, Error> {
        self.read(self.proc_name(pid, rest)).map_err(|error| self.gone(pid, error))
    }

    /// Turns "no such file" into "no such process" where the process is gone.
    pub(crate) fn gone(&self, pid: Pid, error: Error) -> Error {
        match &error {
            Error::Read { source, .. }
                if source.raw_os_error() == Some(ESRCH)
                    || source.kind() == io::ErrorKind::NotFound
                        && !self.path(format!("proc/{pid}")).exists() =>
            {
                Error::NoProcess(pid)
            }
            _ => error,
        }
    }

    /// Names of a directory's entries, unsorted.
    pub(crate) fn entries(&self, path: impl AsRef<Path>) -> Result<Vec<OsString>, Error> {
        self.first_entries(path, usize::MAX)
    }

    /// So many of them at most, the first that the kernel lists.
    pub(crate) fn first_entries(
        &self,
        path: impl AsRef<Path>,
        most: usize,
    ) -> Result<Vec<OsString>, Error> {
        let path = self.path(path);
        fs::read_dir(&path)
            .and_then(|dir| dir.take(most).map(|entry| entry.map(|e| e.file_name())).collect())
            .map_err(|source| fault(path, source))
    }

    /// Target of a symbolic link.
    pub(crate) fn link(&self, path: impl AsRef<Path>) -> Result<PathBuf, Error> {
        let path = self.path(path);
        fs::read_link(&path).map_err(|source| fault(path, source))
    }

    fn proc_name(&self, pid: Pid, rest: &str) -> PathBuf {
        PathBuf::from(format!("proc/{pid}/{rest}"))
    }
}

/// `No such process`: procfs answers it for open files of a process that has exited.
const ESRCH: i32 = 3;

/// An I/O error with its path; a refusal gets its own variant, since it has a remedy.
pub(crate) fn fault(path: PathBuf, source: io::Error) -> Error {
    match source.kind() {
        io::ErrorKind::PermissionDenied => Error::Denied { path },
        _ => Error::Read { path, source },
    }
}

/// Lines of `bytes` with their numbers from 1, without the line end.
pub(crate) fn lines(bytes: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let body = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    let count = if body.is_empty() { 0 } else { usize::MAX };
    body.split(|&b| b == b'\n').take(count).enumerate().map(|(i, line)| (i + 1, line))
}

/// A decimal number that fills `bytes`.
pub(crate) fn decimal(bytes: &[u8]) -> Option<u64> {
    std::str::from_utf8(bytes).ok()?.parse().ok()
}
