//! Streams of single memory accesses: what they are, and how they are written down. No I/O but
//! through readers and writers that the caller brings.

mod access;
mod error;
mod formats;

pub use access::{Access, Kind, Page};
pub use error::StreamError;
pub use formats::{Block, Header, MAX_BLOCK, StreamReader, StreamWriter};
