//! The meter: a plugin of QEMU's, built at its first use, that counts from outside the guest
//! which of its accesses miss the caches, by node. Its code and formats: `lab/meter/meter.c`.

use crate::{
    cache::Cache,
    instruction_time::InstructionTime,
    qemu::{self, in_option},
    topology::Topology,
};
use pagetide_exact::{BuildError, PLUGIN, QEMU_HEADER, build};
use pagetide_types::{Bytes, UnitSize};
use std::path::PathBuf;

/// The plugin's files by name; the first is the one to compile.
const SOURCES: [(&str, &str); 9] = [
    ("meter.c", include_str!("../meter/meter.c")),
    ("cache.h", include_str!("../meter/cache.h")),
    ("felt.h", include_str!("../meter/felt.h")),
    ("icount.h", include_str!("../meter/icount.h")),
    ("overlap.h", include_str!("../meter/overlap.h")),
    ("ram.h", include_str!("../meter/ram.h")),
    QEMU_HEADER,
    ("leads.h", include_str!("../../crates/exact/plugin/leads.h")),
    ("table.h", include_str!("../meter/table.h")),
];

/// What the meter is to do for one guest.
#[derive(Debug)]
pub(crate) struct Meter {
    /// The plugin.
    pub(crate) plugin: PathBuf,
    /// Where its rows go.
    pub(crate) out: PathBuf,
    /// Where rows of units go.
    pub(crate) units: Option<PathBuf>,
    /// What a unit is.
    pub(crate) unit_size: UnitSize,
    /// Intervals between rows of units.
    pub(crate) units_every: u32,
    /// Where it looks for the times that are to be felt.
    pub(crate) felt: Option<PathBuf>,
    /// Milliseconds between rows.
    pub(crate) interval_ms: u32,
    /// What the guest's clock advances by with an instruction, if it goes by them.
    pub(crate) instruction_time: Option<InstructionTime>,
    /// The last-level cache of each vCPU.
    pub(crate) cache: Bytes,
}

impl Meter {
    /// The value of QEMU's option `-plugin`.
    pub(crate) fn option(&self, topology: &Topology) -> String {
        let mut value = format!(
            "file={},out={},interval_ms={},units_every={},cache={}",
            in_option(&self.plugin),
            in_option(&self.out),
            self.interval_ms,
            self.units_every,
            self.cache.0
        );
        if self.unit_size == UnitSize::Base {
            value += ",base_units=1";
        }
        if let Some(time) = self.instruction_time {
            value += &format!(",instruction_ns={},free_percent={}", time.ns(), time.free_percent());
            value += &format!(",kernel_free_percent={}", time.kernel_free_percent());
        }
        for (key, path) in [("units", &self.units), ("felt", &self.felt)] {
            if let Some(path) = path {
                value += &format!(",{key}={}", in_option(path));
            }
        }
        for range in qemu::ranges(topology) {
            value += &format!(",node={}:{}:{}", range.node, range.start, range.size.0);
        }
        value
    }
}

/// The plugin in the cache, built if it is not there.
pub(crate) fn plugin(cache: &Cache) -> Result<PathBuf, BuildError> {
    build("meter.so", &SOURCES, &PLUGIN, &cache.path(""))
}
