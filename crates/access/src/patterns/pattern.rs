//! What a pattern is.

use super::{Memory, Setup};
use crate::parameter::Result;
use pagetide_types::Bytes;
use std::time::Duration;

/// A program with a known pattern: its parameters. Deterministic for them and a [`Setup`]; no I/O,
/// no clock of its own.
pub trait Pattern {
    /// One of its threads.
    type Walk: Walk;

    /// Refuses parameters that make no sense, naming them. Cheap, so that it can be asked before
    /// there is memory. By default all are right.
    ///
    /// # Errors
    /// The first one that is wrong.
    fn check(&self, setup: &Setup) -> Result<()> {
        let _ = setup;
        Ok(())
    }

    /// The order in which pages are touched for the first time, before any thread begins: a byte
    /// of each base page, once. By default [`every_page`].
    fn first_touch(&self, setup: &Setup) -> impl Iterator<Item = u64> {
        every_page(setup.size())
    }

    /// What is written into the memory after its first touch and before any thread begins: what
    /// [`Memory::follow`] finds there. Nothing by default.
    fn fill(&self, setup: &Setup) -> impl Iterator<Item = Fill> {
        let _ = setup;
        std::iter::empty()
    }

    /// Its threads, one [`Walk`] each.
    ///
    /// # Errors
    /// As of [`check`](Self::check), which it asks first.
    fn walks(&self, setup: &Setup) -> Result<Vec<Self::Walk>>;
}

/// One thread's way through the memory. The same batches at the same times touch the same bytes
/// in the same order; of a pattern that does not look at the time, any batches do.
pub trait Walk: Clone + Send + Sync + 'static {
    /// Makes the thread's next `n` accesses, all of them below [`Setup::size`]. More than `n` only
    /// where the program does something at once that does not count, and says so.
    ///
    /// `now` is the program's time since its threads began, when the batch begins; it does not go
    /// backwards. What depends on it is decided once per batch: whoever drives a walk chooses `n`
    /// small against the time in which the program changes.
    fn batch(&mut self, n: u32, now: Duration, memory: &mut impl Memory);
}

/// A word to be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fill {
    /// Its first byte.
    pub offset: u64,
    /// What it holds from then on.
    pub value: u64,
}

/// The first byte of every base page, in order of address.
pub fn every_page(size: Bytes) -> impl Iterator<Item = u64> {
    (0..size.0.div_ceil(4096)).map(|page| page << 12)
}

/// A walk for each thread, made from its number.
pub(super) fn each<W>(setup: &Setup, walk: impl FnMut(u32) -> W) -> Vec<W> {
    (0..setup.threads()).map(walk).collect()
}
