//! The keys of a scenario of a pool.

use super::super::settings::Migration;
use super::ProgramSpec;
use serde::{Deserialize, Serialize};

/// A simulation of nodes that share a pool.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PoolScenario {
    /// A pool machine: a built-in one by name, a file by path, or all of it as a table.
    #[serde(default = "default_machine")]
    pub pool: toml::Value,
    /// Nodes that share it; the machine's if not given.
    pub nodes: Option<u32>,
    /// Where pages are at first.
    #[serde(default = "in_the_pool")]
    pub placement: String,
    /// Instructions of each core that count.
    pub instructions: u64,
    /// Instructions of each core before these, which only fill the caches.
    #[serde(default)]
    pub warm_up: u64,
    /// Of all that is random.
    #[serde(default)]
    pub seed: u64,
    /// How pages move; not at all, if not given.
    pub migration: Option<Migration>,
    /// What runs on the nodes, in turn: of two programs every second node has the first.
    #[serde(rename = "program")]
    pub programs: Vec<ProgramSpec>,
}

fn default_machine() -> toml::Value {
    toml::Value::String(pagetide_machine::PoolMachine::DEFAULT.to_owned())
}

fn in_the_pool() -> String {
    "pool".to_owned()
}
