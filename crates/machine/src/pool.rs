//! Machines whose nodes share a pool of memory: a few cores, caches and a little memory of its own
//! in each node, a network, and modules of a large, slow memory behind it. After Kommareddy et al.,
//! MEMSYS 2019, Table 1. One TOML file per machine in `machines/pools/`, compiled in.

use crate::model::{self, Model, ModelError};
use pagetide_types::Bytes;
use serde::{Deserialize, Deserializer, Serialize};

/// One built-in machine per line; the file is `machines/pools/NAME.toml`. The first is the default.
macro_rules! built_in {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../../../machines/pools/", $name, ".toml")))),*]
    };
}

const BUILT_IN: &[(&str, &str)] =
    built_in!["pcm-2019", "pcm-2019-rows", "pcm-2019-conventional", "cxl-2025"];

/// Nodes that share a pool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PoolMachine {
    /// Its name.
    pub name: String,
    /// What it is, in a line.
    pub title: String,
    /// Where its figures come from.
    pub source: String,
    /// Nodes that share the pool.
    pub nodes: u32,
    /// The cores of a node.
    pub core: PoolCore,
    /// The caches of a node, the nearest to a core first: two of each core, one that they share.
    #[serde(rename = "cache")]
    pub caches: Vec<PoolCache>,
    /// The translations that a core keeps; if not given, translating takes no time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tlb: Option<PoolTlb>,
    /// A node's own memory.
    pub local: LocalMemory,
    /// What lies between nodes and pool.
    pub network: Network,
    /// The memory that the nodes share.
    pub pool: Pool,
}

/// The cores of a node.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PoolCore {
    /// How many a node has.
    pub count: u32,
    /// Clock, 10^9 cycles per second.
    pub ghz: f64,
    /// Instructions that a core begins in a cycle while it waits for nothing.
    pub instructions_per_cycle: f64,
    /// Misses that a core has under way at most.
    pub outstanding: u32,
}

/// One level of a node's caches.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PoolCache {
    /// Its size; of one core, unless it is shared.
    #[serde(deserialize_with = "size")]
    pub size: Bytes,
    /// Its ways.
    pub ways: u32,
    /// The cores of the node share it: the last level, and no other.
    #[serde(default)]
    pub shared: bool,
}

/// Translations of pages of 4 KiB that a core keeps, in one level or two.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PoolTlb {
    /// Entries of the first level, and ways of it.
    pub first: u32,
    /// See [`Self::first`].
    pub first_ways: u32,
    /// Entries of the second level, and ways of it; without entries there is none.
    #[serde(default)]
    pub second: u32,
    /// See [`Self::second`].
    #[serde(default)]
    pub second_ways: u32,
    /// What a core waits for a translation of the second level, nanoseconds.
    #[serde(default)]
    pub second_ns: f64,
    /// What it waits for one of neither, nanoseconds.
    pub walk_ns: f64,
    /// A shootdown takes all translations, not only those of the pages that move.
    #[serde(default)]
    pub flush_all: bool,
}

/// Banks of memory behind one controller.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LocalMemory {
    /// How much of it a node has.
    #[serde(deserialize_with = "size")]
    pub capacity: Bytes,
    /// Banks: each serves one line at a time.
    pub banks: u32,
    /// Requests that are past the queue at its entrance, at most.
    pub outstanding: u32,
    /// How long a read keeps its bank, nanoseconds.
    pub read_ns: f64,
    /// How long a write keeps its bank, nanoseconds.
    pub write_ns: f64,
    /// What a request takes beside its bank, nanoseconds.
    #[serde(default)]
    pub path_ns: f64,
    /// What its channel carries, 10^9 bytes per second; unlimited if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bandwidth_gb_s: Option<f64>,
}

/// What lies between nodes and pool; every node has a port of its own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Network {
    /// Latency, nanoseconds.
    pub latency_ns: f64,
    /// The latency is that of both ways together; else each way takes as much.
    #[serde(default)]
    pub round_trip: bool,
    /// What a node's port carries, 10^9 bytes per second; unlimited if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bandwidth_gb_s: Option<f64>,
}

