//! Arguments of `reproduce`.

use crate::values::count;
use clap::Args;
use std::path::PathBuf;

#[derive(Args, Debug)]
pub(crate) struct ReproduceArgs {
    /// The paper; without one the papers and their figures are listed.
    #[arg(value_name = "PAPER")]
    pub(crate) paper: Option<String>,
    /// Only this figure; else all that are not slow.
    #[arg(value_name = "FIGURE")]
    pub(crate) figure: Option<String>,
    /// List the papers and their figures, and which of these are slow.
    #[arg(long)]
    pub(crate) list: bool,
    /// Also the figures that are slow.
    #[arg(long, conflicts_with = "figure")]
    pub(crate) slow: bool,
    /// Make memory so many times smaller than the published (default: what --list says).
    #[arg(long, value_name = "N", value_parser = count::<u32>, allow_hyphen_values = true)]
    pub(crate) scale: Option<u32>,
    /// A small set of points, which takes seconds.
    #[arg(long)]
    pub(crate) small: bool,
    /// Compute so many points at the same time (default: one per core).
    #[arg(long, value_name = "N", value_parser = count::<usize>, allow_hyphen_values = true)]
    pub(crate) threads: Option<usize>,
    /// Keep the points that were computed here, and go on with those that are (default:
    /// benches/results/reproduce in Pagetide's repository, else pagetide/reproduce in your cache).
    #[arg(long, value_name = "DIR")]
    pub(crate) results: Option<PathBuf>,
    /// Also write the numbers, and what pictures are drawn from, as CSV files into this directory.
    #[arg(long, value_name = "DIR")]
    pub(crate) csv: Option<PathBuf>,
    /// AMP from recordings: `page DIR`, the tables of docs/reproduction/amp-recorded.md from tables in a folder;
    /// `choices DIR`, section 6.6 as a table; `accessed RECORDING...` and `frequency`, `scan-ratios` or
    /// `within`, each with NAME RECORDING, those tables from recordings.
    #[arg(long, num_args = 2.., value_names = ["WHAT", "OF"],
        conflicts_with_all = ["figure", "list", "slow", "csv", "json", "markdown"])]
    pub(crate) recorded: Vec<String>,
    /// Show no progress.
    #[arg(short, long)]
    pub(crate) quiet: bool,
    /// Print JSON with stable keys instead of tables.
    #[arg(long)]
    pub(crate) json: bool,
    /// Print Markdown instead of tables.
    #[arg(long, conflicts_with_all = ["json", "list"])]
    pub(crate) markdown: bool,
    /// Markdown: show the pictures that benches/reproduction.py draws, from this folder.
    #[arg(long, value_name = "PATH", requires = "markdown")]
    pub(crate) pictures: Option<String>,
}
