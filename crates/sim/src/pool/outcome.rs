//! What came of a replay.

use super::central_manager::Swapped;
use super::controller::Spills;
use serde::{Deserialize, Serialize};

/// What came of a node.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct NodeOutcome {
    /// Instructions of its cores.
    pub instructions: u64,
    /// When its last core was done, seconds.
    pub seconds: f64,
    /// Instructions per cycle of a core until it was done, mean of its cores.
    pub ipc: f64,
    /// Lines fetched from its own memory.
    pub local_fetches: u64,
    /// Lines fetched from the pool.
    pub pool_fetches: u64,
    /// Lines given back to its own memory.
    pub local_write_backs: u64,
    /// Lines given back to the pool.
    pub pool_write_backs: u64,
    /// What a fetch took from issue to data, mean over all, nanoseconds.
    pub delay_ns: f64,
    /// The same of those from the pool.
    pub pool_delay_ns: f64,
    /// Pages that came in, and pages of the program that went out.
    pub moved_in: u64,
    /// See [`Self::moved_in`].
    pub moved_out: u64,
    /// Shootdowns.
    pub stalls: u64,
    /// How long it stood still for them, seconds.
    pub stalled_s: f64,
    /// The most accesses to a page that were counted in an epoch.
    pub most_accesses: u32,
    /// The most pages that were hot at an epoch's end.
    pub most_hot: u64,
    /// Walks of the page tables.
    #[serde(default)]
    pub walks: u64,
    /// Those of them for translations that shootdowns took.
    #[serde(default)]
    pub walks_again: u64,
    /// How often its governor stopped it.
    #[serde(default)]
    pub stopped: u64,
    /// For how long its pages stayed where they were for that, seconds.
    #[serde(default)]
    pub stood_still_s: f64,
}

/// What came of all.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PoolOutcome {
    /// By node.
    pub nodes: Vec<NodeOutcome>,
    /// Instructions per cycle of a core, mean of all.
    pub ipc: f64,
    /// When the last core was done, seconds.
    pub seconds: f64,
    /// Epochs that ended.
    pub epochs: u64,
    /// Those at whose end something moved.
    pub epochs_with_moves: u64,
    /// Messages of shootdowns.
    pub messages: u64,
    /// Numbers of pages that were sent for migration, bytes.
    pub metadata_bytes: u64,
    /// Counts that went from the controller to memory.
    pub spilled_counts: u64,
    /// Counts that came back.
    pub filled_counts: u64,
    /// Of the pool's banks, the share of the time in which they were at work.
    pub busy_share: f64,
    /// Lines that went to and from memory.
    pub requests: u64,
}

impl PoolOutcome {
    pub(super) fn told(self, swapped: Swapped, spills: Spills) -> Self {
        Self {
            epochs: swapped.epochs,
            epochs_with_moves: swapped.with_moves,
            messages: swapped.messages,
            metadata_bytes: swapped.metadata_bytes,
            spilled_counts: spills.spilled,
            filled_counts: spills.filled,
            ..self
        }
    }

    /// Mean of the nodes' mean delays, weighted by their fetches, nanoseconds.
    #[must_use]
    pub fn delay_ns(&self) -> f64 {
        let of = |node: &NodeOutcome| (node.local_fetches + node.pool_fetches) as f64;
        let all: f64 = self.nodes.iter().map(of).sum();
        let sum: f64 = self.nodes.iter().map(|node| node.delay_ns * of(node)).sum();
        if all > 0.0 { sum / all } else { 0.0 }
    }

    /// The share of fetches that nodes' own memories served.
    #[must_use]
    pub fn local_share(&self) -> f64 {
        let local: u64 = self.nodes.iter().map(|node| node.local_fetches).sum();
        let pool: u64 = self.nodes.iter().map(|node| node.pool_fetches).sum();
        local as f64 / ((local + pool) as f64).max(1.0)
    }

    /// The most accesses to a page that were counted in an epoch, of all nodes.
    #[must_use]
    pub fn most_accesses(&self) -> u32 {
        self.nodes.iter().map(|node| node.most_accesses).max().unwrap_or_default()
    }

    /// The most pages of a node that were hot at an epoch's end.
    #[must_use]
    pub fn most_hot(&self) -> u64 {
        self.nodes.iter().map(|node| node.most_hot).max().unwrap_or_default()
    }
}