/// The memory that the nodes share.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pool {
    /// Modules; pages go round them.
    pub modules: u32,
    /// What a module holds.
    #[serde(deserialize_with = "size")]
    pub capacity: Bytes,
    /// Banks of a module: each serves one line at a time.
    pub banks: u32,
    /// Requests of a module that are past the queue at its entrance, at most.
    pub outstanding: u32,
    /// How long a read keeps its bank, nanoseconds.
    pub read_ns: f64,
    /// How long a write keeps its bank, nanoseconds.
    pub write_ns: f64,
    /// What a request takes beside its bank, nanoseconds.
    #[serde(default)]
    pub path_ns: f64,
    /// What a module's channel carries, 10^9 bytes per second; unlimited if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bandwidth_gb_s: Option<f64>,
    /// So many bytes in a row lie in one bank, then comes the next bank.
    #[serde(deserialize_with = "size")]
    pub interleave: Bytes,
    /// Rows of cells that a bank keeps open, if it does: reads of the open one go first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows: Option<Rows>,
    /// Where writes wait until their bank would be idle; else they are served in order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_buffer: Option<WriteBuffer>,
}

/// Rows of cells: a bank has one open, and reads the next line of it sooner.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rows {
    /// How much of a bank's memory is a row.
    #[serde(deserialize_with = "size")]
    pub size: Bytes,
    /// How long a read of the open row keeps its bank, nanoseconds; one that opens its row takes `read_ns`.
    pub hit_ns: f64,
}

/// Writes that wait in a module, until their bank has nothing to read or so many wait.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WriteBuffer {
    /// Lines that it holds.
    pub entries: u32,
    /// Writes that are under way in all banks, at most (what they take of power); all banks if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_once: Option<u32>,
    /// With such a share of it full, writes go before reads ...
    #[serde(default = "flush_at")]
    pub flush_at: f64,
    /// ... until such a share is left.
    #[serde(default = "flush_to")]
    pub flush_to: f64,
}

const fn flush_at() -> f64 {
    0.9
}

const fn flush_to() -> f64 {
    0.3
}

fn size<'de, D: Deserializer<'de>>(from: D) -> Result<Bytes, D::Error> {
    String::deserialize(from)?.parse().map_err(serde::de::Error::custom)
}

impl PoolMachine {
    /// The name of the machine used when none is asked for.
    pub const DEFAULT: &'static str = BUILT_IN[0].0;

    /// Names of the built-in machines, the default first.
    pub fn names() -> impl Iterator<Item = &'static str> {
        model::names::<Self>()
    }

    /// A built-in machine by name, or the file at a path (anything with a `/` or ending in
    /// `.toml`).
    ///
    /// # Errors
    /// An unknown name, an unreadable file, unknown keys or senseless values, each in words.
    pub fn load(name_or_path: &str) -> Result<Self, ModelError> {
        model::load(name_or_path)
    }
}

/// The most nodes that share a pool.
const MOST_NODES: u32 = 1024;

impl Model for PoolMachine {
    const KIND: &'static str = "pool machine";
    const BUILT_IN: &'static [(&'static str, &'static str)] = BUILT_IN;
    const KEYS: &'static [(&'static str, &'static [&'static str])] = &[
        (
            "",
            &[
                "name", "title", "source", "nodes", "core", "cache", "tlb", "local", "network",
                "pool",
            ],
        ),
        ("core", &["count", "ghz", "instructions_per_cycle", "outstanding"]),
        ("cache", &["size", "ways", "shared"]),
        (
            "tlb",
            &["first", "first_ways", "second", "second_ways", "second_ns", "walk_ns", "flush_all"],
        ),
        (
            "local",
            &[
                "capacity",
                "banks",
                "outstanding",
                "read_ns",
                "write_ns",
                "path_ns",
                "bandwidth_gb_s",
            ],
        ),
        ("network", &["latency_ns", "round_trip", "bandwidth_gb_s"]),
        (
            "pool",
            &[
                "modules",
                "capacity",
                "banks",
                "outstanding",
                "read_ns",
                "write_ns",
                "path_ns",
                "bandwidth_gb_s",
                "interleave",
                "rows",
                "write_buffer",
            ],
        ),
        ("pool.rows", &["size", "hit_ns"]),
        ("pool.write_buffer", &["entries", "at_once", "flush_at", "flush_to"]),
    ];

    fn problem(&self) -> Option<String> {
        let tlb = || self.tlb.as_ref().and_then(PoolTlb::problem);
        let rows = || self.pool.rows.as_ref().and_then(Rows::problem);
        let buffer = || self.pool.write_buffer.as_ref().and_then(WriteBuffer::problem);
        let of_pool = || rows().or_else(buffer);
        self.counts()
            .or_else(|| self.times())
            .or_else(|| self.sizes())
            .or_else(tlb)
            .or_else(of_pool)
    }
}

