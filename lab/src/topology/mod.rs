//! The machine of a guest in TOML: nodes of memory, what they cost, NVDIMMs, CXL memory, how many guests.
//! `docs/lab.md` describes every key; the files lie in `lab/topologies`.

mod check;

use pagetide_machine::model::{self, ModelError};
use pagetide_types::Bytes;
use serde::{Deserialize, Deserializer};

/// One built-in topology per word; the file is `lab/topologies/NAME.toml`. The first is the default.
macro_rules! built_in {
    ($($name:literal),* $(,)?) => {
        const BUILT_IN: &[(&str, &str)] = &[
            $(($name, include_str!(concat!("../../topologies/", $name, ".toml")))),*
        ];
    };
}
built_in!["two-tiers", "three-tiers", "two-pairs", "nvdimm", "pool", "shift", "shift-cxl"];

/// A machine, or several that share memory.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub(crate) struct Topology {
    /// Its name: that of its file.
    pub(crate) name: String,
    /// What it is, in one line.
    pub(crate) title: String,
    /// Guests that are booted, alike but for `PAGETIDE_GUEST`.
    #[serde(default = "one")]
    pub(crate) guests: u32,
    /// Added to the latency of memory near another socket, in nanoseconds.
    #[serde(default)]
    pub(crate) hop_ns: u32,
    /// Distances between nodes as the firmware says them (SLIT), a row per node; none: in proportion to the latencies.
    #[serde(default)]
    pub(crate) distances: Vec<Vec<u32>>,
    /// Kernel modules to load, with what they need.
    #[serde(default)]
    pub(crate) modules: Vec<String>,
    /// Shell commands that the guest runs first.
    #[serde(default)]
    pub(crate) setup: String,
    /// Added to the kernel's command line.
    #[serde(default)]
    pub(crate) kernel: String,
    /// NUMA nodes, in the order of their numbers.
    #[serde(rename = "node")]
    pub(crate) nodes: Vec<Node>,
    /// Emulated NVDIMMs.
    #[serde(default, rename = "nvdimm")]
    pub(crate) nvdimms: Vec<Nvdimm>,
    /// Emulated CXL memory.
    #[serde(default, rename = "cxl")]
    pub(crate) cxls: Vec<Cxl>,
}

/// One NUMA node.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub(crate) struct Node {
    /// What it stands for.
    pub(crate) name: String,
    /// Virtual CPUs.
    #[serde(default)]
    pub(crate) cpus: u32,
    /// Memory that is there from the start; none where NVDIMMs come.
    #[serde(default, deserialize_with = "bytes_in_words")]
    pub(crate) memory: Option<Bytes>,
    /// The node whose CPUs are nearest; its own where it has CPUs, else 0.
    #[serde(default)]
    pub(crate) near: Option<u32>,
    /// Latency from there.
    pub(crate) latency_ns: u32,
    /// Bandwidth.
    pub(crate) bandwidth_gb_s: u32,
}

/// One emulated NVDIMM.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub(crate) struct Nvdimm {
    /// The node that it belongs to.
    pub(crate) node: u32,
    /// Usable size, a multiple of 128 MiB (a block of memory).
    #[serde(deserialize_with = "bytes")]
    pub(crate) size: Bytes,
    /// All guests see the same memory.
    #[serde(default)]
    pub(crate) shared: bool,
}

/// One emulated device of volatile CXL memory, behind a root port of its own. All lie in one window of addresses, for which
/// the kernel makes a node behind those of the firmware; their regions are made in the guest.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub(crate) struct Cxl {
    /// Its size, a multiple of 256 MiB (what a window of addresses is made of).
    #[serde(deserialize_with = "bytes")]
    pub(crate) size: Bytes,
}

impl Topology {
    /// The topology used when none is asked for.
    pub(crate) const DEFAULT: &'static str = BUILT_IN[0].0;

    /// Names of the built-in topologies, the default first.
    pub(crate) fn names() -> impl Iterator<Item = &'static str> {
        model::names::<Self>()
    }

    /// A built-in topology by name, or the file at a path (anything with a `/` or ending in
    /// `.toml`).
    pub(crate) fn load(name_or_path: &str) -> Result<Self, ModelError> {
        model::load(name_or_path)
    }

    /// The node whose CPUs are nearest to `node`.
    pub(crate) fn socket(&self, node: usize) -> usize {
        let it = &self.nodes[node];
        if it.cpus > 0 { node } else { it.near.map_or(0, |near| near as usize) }
    }

    /// Latency between the CPUs of `from` (or those nearest to it) and the memory of `to`, in
    /// nanoseconds.
    pub(crate) fn latency_ns(&self, from: usize, to: usize) -> u32 {
        let hop = if self.socket(from) == self.socket(to) { 0 } else { self.hop_ns };
        self.nodes[to].latency_ns + hop
    }

    /// What the firmware says of the way between two nodes (SLIT): 10 is a node's own memory.
    pub(crate) fn distance(&self, from: usize, to: usize) -> u32 {
        let said = self.distances.get(from).and_then(|row| row.get(to)).copied();
        let in_proportion = 10 * self.latency_ns(from, to) / self.nodes[from].latency_ns.max(1);
        said.unwrap_or(in_proportion.clamp(11, 254))
    }

    /// Virtual CPUs of one guest.
    pub(crate) fn cpus(&self) -> u32 {
        self.nodes.iter().map(|node| node.cpus).sum()
    }

    /// Memory that one guest has from the start.
    pub(crate) fn memory(&self) -> Bytes {
        self.nodes.iter().filter_map(|node| node.memory).sum()
    }
}

const fn one() -> u32 {
    1
}

fn bytes<'de, D: Deserializer<'de>>(from: D) -> Result<Bytes, D::Error> {
    String::deserialize(from)?.parse().map_err(serde::de::Error::custom)
}

fn bytes_in_words<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Bytes>, D::Error> {
    bytes(from).map(Some)
}

#[cfg(test)]
mod tests;
