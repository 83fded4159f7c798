//! What can go wrong, with the path, the name or the value at fault.

use pagetide_sim::pool::PoolError;
use pagetide_sim::scenario::ScenarioError;
use std::io;
use std::path::{Path, PathBuf};

/// Why a figure cannot be made again.
#[derive(Debug, thiserror::Error)]
pub enum ReproduceError {
    /// A scenario of a figure cannot be simulated.
    #[error(transparent)]
    Scenario(ScenarioError),
    /// A pool of a figure cannot be simulated.
    #[error(transparent)]
    Pool(PoolError),
    /// Nor can its text be resolved.
    #[error(transparent)]
    Draft(#[from] pagetide_sim::sweep::SweepError),
    /// No such paper.
    #[error("unknown paper '{name}'; {hint}known are {known}")]
    UnknownPaper {
        /// As given.
        name: String,
        /// The nearest known name, as half a sentence, or empty.
        hint: String,
        /// All names.
        known: String,
    },
    /// No such figure.
    #[error("paper {paper} has no figure '{id}'; {hint}known are {known}")]
    UnknownFigure {
        /// The paper.
        paper: &'static str,
        /// As given.
        id: String,
        /// The nearest known name, as half a sentence, or empty.
        hint: String,
        /// All names.
        known: String,
    },
    /// A file or folder cannot be read or written.
    #[error("{path}: {source}")]
    File {
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A folder cannot be made.
    #[error("{path}: {}", unmade(source))]
    Folder {
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A point has a value that is no number.
    #[error("{key}: {name} is {value}, which is no result")]
    Value {
        /// The point.
        key: String,
        /// The value's name.
        name: String,
        /// It.
        value: f64,
    },
    /// A point lacks a value that its figure needs.
    #[error("a point has no value '{0}'; delete points.jsonl if it is of an older version")]
    Missing(String),
    /// Threads cannot be started.
    #[error("cannot start threads: {0}")]
    Threads(#[from] rayon::ThreadPoolBuildError),
    /// A recording cannot be read.
    #[error(transparent)]
    Recording(#[from] pagetide_trace::Error),
    /// A recording cannot be replayed.
    #[error(transparent)]
    Replay(#[from] pagetide_replay::ReplayError),
    /// A policy that is asked for is not there any more.
    #[error(transparent)]
    Policy(#[from] pagetide_policy::SpecError),
    /// A machine's model cannot be used.
    #[error(transparent)]
    Machine(#[from] pagetide_machine::model::ModelError),
    /// Whoever asked for it wants it no more; points that are finished are kept.
    #[error("interrupted")]
    Stopped,
    /// Anything else, in words.
    #[error("{0}")]
    Other(String),
}

/// Why a folder cannot be made.
fn unmade(source: &io::Error) -> String {
    match source.kind() {
        io::ErrorKind::AlreadyExists | io::ErrorKind::NotADirectory => {
            "a file stands there, or on the way there; name a folder".to_owned()
        }
        _ => format!("this folder cannot be made: {source}"),
    }
}

impl From<ScenarioError> for ReproduceError {
    fn from(error: ScenarioError) -> Self {
        match error {
            ScenarioError::Stopped => Self::Stopped,
            error => Self::Scenario(error),
        }
    }
}

impl From<PoolError> for ReproduceError {
    fn from(error: PoolError) -> Self {
        match error {
            PoolError::Stopped => Self::Stopped,
            error => Self::Pool(error),
        }
    }
}

impl ReproduceError {
    /// A file that cannot be read or written.
    pub(crate) fn file(path: &Path) -> impl FnOnce(io::Error) -> Self + use<> {
        let path = path.to_owned();
        move |source| Self::File { path, source }
    }
}