impl PoolMachine {
    /// The first number of things that makes no sense.
    fn counts(&self) -> Option<String> {
        let counts = [
            ("nodes", self.nodes, MOST_NODES),
            ("core.count", self.core.count, 64),
            ("core.outstanding", self.core.outstanding, 4096),
            ("local.banks", self.local.banks, 65_536),
            ("local.outstanding", self.local.outstanding, 65_536),
            ("pool.modules", self.pool.modules, 1024),
            ("pool.banks", self.pool.banks, 65_536),
            ("pool.outstanding", self.pool.outstanding, 65_536),
        ];
        let wrong = counts.into_iter().find(|(_, count, most)| !(1..=*most).contains(count));
        wrong.map(|(key, count, most)| format!("{key} must be from 1 to {most}, not {count}"))
    }

    /// The first time or rate that makes no sense.
    fn times(&self) -> Option<String> {
        let Self { core, local, network, pool, .. } = self;
        let rates = [
            ("core.ghz", Some(core.ghz)),
            ("core.instructions_per_cycle", Some(core.instructions_per_cycle)),
            ("local.read_ns", Some(local.read_ns)),
            ("local.write_ns", Some(local.write_ns)),
            ("local.bandwidth_gb_s", local.bandwidth_gb_s),
            ("network.bandwidth_gb_s", network.bandwidth_gb_s),
            ("pool.read_ns", Some(pool.read_ns)),
            ("pool.write_ns", Some(pool.write_ns)),
            ("pool.bandwidth_gb_s", pool.bandwidth_gb_s),
        ];
        let positive = |value: f64| value.is_finite() && value > 0.0 && value <= MOST_VALUE;
        let given = rates.into_iter().filter_map(|(key, value)| Some((key, value?)));
        let wrong = given.clone().find(|(_, value)| !positive(*value));
        let paths = [
            ("local.path_ns", local.path_ns),
            ("network.latency_ns", network.latency_ns),
            ("pool.path_ns", pool.path_ns),
        ];
        wrong
            .map(|(key, value)| format!("{key} must be above 0 and at most 10^9, not {value}"))
            .or_else(|| {
                let wrong =
                    paths.into_iter().find(|(_, value)| !(0.0..=MOST_VALUE).contains(value));
                wrong.map(|(key, value)| format!("{key} must be from 0 to 10^9, not {value}"))
            })
    }

    /// The first size that makes no sense.
    fn sizes(&self) -> Option<String> {
        let Self { local, pool, caches, .. } = self;
        if local.capacity.0 < 4096 {
            return Some(format!(
                "local.capacity = {}: a node needs local memory, a page of 4 KiB at least",
                local.capacity
            ));
        }
        if pool.capacity.0 < 4096 {
            return Some(format!(
                "pool.capacity = {}: a module holds a page of 4 KiB at least",
                pool.capacity
            ));
        }
        let interleave = pool.interleave.0;
        if interleave < 64 || !interleave.is_power_of_two() {
            return Some(format!(
                "pool.interleave must be 64 bytes or a larger power of two, not {}",
                pool.interleave
            ));
        }
        let levels: Vec<bool> = caches.iter().map(|level| level.shared).collect();
        if levels != [false, false, true] {
            return Some(
                "cache: give two levels of [[cache]] of a core, and a third that is shared".into(),
            );
        }
        let wrong = caches.iter().find(|level| {
            let set = u64::from(level.ways) * 64;
            level.ways == 0 || level.size.0 == 0 || !level.size.0.is_multiple_of(set)
        });
        wrong.map(|level| {
            format!("cache: {} are no whole sets of {} ways of 64 bytes", level.size, level.ways)
        })
    }
}

impl PoolTlb {
    fn problem(&self) -> Option<String> {
        if self.first == 0 {
            return Some("tlb.first must be 1 or more; without a TLB leave [tlb] out".into());
        }
        let levels =
            [("first", self.first, self.first_ways), ("second", self.second, self.second_ways)];
        for (key, entries, ways) in levels {
            let whole = ways > 0 && entries.is_multiple_of(ways);
            if entries > 0 && (!whole || entries > 1 << 20) {
                return Some(format!(
                    "tlb.{key} = {entries}: give whole sets of tlb.{key}_ways, at most 1,048,576 \
                     entries"
                ));
            }
        }
        let times = [("second_ns", self.second_ns), ("walk_ns", self.walk_ns)];
        let wrong = times.into_iter().find(|(_, value)| !(0.0..=MOST_VALUE).contains(value));
        wrong.map(|(key, value)| format!("tlb.{key} must be from 0 to 10^9, not {value}"))
    }
}

