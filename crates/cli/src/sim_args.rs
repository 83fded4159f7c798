//! Arguments of `sim` and `sweep`.

use crate::values::count;
use clap::Args;
use pagetide_sim::sweep::{Setting, Vary};
use std::path::{Path, PathBuf};

/// What to simulate, and where.
#[derive(Args, Debug)]
pub(crate) struct Simulated {
    /// Set a value of the scenario: a path of keys, such as system.interval=5, tenant.fast=16G (of all
    /// tenants), tenant.0.fast=16G, tenant.NAME.pattern.exponent=1.2, machine.tier.1.read_latency_ns=300.
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<Setting>,
    /// Run under these systems, instead of the scenario's own.
    #[arg(long, value_delimiter = ',', value_name = "NAME")]
    pub(crate) system: Vec<String>,
    /// Simulate so many at the same time (default: one per core).
    #[arg(long, value_name = "N", value_parser = count::<usize>, allow_hyphen_values = true)]
    pub(crate) threads: Option<usize>,
    /// Show no progress.
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

#[derive(Args, Debug)]
pub(crate) struct SimArgs {
    /// The scenario, a TOML file.
    #[arg(value_name = "SCENARIO", required_unless_present = "list_systems")]
    pub(crate) scenario: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) simulated: Simulated,
    /// Also write every decision of the systems into this CSV file. A timeline that is there is replaced,
    /// any other file is not.
    #[arg(long, value_name = "FILE")]
    pub(crate) timeline: Option<PathBuf>,
    /// List the systems.
    #[arg(long)]
    pub(crate) list_systems: bool,
    /// Print JSON with stable keys instead of tables.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct SweepArgs {
    /// The scenario, a TOML file.
    #[arg(value_name = "SCENARIO")]
    pub(crate) scenario: PathBuf,
    /// Values of a key, one after the other: tenant.fast=4G,8G,16G. With several of these every
    /// combination is simulated.
    #[arg(long, value_name = "KEY=VALUE,VALUE...")]
    pub(crate) vary: Vec<Vary>,
    #[command(flatten)]
    pub(crate) simulated: Simulated,
    /// Write one row for each point and tenant into this file, .parquet or .csv. What is computed is
    /// kept in FILE.points.jsonl. A table that is there is replaced, also one of other values.
    #[arg(short, long, value_name = "FILE", value_parser = table)]
    pub(crate) out: PathBuf,
}

/// A file whose name says what it is.
fn table(text: &str) -> Result<PathBuf, String> {
    let path = Path::new(text);
    match path.extension().and_then(|ending| ending.to_str()) {
        Some("parquet" | "csv") => Ok(path.to_owned()),
        _ => Err(format!(
            "'{text}' ends neither in .parquet nor in .csv; one of them says what to write"
        )),
    }
}
