//! What can go wrong, with the file, the key or the value at fault.

use crate::pool::PoolError;
use crate::scenario::ScenarioError;
use pagetide_machine::model::ModelError;
use std::io;
use std::path::{Path, PathBuf};

/// See the module.
#[derive(Debug, thiserror::Error)]
pub enum SweepError {
    /// A file cannot be read or written.
    #[error("{}: {source}", path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// There is no room for a file.
    #[error("{}: the disk is full; free some space and run it again", path.display())]
    Full {
        /// Which.
        path: PathBuf,
    },
    /// The scenario is no TOML.
    #[error("{origin}: {source}")]
    Syntax {
        /// The file.
        origin: String,
        /// Where and why.
        source: Box<toml::de::Error>,
    },
    /// It is of tiers and of a pool.
    #[error(
        "{origin}: `{tiers}` is a key of scenarios of tiers (docs/sim.md), `{pools}` of those of a pool \
         (docs/pool.md); leave one of them out"
    )]
    Both {
        /// The file.
        origin: String,
        /// A key of the one kind.
        tiers: &'static str,
        /// A key of the other.
        pools: &'static str,
    },
    /// What is set leads nowhere, or makes no sense.
    #[error("{origin}: {setting}: {problem}")]
    Setting {
        /// The file.
        origin: String,
        /// As given: `system.interval=5`.
        setting: String,
        /// What to write instead.
        problem: String,
    },
    /// The machine of which something is set is not there.
    #[error("{origin}: machine: {source}")]
    Machine {
        /// The file.
        origin: String,
        /// Why.
        source: Box<ModelError>,
    },
    /// A point of a pool makes no sense.
    #[error(transparent)]
    Pool(Box<PoolError>),
    /// The Parquet library failed.
    #[error("cannot encode the table: {0}")]
    Parquet(#[from] parquet::errors::ParquetError),
    /// A key, or one of its values, is given twice.
    #[error("{key} is given twice; give each key once, and of --vary each value")]
    Twice {
        /// Which: `nodes`, `nodes=2`.
        key: String,
    },
    /// There are too many combinations.
    #[error("{count} points; at most {most} are simulated")]
    TooMany {
        /// As many.
        count: u128,
        /// See there.
        most: u128,
    },
    /// The scenario makes no sense, as it stands or at a point.
    #[error(transparent)]
    Scenario(Box<ScenarioError>),
    /// Whoever watches did not want to see the end.
    #[error("interrupted")]
    Stopped,
}

impl From<ScenarioError> for SweepError {
    fn from(error: ScenarioError) -> Self {
        match error {
            ScenarioError::Stopped => Self::Stopped,
            other => Self::Scenario(Box::new(other)),
        }
    }
}

impl From<PoolError> for SweepError {
    fn from(error: PoolError) -> Self {
        match error {
            PoolError::Stopped => Self::Stopped,
            other => Self::Pool(Box::new(other)),
        }
    }
}

impl SweepError {
    /// A file that cannot be read or written.
    pub(crate) fn file(path: &Path) -> impl FnOnce(io::Error) -> Self + use<> {
        let path = path.to_owned();
        move |source| match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::Full { path },
            _ => Self::File { path, source },
        }
    }
}
