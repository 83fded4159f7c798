//! The machine of a guest in TOML: nodes of memory, what they cost, NVDIMMs, how many guests.
//! `docs/lab.md` describes every key; the files lie in `lab/topologies`.

use crate::names::nearest;
use pagetide_types::Bytes;
use serde::{Deserialize, Deserializer};
use std::path::PathBuf;

/// The topologies that are built in, by name; the first is the default.
const BUILT_IN: &[(&str, &str)] = &[
    ("two-tiers", include_str!("../topologies/two-tiers.toml")),
    ("three-tiers", include_str!("../topologies/three-tiers.toml")),
    ("two-pairs", include_str!("../topologies/two-pairs.toml")),
    ("nvdimm", include_str!("../topologies/nvdimm.toml")),
    ("pool", include_str!("../topologies/pool.toml")),
];

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

/// Why there is no topology.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TopologyError {
    /// Neither a built-in name nor a path.
    #[error("no topology '{name}'; {hint}known: {known}; or give the path of a file")]
    UnknownName {
        /// What was asked for.
        name: String,
        /// The nearest known name, as half a sentence, or empty.
        hint: String,
        /// All known names.
        known: String,
    },
    /// The file cannot be read.
    #[error("cannot read the topology {path}")]
    Read {
        /// The path.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// Not TOML, or not of this form.
    #[error("{origin}: {source}")]
    Syntax {
        /// File or built-in name.
        origin: String,
        /// What the parser says, with the line.
        source: Box<toml::de::Error>,
    },
    /// A key that does not exist.
    #[error("{origin}: unknown key '{key}'; {hint}known: {known}")]
    UnknownKey {
        /// File or built-in name.
        origin: String,
        /// The key, with its table.
        key: String,
        /// The nearest known key, as half a sentence, or empty.
        hint: String,
        /// All keys of that table.
        known: String,
    },
    /// A value makes no sense.
    #[error("{origin}: {problem}")]
    Value {
        /// File or built-in name.
        origin: String,
        /// What is wrong with it.
        problem: String,
    },
}

impl Topology {
    /// The topology used when none is asked for.
    pub(crate) const DEFAULT: &'static str = BUILT_IN[0].0;

    /// Names of the built-in topologies, the default first.
    pub(crate) fn names() -> impl Iterator<Item = &'static str> {
        BUILT_IN.iter().map(|(name, _)| *name)
    }

    /// A built-in topology by name, or the file at a path (anything with a `/` or ending in
    /// `.toml`).
    pub(crate) fn load(name_or_path: &str) -> Result<Self, TopologyError> {
        if name_or_path.contains('/') || name_or_path.ends_with(".toml") {
            let path = PathBuf::from(name_or_path);
            let text = std::fs::read_to_string(&path)
                .map_err(|source| TopologyError::Read { path, source })?;
            return Self::parse(&text, name_or_path);
        }
        match BUILT_IN.iter().find(|(name, _)| *name == name_or_path) {
            Some((name, text)) => Self::parse(text, &format!("topology {name}")),
            None => Err(TopologyError::UnknownName {
                name: name_or_path.to_owned(),
                hint: nearest(name_or_path, Self::names()),
                known: Self::names().collect::<Vec<_>>().join(", "),
            }),
        }
    }

    /// Reads a topology from TOML; `origin` names it in errors.
    pub(crate) fn parse(text: &str, origin: &str) -> Result<Self, TopologyError> {
        let syntax =
            |source| TopologyError::Syntax { origin: origin.to_owned(), source: Box::new(source) };
        check_keys(&text.parse::<toml::Table>().map_err(syntax)?, origin)?;
        let topology: Self = toml::from_str(text).map_err(syntax)?;
        match topology.problem() {
            Some(problem) => Err(TopologyError::Value { origin: origin.to_owned(), problem }),
            None => Ok(topology),
        }
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

    /// Virtual CPUs of one guest.
    pub(crate) fn cpus(&self) -> u32 {
        self.nodes.iter().map(|node| node.cpus).sum()
    }

    /// Memory that one guest has from the start.
    pub(crate) fn memory(&self) -> Bytes {
        self.nodes.iter().filter_map(|node| node.memory).sum()
    }

    fn problem(&self) -> Option<String> {
        let block = Bytes::mib(128).0;
        let nodes = self.nodes.len();
        if self.nodes.first().is_none_or(|node| node.cpus == 0 || node.memory.is_none()) {
            return Some("the first [[node]] needs cpus and memory: the kernel boots there".into());
        }
        if nodes > 16 || self.cpus() > 64 {
            return Some("more than 16 nodes or 64 CPUs".into());
        }
        if !(1..=8).contains(&self.guests) {
            return Some(format!("guests must be 1 to 8, not {}", self.guests));
        }
        for node in &self.nodes {
            let wrong = |what: String| Some(format!("node '{}': {what}", node.name));
            if !(1..=60_000).contains(&node.latency_ns) {
                return wrong(format!("latency_ns must be 1 to 60000, not {}", node.latency_ns));
            }
            if !(1..=4_000).contains(&node.bandwidth_gb_s) {
                let is = node.bandwidth_gb_s;
                return wrong(format!("bandwidth_gb_s must be 1 to 4000, not {is}"));
            }
            match (node.near, node.cpus) {
                (Some(_), 1..) => return wrong("it has CPUs of its own; drop 'near'".into()),
                (Some(near), 0)
                    if self.nodes.get(near as usize).is_none_or(|node| node.cpus == 0) =>
                {
                    return wrong(format!("'near' is node {near}, which has no CPUs"));
                }
                _ => {}
            }
            if node.memory.is_some_and(|size| size.0 == 0 || size.0 % block != 0) {
                return wrong("memory must be a multiple of 128 MiB, the kernel's block".into());
            }
        }
        for nvdimm in &self.nvdimms {
            if nvdimm.node as usize >= nodes {
                return Some(format!("an [[nvdimm]] is on node {}, of {nodes}", nvdimm.node));
            }
            if nvdimm.size.0 == 0 || nvdimm.size.0 % block != 0 {
                let size = nvdimm.size;
                return Some(format!("an [[nvdimm]] has {size}, no multiple of 128 MiB"));
            }
        }
        None
    }
}

