//! Single memory accesses: streams of them and how these are written down, and what programs with
//! known patterns draw theirs from. No I/O but through readers and writers that the caller brings.

mod access;
mod error;
mod formats;
pub mod generators;

pub use access::{Access, Kind, Page};
pub use error::StreamError;
pub use formats::{Block, Header, MAX_BLOCK, StreamReader, StreamWriter};
