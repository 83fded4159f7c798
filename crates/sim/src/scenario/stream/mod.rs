//! Streams of recorded accesses as programs: `stream = "FILE"` in place of a pattern. A file is read
//! twice: once before the simulation, to find what is wrong with it, who its threads are and how
//! much memory they touch; once while it runs, in pieces.

mod blocks;
mod file;
mod problem;
mod requests;
#[cfg(test)]
mod tests;

pub(super) use problem::Failure;
pub use problem::StreamProblem;

use file::At;
use pagetide_access::patterns::Source;
use pagetide_access::{Accesses, open};
use std::path::Path;
use std::sync::Arc;

/// Base pages of all tenants' memory at most, as for patterns.
const MOST_PAGES: u64 = super::read::MOST_MEMORY >> 12;

/// What a scenario wants of a stream.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wanted {
    /// Memory comes in huge pages: blocks of 2 MiB stay together where addresses are known.
    pub(super) huge: bool,
    /// At its end it begins again.
    pub(super) repeat: bool,
}

/// A stream that was read once and can be simulated.
pub(super) struct Streamed {
    /// Its threads.
    pub(super) threads: Vec<Thread>,
    /// Base pages that it touches; with huge pages, all those of its blocks.
    pub(super) pages: u64,
    /// What went wrong while it was simulated.
    pub(super) failure: Failure,
}

/// A thread of a tenant.
pub(super) struct Thread {
    pub(super) source: Box<dyn Source + Send>,
    /// When it begins, seconds after its tenant.
    pub(super) begins_s: f64,
}

impl Streamed {
    /// Reads all of a file.
    pub(super) fn open(path: &Path, wanted: Wanted) -> Result<Self, StreamProblem> {
        let file = At::open(path)?;
        let failure = Failure::default();
        match open(file.clone())? {
            Accesses::Stream(reader) if file.is_plain_stream()? => {
                blocks::open(reader, &file, wanted, &failure)
            }
            Accesses::Stream(_) => Err(StreamProblem::Packed),
            Accesses::Oracle(reader) => requests::open(reader, &file, wanted, &failure),
        }
    }
}

/// A page count that can be simulated.
fn countable(pages: u64) -> Result<u64, StreamProblem> {
    if pages > MOST_PAGES { Err(StreamProblem::Memory) } else { Ok(pages) }
}

/// What of a stream the threads share.
type Shared<T> = Arc<[T]>;
