//! What can go wrong when the host is read; every message names the path at fault.

use pagetide_types::Pid;
use std::{io, path::PathBuf};

/// Why something could not be read from the host.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The process has exited, or never was.
    #[error("there is no process {0}; it has exited, or the number is wrong")]
    NoProcess(Pid),
    /// The kernel refused to show it.
    #[error("{} may not be read; run as root, or with CAP_SYS_PTRACE", path.display())]
    Denied {
        /// The file.
        path: PathBuf,
    },
    /// A file of the host could not be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the kernel answered.
        source: io::Error,
    },
    /// A file of the host says something unexpected.
    #[error("{}:{line}: {what}", path.display())]
    Parse {
        /// The file.
        path: PathBuf,
        /// Line, from 1.
        line: usize,
        /// What was expected and what was there.
        what: String,
    },
    /// No cgroup by that name in any mounted hierarchy.
    #[error("there is no cgroup '{given}'{}", hint(looked_in, candidates, *alike))]
    NoCgroup {
        /// What the user wrote.
        given: String,
        /// Mount points that were searched.
        looked_in: Vec<PathBuf>,
        /// Cgroups with a similar name, or the neighbours, best first.
        candidates: Vec<String>,
        /// Whether those have a similar name.
        alike: bool,
    },
}

fn hint(looked_in: &[PathBuf], candidates: &[String], alike: bool) -> String {
    if looked_in.is_empty() {
        return "; no cgroup file system is mounted (mount -t cgroup2 none /sys/fs/cgroup)".into();
    }
    let places: Vec<_> = looked_in.iter().map(|path| path.display().to_string()).collect();
    let mut text = format!(" below {}", places.join(", "));
    let candidates = candidates.join(", ");
    text += &match (candidates.is_empty(), alike) {
        (true, _) => String::new(),
        (false, true) => format!("; did you mean {candidates}?"),
        (false, false) => {
            format!(
                "; no name is like it; cgroups near there: {candidates} (systemd-cgls shows all)"
            )
        }
    };
    text
}

/// A complaint of a parser, before the path is known.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Malformed {
    /// Line, from 1.
    pub(crate) line: usize,
    /// What was expected and what was there.
    pub(crate) what: String,
}

impl Malformed {
    pub(crate) fn new(line: usize, expected: &str, found: &[u8]) -> Self {
        let shown = String::from_utf8_lossy(&found[..found.len().min(120)]);
        Self { line, what: format!("expected {expected}, found {shown:?}") }
    }
    pub(crate) fn at(self, path: PathBuf) -> Error {
        Error::Parse { path, line: self.line, what: self.what }
    }
}
