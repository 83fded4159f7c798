//! The recording's tables as Rust types. docs/recording.md documents them for other tools.

use pagetide_types::{AreaKind, Bytes, EpochId, ObjectId, Pid, UnitKey, UnitSize};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The schema that this version writes, and the newest that it reads.
pub const SCHEMA_VERSION: u32 = 2;

/// How heat was observed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    /// Accessed bits, looked at now and then.
    #[default]
    Sampled,
    /// Every access was counted.
    Exact,
}

/// What holds for a whole recording: `recording.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// [`SCHEMA_VERSION`] of the writer.
    pub schema_version: u32,
    /// Who wrote it, e.g. `pagetide 0.1.0`.
    pub tool: String,
    /// Start, seconds since the Unix epoch.
    pub started_unix_s: u64,
    /// What was recorded: the command line, `pid 17` or `cgroup /path`.
    pub target: String,
    /// What a unit is.
    pub unit: UnitSize,
    /// Nominal length of an epoch, seconds.
    pub epoch_s: f64,
    /// Nominal gaps between clearing and looking, seconds, ascending.
    pub gaps_s: Vec<f64>,
    /// Share of one core that the recorder may use.
    pub budget: f64,
    /// How heat was observed.
    #[serde(default)]
    pub source: Source,
    /// The recording began with its program: what it has not seen did not happen.
    #[serde(default)]
    pub began_with_target: bool,
    /// The CPU cache of a core that the traffic is past; none if the traffic was not measured.
    #[serde(default)]
    pub cache_per_core: Option<Bytes>,
    /// Facts about the machine for the reader (kernel, CPU, memory, nodes).
    pub machine: BTreeMap<String, String>,
}

/// An area of memory as it was seen: part of an object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Area {
    /// The object that it maps.
    pub object: ObjectId,
    /// First unit of it (see [`UnitKey::index`]).
    pub first: u64,
    /// One past its last unit.
    pub end: u64,
    /// What it is.
    pub kind: AreaKind,
    /// File path, `[heap]`, `[anon:name]`... empty for unnamed memory.
    pub name: String,
    /// The process in which it was first seen.
    pub pid: Pid,
    /// That process's name.
    pub command: String,
    /// The epoch in which it was first seen.
    pub since: EpochId,
    /// Whether processes map it. Shared memory that none of them maps is an object of its own. None: what nobody
    /// maps of it was not counted.
    pub mapped: Option<bool>,
}

/// One epoch of the recording: what it was and what it cost.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Epoch {
    /// Which.
    pub epoch: EpochId,
    /// Start, seconds since the recording began.
    pub start_s: f64,
    /// Length, seconds.
    pub length_s: f64,
    /// Processes of the target alive at its end.
    pub processes: u32,
    /// CPU seconds of the target's processes in this epoch.
    pub target_cpu_s: f64,
    /// Seconds inside clearing calls, all together: little more than their CPU time.
    pub clear_s: f64,
    /// Seconds inside scans, all together: little more than their CPU time.
    pub scan_s: f64,
    /// CPU seconds of the recorder in all, clearing and scanning included.
    pub recorder_s: f64,
    /// Longest single clearing call, seconds: a bound on the stall that we caused.
    pub longest_clear_s: f64,
    /// Share of the resident base pages that were watched.
    pub watched_share: f64,
    /// Resident bytes whose accessed bits could not be cleared.
    pub uncleared_bytes: u64,
    /// Cycles stalled on memory over all cycles, where the hardware counts them.
    pub stall_share: Option<f64>,
}

/// What is new in one epoch, as the writer takes it and the reader gives it back.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EpochRecord {
    /// The epoch's row.
    pub epoch: Epoch,
    /// Units seen for the first time, in order of their number; numbers continue without gaps.
    pub new_units: Vec<UnitKey>,
    /// Areas seen for the first time.
    pub new_areas: Vec<Area>,
    /// The heat of all live units.
    pub heat: pagetide_types::EpochHeat,
}
