//! Formats of streams; docs/access-stream.md describes ours.

mod block;
mod header;
mod read;
mod varint;
mod write;

pub use block::{Block, MAX_BLOCK};
pub use header::Header;
pub use read::StreamReader;
pub use write::StreamWriter;
