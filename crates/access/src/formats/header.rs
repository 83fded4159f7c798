//! What stands at the head of a stream.

use pagetide_types::Bytes;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The first bytes of every stream.
pub(super) const MAGIC: [u8; 8] = *b"PTACCESS";
/// The version that this writes and reads.
pub(super) const VERSION: u32 = 1;
/// Longest header that is written and read, bytes. Linux takes command lines of 6 MiB at most, and JSON
/// makes few of their bytes more than two.
pub(super) const MAX_HEADER: u32 = 8 << 20;

/// What holds for a whole stream.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// Who wrote it, e.g. `pagetide 0.1.0`.
    pub tool: String,
    /// What was traced: the command line.
    pub target: String,
    /// The cache of each thread that the accesses miss; 0: none, every access is there.
    pub cache: Bytes,
    /// Its ways.
    pub ways: u64,
    /// How many times longer the program took to compute while it was traced.
    pub dilation: f64,
    /// Facts for the reader.
    #[serde(default)]
    pub facts: BTreeMap<String, String>,
}
