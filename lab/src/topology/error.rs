//! Why there is no topology.

use std::path::PathBuf;

/// Why there is no topology.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TopologyError {
    /// Neither a built-in name nor a path.
    #[error("no topology '{name}'; {hint}known: {known}; or give the path of a file")]
    UnknownName {
        /// What was asked for.
        name: String,
        /// The nearest known name, as half a sentence, or empty.
        hint: String,
        /// All known names.
        known: String,
    },
    /// The file cannot be read.
    #[error("cannot read the topology {path}")]
    Read {
        /// The path.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// Not TOML, or not of this form.
    #[error("{origin}: {source}")]
    Syntax {
        /// File or built-in name.
        origin: String,
        /// What the parser says, with the line.
        source: Box<toml::de::Error>,
    },
    /// A key that does not exist.
    #[error("{origin}: unknown key '{key}'; {hint}known: {known}")]
    UnknownKey {
        /// File or built-in name.
        origin: String,
        /// The key, with its table.
        key: String,
        /// The nearest known key, as half a sentence, or empty.
        hint: String,
        /// All keys of that table.
        known: String,
    },
    /// A value makes no sense.
    #[error("{origin}: {problem}")]
    Value {
        /// File or built-in name.
        origin: String,
        /// What is wrong with it.
        problem: String,
    },
}
