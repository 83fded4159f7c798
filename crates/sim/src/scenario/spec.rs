//! The keys of a scenario. Times and sizes are those of the machine that is modelled; `scale` shrinks
//! them all alike.

use super::pattern::PatternSpec;
use crate::movers::Exchange;
use crate::systems::Tracking;
use pagetide_types::Bytes;
use serde::{Deserialize, Deserializer};

/// A simulation.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// A machine: a built-in one by name, a file by path, or all of it as a table.
    #[serde(default = "default_machine")]
    pub machine: toml::Value,
    /// All memory, and all times, are divided by this: intervals hold as many moves as before, and
    /// rates are the same.
    #[serde(default = "one")]
    pub scale: f64,
    /// How long it runs, seconds.
    pub seconds: f64,
    /// So much of that is not counted, seconds.
    #[serde(default)]
    pub warm_up: f64,
    /// Of all random choices.
    #[serde(default)]
    pub seed: u64,
    /// Memory comes in huge pages.
    #[serde(default = "yes")]
    pub huge_pages: bool,
    /// Cores of the machine that have no thread of a program; those that are left, if not given.
    pub spare_cores: Option<u32>,
    /// What manages its memory.
    pub system: SystemSpec,
    /// The programs on it.
    #[serde(rename = "tenant")]
    pub tenants: Vec<TenantSpec>,
}

/// What manages memory.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SystemSpec {
    /// One of the registry.
    pub name: String,
    /// Between two decisions, seconds.
    #[serde(default = "five")]
    pub interval: f64,
    /// A policy in place of the system's own, e.g. `lfu:window=8`.
    pub policy: Option<String>,
    /// What watches accesses.
    pub tracker: Option<Tracking>,
    /// Huge pages are split before they move.
    pub split: Option<bool>,
    /// Threads that copy.
    pub threads: Option<u32>,
    /// Pages, or pairs, that are under migration at a time; 0: all.
    pub together: Option<u32>,
    /// How pages change places.
    pub exchange: Option<Exchange>,
    /// For `bind`: parts of each tenant's memory that are fast, as shares of it, e.g.
    /// `[[0.0, 0.25]]`.
    #[serde(default)]
    pub bind: Vec<(f64, f64)>,
}

/// A program.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TenantSpec {
    /// What the output calls it; its number if not given.
    #[serde(default)]
    pub name: String,
    /// Its memory.
    #[serde(deserialize_with = "bytes")]
    pub memory: Bytes,
    /// Fast memory that it may have.
    #[serde(default, deserialize_with = "some_bytes")]
    pub fast: Option<Bytes>,
    /// The same as a share of its memory; half of it, if neither is given.
    pub fast_share: Option<f64>,
    /// Its threads.
    #[serde(default = "one_thread")]
    pub threads: u32,
    /// All of its memory is touched before it starts; otherwise each page when the program comes to
    /// it.
    #[serde(default = "yes")]
    pub populate: bool,
    /// When it starts, seconds.
    #[serde(default)]
    pub start: f64,
    /// Accesses after which it has ended; it runs as long as the scenario if not given.
    pub accesses: Option<u64>,
    /// What a thread computes between two accesses, nanoseconds.
    #[serde(default)]
    pub compute_ns: f32,
    /// What it touches.
    pub pattern: PatternSpec,
}

fn default_machine() -> toml::Value {
    toml::Value::String(pagetide_machine::Machine::DEFAULT.to_owned())
}
fn one() -> f64 {
    1.0
}
fn five() -> f64 {
    5.0
}
fn yes() -> bool {
    true
}
fn one_thread() -> u32 {
    1
}

/// `"64G"`.
pub(super) fn bytes<'de, D: Deserializer<'de>>(from: D) -> Result<Bytes, D::Error> {
    Bytes::with_unit(&String::deserialize(from)?).map_err(serde::de::Error::custom)
}

fn some_bytes<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Bytes>, D::Error> {
    bytes(from).map(Some)
}
