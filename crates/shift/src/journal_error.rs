//! Why a journal cannot be used.

use crate::journal_lines::VERSION;
use std::{io, path::PathBuf};

/// Why a journal cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JournalError {
    /// It is damaged.
    #[error(
        "{}:{line}: the journal is damaged ({what}); it cannot say any more which devices hold memory. Compare it with \
         `daxctl list`, then move it away and register devices again with `pagetide shift prepare --device NAME`",
        path.display()
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Line, from 1.
        line: usize,
        /// What is wrong.
        what: String,
    },
    /// It is another machine's.
    #[error(
        "{} is the journal of machine {theirs}, and this is {ours}; devices must not be taken for what they were \
         there. Give this machine a folder of its own with --state",
        path.display()
    )]
    OtherMachine {
        /// The file.
        path: PathBuf,
        /// Whose it is.
        theirs: String,
        /// This machine.
        ours: String,
    },
    /// It is of a later version of pagetide.
    #[error("{} is of format {found}, and this program knows up to {VERSION}; use the program that wrote it", path.display())]
    Later {
        /// The file.
        path: PathBuf,
        /// Its format.
        found: u32,
    },
    /// It cannot be read or written.
    #[error("cannot {doing} {}: {source}{}", path.display(), remedy(source))]
    Io {
        /// What was tried.
        doing: &'static str,
        /// The file.
        path: PathBuf,
        /// What the kernel answered.
        source: io::Error,
    },
}

/// What helps against what the kernel answered.
fn remedy(source: &io::Error) -> &'static str {
    match source.kind() {
        io::ErrorKind::PermissionDenied => "; it is another user's: run this with sudo",
        io::ErrorKind::NotADirectory | io::ErrorKind::IsADirectory => {
            "; --state names a folder, and the journal is a file in it"
        }
        _ => "",
    }
}