const TOP_KEYS: &[&str] =
    &["name", "title", "guests", "hop_ns", "modules", "setup", "kernel", "node", "nvdimm"];
const NODE_KEYS: &[&str] = &["name", "cpus", "memory", "near", "latency_ns", "bandwidth_gb_s"];
const NVDIMM_KEYS: &[&str] = &["node", "size", "shared"];

fn check_keys(table: &toml::Table, origin: &str) -> Result<(), TopologyError> {
    let check = |table: &toml::Table, prefix: &str, known: &'static [&'static str]| match table
        .keys()
        .find(|key| !known.contains(&key.as_str()))
    {
        None => Ok(()),
        Some(key) => Err(TopologyError::UnknownKey {
            origin: origin.to_owned(),
            key: format!("{prefix}{key}"),
            hint: nearest(key, known.iter().copied()),
            known: known.join(", "),
        }),
    };
    check(table, "", TOP_KEYS)?;
    for (name, prefix, known) in [("node", "node.", NODE_KEYS), ("nvdimm", "nvdimm.", NVDIMM_KEYS)]
    {
        if let Some(toml::Value::Array(entries)) = table.get(name) {
            for entry in entries.iter().filter_map(toml::Value::as_table) {
                check(entry, prefix, known)?;
            }
        }
    }
    Ok(())
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
mod tests {
    use super::*;

    #[test]
    fn every_file_is_registered_and_parses() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/topologies");
        let mut files: Vec<String> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .map(|file| file.strip_suffix(".toml").unwrap().to_owned())
            .collect();
        files.sort();
        let mut names: Vec<&str> = Topology::names().collect();
        names.sort_unstable();
        assert_eq!(files, names);
        for name in names {
            let topology = Topology::load(name).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(topology.name, name);
            let path = format!("{folder}/{name}.toml");
            assert_eq!(Topology::load(&path).unwrap(), topology);
        }
    }

    #[test]
    fn unknown_keys_and_senseless_values_are_named() {
        let good = include_str!("../topologies/two-pairs.toml");
        for (from, to, part) in [
            ("hop_ns", "hops_ns", "did you mean 'hop_ns'?"),
            ("latency_ns", "latencyns", "unknown key 'node.latencyns'"),
            ("near = 0", "near = 3", "'near' is node 3, which has no CPUs"),
            ("near = 0", "near = 9", "'near' is node 9, which has no CPUs"),
            ("cpus = 1", "cpus = 1\nnear = 0", "CPUs of its own"),
            ("cpus = 1", "", "the first [[node]] needs cpus and memory"),
            ("\"768M\"", "\"700M\"", "multiple of 128 MiB"),
            ("\"768M\"", "\"much\"", "not an amount of memory"),
            ("latency_ns = 80", "latency_ns = 0", "latency_ns must be 1 to 60000"),
            ("hop_ns = 70", "guests = 9", "guests must be 1 to 8"),
            ("[[node]]", "[[nvdim]]\n[[node]]", "did you mean 'nvdimm'?"),
            ("hop_ns = 70", "hop_ns = -1", "hop_ns"),
        ] {
            assert!(good.contains(from), "{from}");
            let text = good.replacen(from, to, 1);
            let error = Topology::parse(&text, "x.toml").unwrap_err().to_string();
            assert!(error.contains(part) && error.contains("x.toml"), "{error}");
        }
        let nvdimm = include_str!("../topologies/nvdimm.toml");
        for (from, to, part) in [
            ("node = 1", "node = 2", "on node 2, of 2"),
            ("size = \"1G\"", "size = \"1000M\"", "no multiple of 128 MiB"),
            ("size = \"1G\"", "sise = \"1G\"", "did you mean 'size'?"),
        ] {
            let text = nvdimm.replacen(from, to, 1);
            let error = Topology::parse(&text, "x.toml").unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
        }
        let error = Topology::load("two-teirs").unwrap_err().to_string();
        assert!(error.contains("did you mean 'two-tiers'?"), "{error}");
    }

    #[test]
    fn memory_near_another_socket_is_one_hop_farther() {
        let pairs = Topology::load("two-pairs").unwrap();
        assert_eq!((pairs.socket(2), pairs.socket(3)), (0, 1));
        assert_eq!((pairs.latency_ns(0, 2), pairs.latency_ns(0, 3)), (300, 370));
        assert_eq!((pairs.latency_ns(1, 0), pairs.latency_ns(1, 1)), (150, 80));
        assert_eq!((pairs.cpus(), pairs.memory()), (2, Bytes::mib(3584)));
    }
}
