//! What can go wrong before and while a program is counted, and what to do about it.

use std::{io, path::PathBuf};

/// Why a program cannot be counted. The texts name the thing and the remedy.
#[derive(Debug, thiserror::Error)]
pub enum ExactError {
    /// No QEMU.
    #[error(
        "exact counts need QEMU's user mode, and there is no qemu-x86_64 in PATH; install it \
         (Debian and Ubuntu: apt-get install qemu-user; or scripts/deps.sh exact)"
    )]
    NoEmulator,
    /// QEMU does not answer, or is too old.
    #[error("{path} cannot be used: {reason}")]
    Emulator {
        /// Which.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// The plugin cannot be built, or the folder that keeps it is not ours.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// The command cannot be executed.
    #[error("{0}")]
    Command(String),
    /// A cache that cannot be modelled.
    #[error("{0}")]
    Cache(String),
    /// The stream cannot be written.
    #[error("the stream of accesses: {0}")]
    Stream(#[from] pagetide_access::StreamError),
    /// The system refused something.
    #[error("{what}: {source}")]
    System {
        /// What was tried, with the path.
        what: String,
        /// What the system said.
        source: io::Error,
    },
}

impl ExactError {
    /// For `map_err`: what was tried, and what the system said.
    pub(crate) fn system(what: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        let what = what.into();
        move |source| Self::System { what, source }
    }
}

/// Why a plugin for QEMU is not there.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// A file of the build.
    #[error("cannot write {0}: {1}")]
    Write(PathBuf, #[source] io::Error),
    /// There is no compiler.
    #[error("cannot run gcc, which builds the plugin for QEMU: {0}; install gcc and libc6-dev")]
    Compiler(#[source] io::Error),
    /// The compiler refused.
    #[error("gcc cannot build the plugin for QEMU:\n{0}")]
    Refused(String),
    /// The folder could have been written by somebody else.
    #[error(
        "{path} {reason}; nothing is loaded from it. Remove it, or name another folder in \
         PAGETIDE_CACHE"
    )]
    Folder {
        /// Which.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
}
