//! What a figure is made with.

use crate::Store;
use std::path::PathBuf;

/// What a figure is made with.
#[derive(Debug)]
pub struct Context {
    /// Where points are kept.
    pub store: Store,
    /// Memory is this many times smaller than the published.
    pub scale: u32,
    /// A small set of points, which takes seconds.
    pub small: bool,
    /// Points that are computed at the same time; 0: one per core.
    pub threads: usize,
    /// A folder with tables that were made from recordings, for figures that need them.
    pub tables: Option<PathBuf>,
}

impl Context {
    /// Nothing on disk, in one thread: for tests.
    #[must_use]
    pub fn in_memory(scale: u32) -> Self {
        Self { store: Store::in_memory(), scale, small: true, threads: 1, tables: None }
    }
}
