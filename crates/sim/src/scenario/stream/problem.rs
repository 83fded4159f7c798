//! Why a stream cannot be simulated.

use super::MOST_PAGES;
use crate::scenario::read::MOST_THREADS;
use pagetide_access::{OracleError, StreamError};
use pagetide_types::Bytes;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

/// See the module.
#[derive(Debug, thiserror::Error)]
pub enum StreamProblem {
    /// The system refused to open or read it.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// A folder, a pipe, a device.
    #[error("it is no file; it is read twice, so a pipe will not do")]
    NoFile,
    /// One of ours, compressed as a whole.
    #[error(
        "it is a stream of pagetide's that was compressed as a whole: its threads cannot be read \
         apart. Decompress it (`zstd -d`); its blocks are compressed already"
    )]
    Packed,
    /// One of ours is damaged.
    #[error("{0}")]
    Stream(#[from] StreamError),
    /// A trace in oracleGeneral is damaged.
    #[error("{0}")]
    Oracle(#[from] OracleError),
    /// Nothing in it.
    #[error("there is no access in it")]
    Empty,
    /// No scenario has so many.
    #[error("thread {0}: at most {MOST_THREADS} are simulated")]
    Threads(u32),
    /// No scenario has so much.
    #[error("it touches more than the {} that are simulated", Bytes(MOST_PAGES << 12))]
    Memory,
    /// What was found in it before is not there any more.
    #[error("it changed while it was simulated ({0})")]
    Changed(String),
}

/// Where the threads of a stream say what went wrong, and find that something did.
#[derive(Clone, Debug, Default)]
pub(crate) struct Failure(Arc<Mutex<Option<StreamProblem>>>);

impl Failure {
    /// The first one counts.
    pub(super) fn set(&self, problem: StreamProblem) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(problem);
    }

    /// Whether something went wrong.
    pub(super) fn is_set(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    /// What went wrong.
    pub(crate) fn take(&self) -> Option<StreamProblem> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}
