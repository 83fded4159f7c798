//! Streams of recorded accesses as programs: `stream = "FILE"` in place of a pattern. A file is read
//! twice: once before the simulation, to find what is wrong with it, who its threads are and how
//! much memory they touch; once while it runs, in pieces.

mod blocks;
mod file;
mod problem;
mod requests;
#[cfg(test)]
mod tests;

pub(crate) use problem::Failure;
pub use problem::StreamProblem;

use super::spec::Repeat;
use file::At;
use pagetide_access::patterns::Source;
use pagetide_access::{Accesses, open};
use std::path::Path;
use std::sync::Arc;

/// Base pages of all tenants' memory at most, as for patterns.
const MOST_PAGES: u64 = super::read::MOST_MEMORY >> 12;

/// What a scenario wants of a stream.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted {
    /// Memory comes in huge pages: blocks of 2 MiB stay together where addresses are known.
    pub(crate) huge: bool,
    /// How often it is made; once if not given.
    pub(crate) repeat: Option<Repeat>,
}

/// How often a stream, or what of it is a thread's, is made still; none: again and again.
#[derive(Clone, Copy, Debug)]
struct Rounds(Option<u32>);

impl Rounds {
    /// What a scenario says.
    fn of(repeat: Option<Repeat>) -> Self {
        Self(match repeat {
            None | Some(Repeat::Always(false)) => Some(1),
            Some(Repeat::Times(times)) => Some(times.get()),
            Some(Repeat::Always(true)) => None,
        })
    }

    /// One of them has ended; whether it begins again.
    fn again(&mut self) -> bool {
        let Some(left) = &mut self.0 else { return true };
        *left = left.saturating_sub(1);
        *left > 0
    }
}

/// A stream that was read once and can be simulated.
pub(crate) struct Streamed {
    /// Its threads.
    pub(crate) threads: Vec<Thread>,
    /// Base pages that it touches; with huge pages, all those of its blocks.
    pub(crate) pages: u64,
    /// Each access has with it the instructions since the one before.
    pub(crate) counted: bool,
    /// What went wrong while it was simulated.
    pub(crate) failure: Failure,
}

/// A thread of a tenant.
pub(crate) struct Thread {
    pub(crate) source: Box<dyn Source + Send>,
    /// When it begins, seconds after its tenant.
    pub(crate) begins_s: f64,
}

impl Streamed {
    /// Whether there is a file that looks like a stream; most of it is not read.
    pub(crate) fn is_there(path: &Path) -> Result<(), StreamProblem> {
        open(At::open(path)?)?;
        Ok(())
    }

    /// Reads all of a file.
    pub(crate) fn open(path: &Path, wanted: Wanted) -> Result<Self, StreamProblem> {
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
