//! Why a stream cannot be written or read.

use std::io;

/// What is wrong, and where.
#[derive(Debug, thiserror::Error)]
pub enum StreamError {
    /// The system refused to read or write.
    #[error("at byte {offset} of the stream: {source}")]
    Io {
        /// Where, from the start of the stream.
        offset: u64,
        /// What the system said.
        source: io::Error,
    },
    /// It does not begin as one.
    #[error("this is no stream of accesses: it does not begin with PTACCESS")]
    NotAStream,
    /// Written by a newer version.
    #[error("the stream has version {0}, and this program reads 1; update it")]
    Version(u32),
    /// It was cut: a crash, or a full disk.
    #[error(
        "the stream ends at byte {offset}, in the middle or without its last block: it was cut; \
         what comes before is whole"
    )]
    Cut {
        /// Where.
        offset: u64,
    },
    /// It contradicts itself.
    #[error("the block at byte {offset} of the stream is damaged: {reason}")]
    Damaged {
        /// Where the block begins.
        offset: u64,
        /// How.
        reason: String,
    },
    /// What was to be written cannot be said in the format.
    #[error("{0}")]
    Invalid(String),
}