impl Rows {
    fn problem(&self) -> Option<String> {
        let Self { size, hit_ns } = self;
        if size.0 < 64 || !size.0.is_power_of_two() {
            return Some(format!(
                "pool.rows.size must be 64 bytes or a larger power of two, not {size}"
            ));
        }
        let is_time = *hit_ns > 0.0 && *hit_ns <= MOST_VALUE;
        (!is_time)
            .then(|| format!("pool.rows.hit_ns must be above 0 and at most 10^9, not {hit_ns}"))
    }
}

impl WriteBuffer {
    fn problem(&self) -> Option<String> {
        let Self { entries, at_once, flush_at, flush_to } = self;
        if !(1..=65_536).contains(entries) {
            return Some(format!(
                "pool.write_buffer.entries must be from 1 to 65536, not {entries}"
            ));
        }
        if *at_once == Some(0) {
            return Some("pool.write_buffer.at_once must be 1 or more".into());
        }
        let are_shares = (0.0..=1.0).contains(flush_to) && flush_to < flush_at && *flush_at <= 1.0;
        (!are_shares).then(|| {
            format!(
                "pool.write_buffer: flush_to = {flush_to} must be less than flush_at = {flush_at}, both \
                 from 0 to 1"
            )
        })
    }
}

/// No time or rate is larger.
const MOST_VALUE: f64 = 1e9;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_is_registered_and_parses() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../machines/pools");
        let files = std::fs::read_dir(folder).unwrap();
        let names = files.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut files: Vec<String> =
            names.map(|file| file.strip_suffix(".toml").unwrap().to_owned()).collect();
        files.sort();
        let mut names: Vec<&str> = PoolMachine::names().collect();
        names.sort_unstable();
        assert_eq!(files, names);
        for name in names {
            let machine = PoolMachine::load(name).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(machine.name, name);
        }
    }

    /// What a file begins with, where something is to stand at its end.
    const LAST: &str = "# Kommareddy";

    #[test]
    fn what_makes_no_sense_is_named() {
        let good = BUILT_IN[0].1;
        for (from, to, part) in [
            ("write_ns = 1000", "writ_ns = 1000", "did you mean 'write_ns'?"),
            ("nodes = 8", "nodes = 0", "nodes must be from 1 to"),
            ("capacity = \"256M\"", "capacity = \"0\"", "needs local memory"),
            ("banks = 16\noutstanding = 128", "banks = 0\noutstanding = 128", "pool.banks must be"),
            ("read_ns = 300", "read_ns = 0", "pool.read_ns must be above 0"),
            ("latency_ns = 40", "latency_ns = -1", "network.latency_ns must be from 0"),
            ("interleave = \"64\"", "interleave = \"96\"", "pool.interleave must be 64 bytes"),
            ("ways = 16\nshared = true", "ways = 16", "a third that is shared"),
            ("size = \"16M\"", "size = \"16777217\"", "no whole sets"),
            ("[local]", "[tlb]\nfirst = 0\nfirst_ways = 4\nwalk_ns = 3\n[local]", "leave [tlb]"),
            ("[local]", "[tlb]\nfirst = 9\nfirst_ways = 4\nwalk_ns = 3\n[local]", "tlb.first = 9"),
            ("[local]", "[tlb]\nfirst = 8\nfirst_ways = 4\nwalk_ns = -3\n[local]", "tlb.walk_ns"),
            ("[local]", "[tlb]\nfirst = 8\nfirst_way = 4\n[local]", "did you mean 'first_ways'"),
            (LAST, "[pool.rows]\nsize = \"8K\"\nhit = 3", "did you mean 'hit_ns'"),
            (LAST, "[pool.rows]\nsize = \"9K\"\nhit_ns = 3", "pool.rows.size must be 64"),
            (LAST, "[pool.rows]\nsize = \"8K\"\nhit_ns = 0", "pool.rows.hit_ns must be"),
            (LAST, "[pool.write_buffer]\nentries = 0", "pool.write_buffer.entries must be"),
            (LAST, "[pool.write_buffer]\nentries = 8\nat_once = 0", "at_once must be 1"),
            (LAST, "[pool.write_buffer]\nentries = 8\nflush_at = 0.2", "less than flush_at = 0.2"),
        ] {
            assert!(good.contains(from), "{from}");
            let text = if from == LAST { format!("{good}\n{to}") } else { good.replace(from, to) };
            let error = model::parse::<PoolMachine>(&text, "x.toml").unwrap_err().to_string();
            assert!(error.contains(part) && error.contains("x.toml"), "{error}");
        }
    }
}
