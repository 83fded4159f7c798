//! The keys of a scenario. Times and sizes are those of the machine that is modelled; `scale` shrinks
//! them all alike.

use super::pattern::PatternSpec;
use crate::movers::{Exchange, MechanismChange};
use crate::systems::Tracking;
use pagetide_types::Bytes;
use serde::{Deserialize, Deserializer, Serialize};
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};

/// A simulation.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// A machine: a built-in one by name, a file by path, or all of it as a table.
    #[serde(default = "default_machine")]
    pub machine: toml::Value,
    /// All memory, and all times, are divided by this: intervals hold as many moves as before, and
    /// rates are the same. Entries of TLBs and sizes of caches are divided by it as well, so that they
    /// reach as large a part of the memory: their ways change where that is needed for whole sets,
    /// and at least one entry is left. What a hit or a walk takes stays.
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
    /// Cores have TLBs: translations take time, and set accessed bits only where page tables are
    /// walked. Without, every access sets them.
    #[serde(default)]
    pub tlb: bool,
    /// Cores have caches: accesses that hit make no traffic. Without, every access is a miss.
    #[serde(default)]
    pub caches: bool,
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
    /// Whether pages move at all, for systems that rank units by a policy, e.g. `adaptive`.
    pub governor: Option<String>,
    /// Seconds in which a move must bring what it costs, for the same systems; 0: whatever is wanted
    /// moves.
    pub payback: Option<f64>,
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
    /// Where events are sampled: CPU time of the thread that reads the samples, for each, ns; 1000 if
    /// not given.
    pub sample_ns: Option<f64>,
    /// For `linux-tiering`: what it promotes at most, MiB a second
    /// (`numa_balancing_promote_rate_limit_MBps`); 65,536 if not given.
    pub promote_rate_limit: Option<f64>,
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
    /// Its memory; of a stream what that touches, if not given.
    #[serde(default, deserialize_with = "some_bytes")]
    pub memory: Option<Bytes>,
    /// Fast memory that it may have.
    #[serde(default, deserialize_with = "some_bytes")]
    pub fast: Option<Bytes>,
    /// The same as a share of its memory; half of it, if neither is given.
    pub fast_share: Option<f64>,
    /// Threads of its pattern, one if not given; a stream has its own.
    pub threads: Option<u32>,
    /// All of its memory is touched before it starts; otherwise each page when the program comes to
    /// it. A pattern's is, and a stream's is not, if this is not given.
    pub populate: Option<bool>,
    /// When it starts, seconds.
    #[serde(default)]
    pub start: f64,
    /// Accesses after which it has ended; it runs as long as the scenario if not given.
    pub accesses: Option<u64>,
    /// What a thread computes between two accesses, nanoseconds.
    #[serde(default)]
    pub compute_ns: f32,
    /// Its threads wait for each other after so many accesses of each, as at the end of a parallel loop;
    /// divided by `scale`. They never do if this is not given.
    pub barrier: Option<u64>,
    /// What it touches; this or `stream`.
    pub pattern: Option<PatternSpec>,
    /// A file of recorded accesses that it makes.
    pub stream: Option<PathBuf>,
    /// How often a stream is made; once if not given.
    pub repeat: Option<Repeat>,
    /// What an instruction between two accesses of a stream takes, nanoseconds.
    pub instruction_ns: Option<f32>,
}

/// How often a stream is made.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(untagged, expecting = "repeat must be true, or how often the stream is made (1 or more)")]
pub enum Repeat {
    /// It begins again at its end, or does not.
    Always(bool),
    /// So often.
    Times(NonZeroU32),
}

/// Where a tenant's accesses come from.
#[derive(Clone, Copy, Debug)]
pub enum Input<'a> {
    /// They are generated.
    Pattern(&'a PatternSpec),
    /// They were recorded.
    Stream(&'a Path),
}

impl TenantSpec {
    /// Fast memory that it may have of so much memory, on a machine so many times smaller, bytes.
    pub(super) fn fast_of(&self, memory: Bytes, scale: f64) -> f64 {
        let share = || memory.as_f64() * self.fast_share.unwrap_or(HALF);
        self.fast.map_or_else(share, |fast| fast.as_f64() / scale)
    }

    /// Where its accesses come from; none if it says neither or both.
    #[must_use]
    pub fn input(&self) -> Option<Input<'_>> {
        match (&self.pattern, &self.stream) {
            (Some(pattern), None) => Some(Input::Pattern(pattern)),
            (None, Some(stream)) => Some(Input::Stream(stream)),
            _ => None,
        }
    }
}

/// What a base page takes while it is simulated, about, bytes: its entry, its places in lists, when it was
/// marked, and what policies know of it.
const PAGE_TAKES: f64 = 64.0;

/// The share of a tenant's memory that may be fast if nothing says so.
const HALF: f64 = 0.5;

impl Scenario {
    /// About how much memory simulating it takes; of streams, which tell their pages only when they are
    /// read, nothing.
    #[must_use]
    pub fn takes(&self) -> Bytes {
        let memory = self.tenants.iter().filter_map(|tenant| tenant.memory);
        let bytes: f64 = memory.map(pagetide_types::Bytes::as_f64).sum();
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "bytes")]
        let takes = Bytes((bytes / self.scale / 4096.0 * PAGE_TAKES) as u64);
        takes
    }
}

impl SystemSpec {
    /// What it says of how pages move.
    pub(super) fn mechanism(&self) -> MechanismChange {
        let Self { split, threads, together, exchange, .. } = *self;
        MechanismChange { split, threads, together, exchange }
    }

    /// The keys that it gives, but for those that say something to every system.
    pub(super) fn given(&self) -> impl Iterator<Item = &'static str> + use<> {
        [
            (self.policy.is_some(), "policy"),
            (self.governor.is_some(), "governor"),
            (self.payback.is_some(), "payback"),
            (self.tracker.is_some(), "tracker"),
            (self.split.is_some(), "split"),
            (self.threads.is_some(), "threads"),
            (self.together.is_some(), "together"),
            (self.exchange.is_some(), "exchange"),
            (self.sample_ns.is_some(), "sample_ns"),
            (self.promote_rate_limit.is_some(), "promote_rate_limit"),
            (!self.bind.is_empty(), "bind"),
        ]
        .into_iter()
        .filter_map(|(given, key)| given.then_some(key))
    }
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

/// `"64G"`.
pub(super) fn bytes<'de, D: Deserializer<'de>>(from: D) -> Result<Bytes, D::Error> {
    Bytes::with_unit(&String::deserialize(from)?).map_err(serde::de::Error::custom)
}

fn some_bytes<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Bytes>, D::Error> {
    bytes(from).map(Some)
}
