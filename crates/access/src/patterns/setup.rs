//! What a pattern is given beside its own parameters.

use crate::parameter::{Result, refuse};
use pagetide_types::Bytes;

/// How much memory, how many threads, and which random numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setup {
    size: Bytes,
    threads: u32,
    seed: u64,
}

impl Setup {
    /// `size` bytes for `threads` threads; the seed decides all random choices.
    ///
    /// # Errors
    /// If there is no memory, or no thread.
    pub fn new(size: Bytes, threads: u32, seed: u64) -> Result<Self> {
        if size.0 == 0 {
            return refuse("size", 0, "no memory to touch; give for example `size` 1G");
        }
        if threads == 0 {
            return refuse("threads", 0, "nobody touches the memory; give 1 or more");
        }
        Ok(Self { size, threads, seed })
    }

    /// The memory: offsets are below it. Above 0.
    #[must_use]
    pub const fn size(&self) -> Bytes {
        self.size
    }

    /// How many threads share it. At least one.
    #[must_use]
    pub const fn threads(&self) -> u32 {
        self.threads
    }

    /// The seed of all random choices.
    #[must_use]
    pub const fn seed(&self) -> u64 {
        self.seed
    }

    /// Where a thread begins that shares `all` of something evenly with the others.
    pub(crate) fn begin(&self, thread: u32, all: u64) -> u64 {
        let begin = u128::from(all) * u128::from(thread) / u128::from(self.threads);
        #[expect(clippy::cast_possible_truncation, reason = "at most `all`")]
        let begin = begin as u64;
        begin
    }
}
