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
    #[error("this is no stream of accesses: at byte 0 it does not begin with PTACCESS")]
    NotAStream,
    /// Written by a newer version.
    #[error("the stream has version {0} (at byte 8), and this program reads 1; update it")]
    Version(u32),
    /// Its header says nothing.
    #[error("the header at byte 16 of the stream is damaged: {0}")]
    Header(String),
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
    /// There is more than the stream.
    #[error(
        "the stream ends with its last block, and something follows at byte {offset}: two streams \
         in one file are none"
    )]
    Trailing {
        /// Where what follows begins.
        offset: u64,
    },
    /// What was to be written cannot be said in the format.
    #[error("{0}")]
    Invalid(String),
}

/// Why a trace in the format oracleGeneral cannot be read. Records are counted from 0.
#[derive(Debug, thiserror::Error)]
pub enum OracleError {
    /// The system refused to read, or what is compressed is damaged.
    #[error("at record {record}: {source}")]
    Io {
        /// Where.
        record: u64,
        /// What was said.
        source: io::Error,
    },
    /// There is nothing in it.
    #[error("it is empty: there is no record in it")]
    Empty,
    /// It ends within a record.
    #[error(
        "record {record} has {left} of its 24 bytes: the trace was cut, or is none of oracleGeneral"
    )]
    Cut {
        /// Which record.
        record: u64,
        /// Bytes that are there.
        left: usize,
    },
    /// Time went backwards.
    #[error(
        "record {record} is of second {time_s}, and the one before of second {before_s}: times must \
         not go backwards in oracleGeneral (u32 time, u64 object, u32 size, i64 next request, \
         little-endian)"
    )]
    Backwards {
        /// Which record.
        record: u64,
        /// Its time.
        time_s: u32,
        /// The time before.
        before_s: u32,
    },
    /// No trace is so long.
    #[error(
        "record {record} says that the next request for its object is number {next}: this is not \
         oracleGeneral (u32 time, u64 object, u32 size, i64 next request, little-endian)"
    )]
    Next {
        /// Which record.
        record: u64,
        /// What it says.
        next: i64,
    },
    /// Zeros, as of a device or a hole in a file.
    #[error(
        "it begins with {record} records that are requests for nothing (of size 0): this is not \
         oracleGeneral (u32 time, u64 object, u32 size, i64 next request, little-endian)"
    )]
    Nothing {
        /// How many.
        record: u64,
    },
    /// It cannot be an access to memory.
    #[error(
        "record {record} is of {bytes} bytes at {object}: no request to pages is so long, or there \
         are no such addresses; --by object takes objects as pages, whatever their size"
    )]
    Span {
        /// Which record.
        record: u64,
        /// Its object.
        object: u64,
        /// Its size.
        bytes: u32,
    },
}
