//! What can go wrong with a recording, each with the path at fault and the remedy.

use pagetide_types::UnitSize;
use std::{
    io,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

/// Why a recording could not be written, read or compared.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The name is taken; recordings are never overwritten.
    #[error("{} already exists; remove it or record under another name", .path.display())]
    Exists {
        /// The recording's path.
        path: PathBuf,
    },
    /// No space left, or the quota is used up.
    #[error(
        "the disk is full: {} could not be written; spans before it, if any, are complete and \
         readable; free some space or record on another disk", .path.display()
    )]
    DiskFull {
        /// The file that was being written.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// It is somebody else's, and recordings are for their owners only.
    #[error(
        "{} cannot be read ({cause}): it belongs to {}, and a recording is for its owner only; read \
         it as that user (sudo), or make it yours: sudo chown -R \"$USER\" {}",
        .path.display(), user(*.owner), pagetide_types::shell::shown(&.path.to_string_lossy())
    )]
    NotYours {
        /// The recording's path.
        path: PathBuf,
        /// The number of the user whose it is.
        owner: u32,
        /// What the system said. No source, which would stand behind the line to copy.
        cause: io::Error,
    },
    /// Any other failed call to the operating system.
    #[error("{}: {source}", .path.display())]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The writer has failed before; nothing more can be recorded with it.
    #[error("{}: recording ended with an earlier error", .path.display())]
    Ended {
        /// The recording's path.
        path: PathBuf,
    },
    /// What was to be written breaks the recording's contract; this is a bug of the caller.
    #[error("epoch {epoch} cannot be recorded: {reason}")]
    Invalid {
        /// The epoch's number.
        epoch: u32,
        /// What is wrong with it.
        reason: String,
    },
    /// A table could not be encoded; this is a bug.
    #[error("{}: cannot be encoded: {reason}", .path.display())]
    Encode {
        /// The file that was to be written.
        path: PathBuf,
        /// What the encoder said.
        reason: String,
    },
    /// The path is no recording.
    #[error(
        "{} is not a recording ({reason}); a recording is a directory, NAME.heat, as \
         `pagetide record -o NAME.heat` writes it", .path.display()
    )]
    NotARecording {
        /// The path.
        path: PathBuf,
        /// What it is instead.
        reason: String,
    },
    /// The recording is newer than this program.
    #[error(
        "{} was written by a newer version ({tool}, schema {found}, this one reads up to \
         {known}): update pagetide", .path.display()
    )]
    Newer {
        /// The recording's path.
        path: PathBuf,
        /// Who wrote it.
        tool: String,
        /// Its schema version.
        found: u32,
        /// The newest schema version that this program reads.
        known: u32,
    },
    /// There is no complete span.
    #[error("{} holds no complete span of epochs: {reason}", .path.display())]
    Empty {
        /// The recording's path.
        path: PathBuf,
        /// Why, as far as is known, and the remedy.
        reason: String,
    },
    /// Two recordings whose units differ in size: nothing in them can be compared.
    #[error(
        "{} has units of {} and {} of {}: their rates cannot be compared; record both with the \
         same --unit", .paths[0].display(), .units[0], .paths[1].display(), .units[1]
    )]
    Units {
        /// The two recordings.
        paths: [PathBuf; 2],
        /// Their units.
        units: [UnitSize; 2],
    },
    /// It has no such part.
    #[error("{}: {reason}", .path.display())]
    Window {
        /// The recording's path.
        path: PathBuf,
        /// Why, and the remedy.
        reason: String,
    },
    /// A file is truncated or damaged, or contradicts another one.
    #[error("{} is damaged: {reason}", .path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A file of a complete span is not there.
    #[error("{} is missing; copy the recording again, with all its files", .path.display())]
    Missing {
        /// The file.
        path: PathBuf,
    },
    /// A table lacks a column, or has it with another type.
    #[error("{} has no column '{column}' of type {expected}", .path.display())]
    Column {
        /// The file.
        path: PathBuf,
        /// The column's name.
        column: String,
        /// Its Parquet type.
        expected: String,
    },
    /// The output of an export could not be written.
    #[error("the export could not be written: {0}")]
    Output(#[source] io::Error),
}

impl Error {
    /// Sorts an error of the operating system: a full disk has a remedy of its own.
    pub(crate) fn io(path: &Path, source: io::Error) -> Self {
        let path = path.to_owned();
        match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                Self::DiskFull { path, source }
            }
            _ => Self::Io { path, source },
        }
    }

    /// Sorts an error of reading a file of the recording `recording`: of somebody else's the owner
    /// is named.
    pub(crate) fn reading(recording: &Path, file: &Path, source: io::Error) -> Self {
        if source.kind() != io::ErrorKind::PermissionDenied {
            return Self::io(file, source);
        }
        // The directory may be ours and the file not, or it cannot even be entered.
        let found = [file, recording].into_iter().find_map(|path| path.metadata().ok());
        match found {
            Some(found) => {
                Self::NotYours { path: recording.to_owned(), owner: found.uid(), cause: source }
            }
            None => Self::io(file, source),
        }
    }

    pub(crate) fn damaged(path: &Path, reason: impl Into<String>) -> Self {
        Self::Damaged { path: path.to_owned(), reason: reason.into() }
    }
}

/// A user as people call them, as far as their number says.
fn user(number: u32) -> String {
    if number == 0 { "root".to_owned() } else { format!("the user with number {number}") }
}

/// The result of work on a recording.
pub type Result<T> = std::result::Result<T, Error>;
