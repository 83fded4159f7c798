//! The command line; doc comments are the help.

use crate::instruction_time::InstructionTime;
use clap::{Args, Parser, Subcommand};
use pagetide_types::{Bytes, UnitSize};
use std::path::PathBuf;

/// Boots a stock kernel in QEMU with tiers of memory, and runs commands in it
///
/// Needs neither root nor KVM. `scripts/deps.sh lab` installs QEMU and fetches the kernel.
#[derive(Debug, Parser)]
#[command(version)]
pub(crate) struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub(crate) action: Action,
}

/// What the lab can do.
#[derive(Debug, Subcommand)]
pub(crate) enum Action {
    /// Boot a machine, run a command in it as root, exit with its exit code
    Run(Box<Run>),
    /// List the topologies that are built in
    Topologies,
    /// In a guest: programs with known accesses, and marks for the meter
    Probe {
        /// Which.
        #[command(subcommand)]
        probe: crate::probe::Probe,
    },
}

/// What to run, and in which machine.
#[derive(Debug, Args)]
#[command(args_override_self = true)]
pub(crate) struct Run {
    /// The machine: a name that `topologies` lists, or a TOML file
    #[arg(short, long, default_value = crate::topology::Topology::DEFAULT, value_name = "NAME|FILE")]
    pub(crate) topology: String,
    /// Another program of this host that the guest needs, with its libraries (repeatable)
    #[arg(long, value_name = "PROGRAM")]
    pub(crate) with: Vec<String>,
    /// A file or folder of this host that the guest gets, at the same path or at GUEST (repeatable)
    #[arg(long, value_name = "HOST[:GUEST]", value_parser = copy)]
    pub(crate) copy: Vec<(PathBuf, PathBuf)>,
    /// A variable in the command's environment (repeatable)
    #[arg(long, value_name = "KEY=VALUE", value_parser = variable)]
    pub(crate) env: Vec<(String, String)>,
    /// Where the files go that the command leaves in /out ($OUT)
    #[arg(long, value_name = "FOLDER")]
    pub(crate) out: Option<PathBuf>,
    /// Keep what is written to NVDIMMs and CXL memory in this folder: the next run with it finds them as this one
    /// left them, as after a reboot
    #[arg(long, value_name = "FOLDER")]
    pub(crate) keep: Option<PathBuf>,
    /// Keep the kernel's messages in this file
    #[arg(long, value_name = "FILE")]
    pub(crate) console: Option<PathBuf>,
    /// Seconds within which the guest must have booted
    #[arg(long, default_value_t = 120, value_name = "SECONDS")]
    pub(crate) boot_timeout: u64,
    /// Seconds within which the command must have ended
    #[arg(long, default_value_t = 600, value_name = "SECONDS")]
    pub(crate) timeout: u64,
    /// Count misses of the caches by node and interval into this CSV file
    #[arg(long, value_name = "FILE")]
    pub(crate) meter: Option<PathBuf>,
    /// Count them also by unit of memory, into this CSV file
    #[arg(long, value_name = "FILE", requires = "meter")]
    pub(crate) units: Option<PathBuf>,
    /// What a unit is: 2M or 4K
    #[arg(long, default_value = "2M", value_name = "2M|4K", requires = "units")]
    pub(crate) unit_size: UnitSize,
    /// Intervals between the rows of units
    #[arg(long, default_value_t = 10, value_name = "N", requires = "units",
          value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) units_every: u32,
    /// Milliseconds of an interval
    #[arg(long, default_value_t = 100, value_name = "MS", requires = "meter",
          value_parser = clap::value_parser!(u32).range(10..))]
    pub(crate) interval: u32,
    /// The meter's last-level cache of each CPU
    #[arg(long, default_value = "2M", value_name = "SIZE", requires = "meter")]
    pub(crate) cache: Bytes,
    /// Make memory as slow in the guest's own clock as on this machine: a name or a TOML file as
    /// of `pagetide plan --machine`
    #[arg(long, value_name = "NAME|FILE", requires = "meter")]
    pub(crate) felt: Option<String>,
    /// How much slower than the machine the guest lives; if not given, it is measured, or 1 with --instruction-ns
    #[arg(long, value_name = "FACTOR", requires = "felt", value_parser = factor)]
    pub(crate) dilation: Option<f64>,
    /// Let the guest's clock advance by so many nanoseconds with each instruction (1, 2, 4, ... 1024; with a meter and
    /// one CPU also 0.01 to 0.99, or two: of programs and of the kernel), not by the host's clock: how fast and how busy
    /// the host is changes nothing. Of several CPUs one runs at a time
    #[arg(long, value_name = "NS[,NS]")]
    pub(crate) instruction_ns: Option<InstructionTime>,
    /// Say when the guest is ready
    #[arg(short, long)]
    pub(crate) verbose: bool,
    /// The command and its arguments; a bare name is busybox's or else this host's program
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
}

fn copy(text: &str) -> Result<(PathBuf, PathBuf), String> {
    let (host, guest) = text.split_once(':').unwrap_or((text, ""));
    let absolute = |path: &str| std::path::absolute(path).map_err(|error| error.to_string());
    let host = absolute(host)?;
    let guest = if guest.is_empty() { host.clone() } else { PathBuf::from(guest) };
    if guest.is_absolute() { Ok((host, guest)) } else { Err("GUEST must begin with /".into()) }
}

fn variable(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value))
            if !key.is_empty()
                && !key.starts_with(|c: char| c.is_ascii_digit())
                && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') =>
        {
            Ok((key.to_owned(), value.to_owned()))
        }
        _ => Err("write KEY=VALUE, for example RUST_LOG=debug".into()),
    }
}

fn factor(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(factor) if (1.0..=1000.0).contains(&factor) => Ok(factor),
        _ => Err("write a number from 1 to 1000".into()),
    }
}
