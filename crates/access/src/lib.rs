//! Single memory accesses: streams of them and how these are written down, and what programs with
//! known patterns draw theirs from. No I/O but through readers and writers that the caller brings.

#![forbid(unsafe_code)]

mod access;
mod error;
pub mod filter;
mod formats;
pub mod generators;
mod named_values;
pub mod parameter;
pub mod patterns;

pub use access::{Access, Kind, Page};
pub use error::{OracleError, StreamError};
pub use formats::{
    Accesses, Block, Header, MAX_BLOCK, OracleBatch, OracleReader, OracleRecord, StreamReader,
    StreamWriter, open, read_block,
};
pub use named_values::Choice;
