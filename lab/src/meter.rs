//! The meter: a plugin of QEMU's, built at its first use, that counts from outside the guest
//! which of its accesses miss the caches, by node. Its code and formats: `lab/meter/meter.c`.

use crate::{
    cache::Cache,
    qemu::{self, in_option},
    topology::Topology,
};
use pagetide_types::Bytes;
use std::{
    fs, io,
    path::{Path, PathBuf},
    process::Command,
};

/// The plugin's files by name; the first is the one to compile.
const SOURCES: [(&str, &str); 5] = [
    ("meter.c", include_str!("../meter/meter.c")),
    ("cache.h", include_str!("../meter/cache.h")),
    ("felt.h", include_str!("../meter/felt.h")),
    ("qemu.h", include_str!("../../crates/exact/plugin/qemu.h")),
    ("table.h", include_str!("../meter/table.h")),
];
const FLAGS: [&str; 7] =
    ["-std=gnu11", "-O3", "-Wall", "-fPIC", "-shared", "-fvisibility=hidden", "-pthread"];

/// Why there is no meter.
#[derive(Debug, thiserror::Error)]
pub(crate) enum MeterError {
    /// A file of the build.
    #[error("cannot write {0}")]
    Write(PathBuf, #[source] io::Error),
    /// There is no compiler.
    #[error("cannot run gcc, which builds the meter; scripts/deps.sh lab installs it")]
    Compiler(#[source] io::Error),
    /// The compiler refused.
    #[error("gcc cannot build the meter:\n{0}")]
    Build(String),
}

/// What the meter is to do for one guest.
#[derive(Debug)]
pub(crate) struct Meter {
    /// The plugin.
    pub(crate) plugin: PathBuf,
    /// Where its rows go.
    pub(crate) out: PathBuf,
    /// Where rows of units go.
    pub(crate) units: Option<PathBuf>,
    /// Where it looks for the times that are to be felt.
    pub(crate) felt: Option<PathBuf>,
    /// Milliseconds between rows.
    pub(crate) interval_ms: u32,
    /// The last-level cache of each vCPU.
    pub(crate) cache: Bytes,
}

impl Meter {
    /// The value of QEMU's option `-plugin`.
    pub(crate) fn option(&self, topology: &Topology) -> String {
        let mut value = format!(
            "file={},out={},interval_ms={},cache={}",
            in_option(&self.plugin),
            in_option(&self.out),
            self.interval_ms,
            self.cache.0
        );
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
pub(crate) fn plugin(cache: &Cache) -> Result<PathBuf, MeterError> {
    let plugin = cache.path(&format!("meter-{:016x}.so", fingerprint()));
    if plugin.is_file() {
        return Ok(plugin);
    }
    let write = |path: &Path| {
        let path = path.to_owned();
        move |error| MeterError::Write(path, error)
    };
    let folder = tempfile::tempdir().map_err(write(Path::new("a temporary folder")))?;
    for (name, text) in SOURCES {
        let path = folder.path().join(name);
        fs::write(&path, text).map_err(write(&path))?;
    }
    let built = folder.path().join("meter.so");
    let gcc = Command::new("gcc")
        .args(FLAGS)
        .arg("-o")
        .arg(&built)
        .arg(folder.path().join(SOURCES[0].0))
        .output()
        .map_err(MeterError::Compiler)?;
    if !gcc.status.success() {
        return Err(MeterError::Build(String::from_utf8_lossy(&gcc.stderr).into_owned()));
    }
    // In one step, for others that build it at the same time.
    let near = plugin.with_extension(format!("{}", std::process::id()));
    fs::copy(&built, &near).map_err(write(&near))?;
    fs::rename(&near, &plugin).map_err(write(&plugin))?;
    Ok(plugin)
}

/// Tells versions of the plugin apart (FNV-1a over its code and the compiler's flags).
fn fingerprint() -> u64 {
    let texts = SOURCES.iter().flat_map(|(name, text)| [*name, *text]).chain(FLAGS);
    texts.flat_map(str::bytes).fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
