//! How to move.

use pagetide_types::{Bytes, NodeId};
use std::collections::BTreeMap;
use std::time::Duration;

/// How to move.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Huge pages in one call. Nimble found 8 (section 3.1.3): more are out of reach for longer
    /// and gain nothing.
    pub huge_batch: usize,
    /// Base pages in one call; 512 there.
    pub base_batch: usize,
    /// Threads that call at once, each for pages of its own.
    pub threads: usize,
    /// Whether a huge page may be moved in pieces where the target has no free block for it.
    pub split: bool,
    /// What must stay free of each node at the end of a round.
    pub reserve: BTreeMap<NodeId, Bytes>,
    /// Page cache of each node that may be given up for what is to move there.
    pub idle_cache: BTreeMap<NodeId, Bytes>,
    /// No batch begins after so much time.
    pub time: Option<Duration>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            huge_batch: 8,
            base_batch: 512,
            threads: 1,
            split: false,
            reserve: BTreeMap::new(),
            idle_cache: BTreeMap::new(),
            time: None,
        }
    }
}
