//! `pagetide trace`: its arguments.

use crate::args::JsonArg;
use clap::{Subcommand, ValueEnum};
use std::path::PathBuf;

#[derive(Subcommand, Debug)]
pub(crate) enum TraceCommand {
    /// What a recording holds, and what it cost.
    Info {
        /// The recording.
        recording: PathBuf,
        /// Whose memory it is: the areas of all processes together, or each process's.
        #[arg(long, value_enum, default_value = "area", value_name = "WHAT")]
        by: ByArg,
        #[command(flatten)]
        json: JsonArg,
    },
    /// Write a recording's heat as CSV or JSON lines to standard output.
    Export {
        /// The recording.
        recording: PathBuf,
        /// The format.
        #[arg(long, value_enum, default_value = "csv")]
        format: ExportFormat,
    },
    /// Compare two recordings of the same program: what changed, area by area.
    Diff {
        /// The first recording.
        first: PathBuf,
        /// The second recording.
        second: PathBuf,
        /// Also say how well single units agree: whether the same ones are hot, the order and the
        /// ratio of their rates, and which are in one recording only.
        #[arg(short, long)]
        verbose: bool,
        #[command(flatten)]
        json: JsonArg,
    },
}

/// What memory is summed up by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ByArg {
    /// Heap, stacks, files and so on.
    Area,
    /// The processes that have it.
    Process,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum ExportFormat {
    /// Comma-separated values with a header line.
    Csv,
    /// One JSON object per line.
    Jsonl,
}
