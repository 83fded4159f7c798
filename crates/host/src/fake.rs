//! Fake trees for tests: a host in a temporary directory.

use crate::Host;
use std::{ffi::OsStr, fs, os::unix::fs::symlink, path::PathBuf};

pub(crate) struct Fake(tempfile::TempDir);

impl Fake {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }
    pub(crate) fn host(&self) -> Host {
        Host::new(self.0.path())
    }
    pub(crate) fn path(&self, path: impl AsRef<OsStr>) -> PathBuf {
        self.host().path(PathBuf::from(path.as_ref()))
    }
    pub(crate) fn dir(&self, path: impl AsRef<OsStr>) -> &Self {
        fs::create_dir_all(self.path(path)).unwrap();
        self
    }
    pub(crate) fn file(&self, path: impl AsRef<OsStr>, content: impl AsRef<[u8]>) -> &Self {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
        self
    }
    pub(crate) fn link(&self, path: impl AsRef<OsStr>, target: impl AsRef<OsStr>) -> &Self {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        symlink(target.as_ref(), path).unwrap();
        self
    }
    /// A sleeping process with 160 ms of CPU time and 100 ms of ended children.
    pub(crate) fn process(&self, pid: i32, name: &str, parent: i32) -> &Self {
        self.stat(pid, name, 'S', parent, 0x40_0000, 1000)
    }
    pub(crate) fn stat(
        &self,
        pid: i32,
        name: &str,
        state: char,
        parent: i32,
        flags: u64,
        start: u64,
    ) -> &Self {
        let line = format!(
            "{pid} ({name}) {state} {parent} 1 1 0 -1 {flags} 97 0 0 0 11 5 7 3 20 0 1 0 {start} \
             3133440 382 18446744073709551615\n"
        );
        self.file(format!("proc/{pid}/stat"), line)
    }
}
