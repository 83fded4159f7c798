//! Formats of streams; docs/access-stream.md describes ours.

mod block;
mod header;
mod open;
mod oracle_general;
mod read;
mod varint;
mod write;

pub use block::{Block, MAX_BLOCK};
pub use header::Header;
pub use open::{Accesses, open};
pub use oracle_general::{OracleBatch, OracleReader, OracleRecord};
pub use read::{StreamReader, read_block};
pub use write::StreamWriter;
