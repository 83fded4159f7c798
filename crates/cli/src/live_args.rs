//! Arguments of the commands that move pages: `run` and `bench`.

use crate::account_args::AccountArgs;
use crate::args::TargetArgs;
use crate::values::{count, epoch, node, percent, rate, seconds, seconds_or_0, size};
use clap::{Args, Subcommand};
use pagetide_manager::Amount;
use pagetide_types::{Bytes, UnitSize};
use std::path::PathBuf;
use std::time::Duration;

#[derive(Args, Debug)]
pub(crate) struct RunArgs {
    #[command(flatten)]
    pub(crate) target: TargetArgs,
    #[command(flatten)]
    pub(crate) account: AccountArgs,
    /// The policy that decides, with options as in rate:interval=8 (`pagetide policies` lists them).
    #[arg(long, default_value = "rate", value_name = "NAME")]
    pub(crate) policy: String,
    /// The governor that says whether a process's pages move at all, with options as in
    /// adaptive:theta=0.5, or none (`pagetide governors` lists them).
    #[arg(long, default_value = "gain", value_name = "NAME")]
    pub(crate) governor: String,
    /// Most fast memory that the target may have, as bytes or a share of the fast tier (default:
    /// all that nobody uses).
    #[arg(long, value_name = "SIZE|PERCENT", allow_hyphen_values = true)]
    pub(crate) fast: Option<Amount>,
    /// What stays free of the fast tier beyond the kernel's own reserve, whatever it costs (default: 1 %, at least
    /// 16 MiB or a 32nd of a small tier; no page that is worth its place is demoted for it, but for memory that is soon
    /// allocated hot).
    #[arg(long, value_name = "SIZE|PERCENT", allow_hyphen_values = true)]
    pub(crate) reserve: Option<Amount>,
    /// Use free fast memory only. By default page cache there that lies idle (clean, mapped by nobody, on the kernel's
    /// inactive list) is given up for hot memory, too, as long as no more is read from disks for it.
    #[arg(long)]
    pub(crate) keep_page_cache: bool,
    /// Length of an epoch, the time between two decisions: 5s, 200ms, 2min; a number alone is
    /// seconds. The first ones are shorter; longer where deciding takes much of the budget.
    #[arg(long, default_value = "5s", value_parser = epoch, value_name = "TIME",
        allow_hyphen_values = true)]
    pub(crate) epoch: Duration,
    /// Stop after this time (60s, 2min; a number alone is seconds); a command that was started is
    /// then ended, with all its descendants, as by Ctrl-C and SIGTERM.
    #[arg(long = "for", value_parser = seconds, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) limit: Option<Duration>,
    /// Decide, and move nothing. On a machine with one memory node --fast says how much fast memory
    /// to assume.
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Put the kernel's own balancing (kernel.numa_balancing) aside for this run: two that move the
    /// same pages undo each other's work. It is restored at the end, or at the next start if this
    /// one is killed.
    #[arg(long, conflicts_with = "dry_run")]
    pub(crate) take_over: bool,
    /// Nodes of the fast tier (default: as the kernel's memory tiers say).
    #[arg(long, value_delimiter = ',', value_name = "NODE", value_parser = node,
        allow_hyphen_values = true)]
    pub(crate) fast_nodes: Vec<u16>,
    /// Nodes of slower tiers (default: the others).
    #[arg(long, value_delimiter = ',', value_name = "NODE", value_parser = node,
        allow_hyphen_values = true)]
    pub(crate) slow_nodes: Vec<u16>,
    /// A move must have brought what it costs within this time at first, and within the time for
    /// which the target has migrated so far once that is more, up to five times this; `0` moves whatever the
    /// policy wants.
    #[arg(long, default_value = "30s", value_parser = seconds_or_0, value_name = "TIME",
        allow_hyphen_values = true)]
    pub(crate) payback: Duration,
    /// Machine model for what moves cost, and for latencies where the firmware gives none: a name,
    /// a TOML file, or `list` for the names.
    #[arg(long, default_value = "cxl", value_name = "NAME|FILE|list")]
    pub(crate) machine: String,
    /// Most bytes that may move in one second, either way, with a unit: 100M (default: no limit).
    #[arg(long, value_name = "SIZE", value_parser = rate, allow_hyphen_values = true)]
    pub(crate) move_rate: Option<Bytes>,
    /// Most bytes that go up to fast memory after one epoch, as long as three times as much is free of it: 400M, as
    /// PMShifter does it (default: no limit).
    #[arg(long, value_name = "SIZE", value_parser = size, allow_hyphen_values = true)]
    pub(crate) promote_batch: Option<Bytes>,
    /// Longest time that the moves after one epoch may take (default: as long as an epoch).
    #[arg(long, value_parser = seconds, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) move_time: Option<Duration>,
    /// Threads that move pages.
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u16).range(1..=64),
        value_name = "N", allow_hyphen_values = true)]
    pub(crate) move_threads: u16,
    /// Move huge pages in pieces where no free huge page is left for them.
    #[arg(long)]
    pub(crate) split_huge: bool,
    /// What base pages move by: 4K, each by its own rate, or 2M, together with their neighbours. Huge pages
    /// move whole. Beyond 2 GiB of base pages only those have rates of their own that surely differ (default: 4K;
    /// with --record 2M).
    #[arg(long, value_name = "4K|2M", conflicts_with = "record")]
    pub(crate) unit: Option<UnitSize>,
    /// Share of one core that observing and deciding may cost, in percent (default: 3 % of each core that the
    /// target keeps busy, half a core at most; with --record 3 % of one core). Up to ten times as much in an epoch in
    /// which all memory has to be looked at, saved later.
    #[arg(long, value_parser = percent, value_name = "PERCENT", allow_hyphen_values = true)]
    pub(crate) budget: Option<f64>,
    /// Also watch memory that is mapped more than once (by several processes, say), or locked. While its accessed bits
    /// are cleared (about 10 ms per GiB, within the budget) page faults of the program wait.
    #[arg(long)]
    pub(crate) clear_shared: bool,
    /// Write a line of JSON per epoch: what was seen, decided and done. To a new file, a pipe or a device such as
    /// /dev/stdout.
    #[arg(long, value_name = "FILE.jsonl")]
    pub(crate) log: Option<PathBuf>,
    /// Also write what was seen as a recording, to plan with and to compare the plan.
    #[arg(long, value_name = "FILE.heat")]
    pub(crate) record: Option<PathBuf>,
    /// Hold the run against the plan for this recording: at the end, which share of the accesses fast memory served in
    /// the second half, and what the plan says for as much of it.
    #[arg(long, value_name = "FILE.heat")]
    pub(crate) verify: Option<PathBuf>,
    /// Say after every epoch what was done.
    #[arg(short, long, conflicts_with = "quiet")]
    pub(crate) verbose: bool,
    /// Show no progress: a line on the terminal that the command's own output may share.
    #[arg(short, long)]
    pub(crate) quiet: bool,
    /// Print the summary as JSON with stable keys.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Subcommand, Debug)]
pub(crate) enum BenchCommand {
    /// Throughput of moves by page size, batch, threads and mode, and what a move is made of.
    ///
    /// Moves memory of its own, and checks its contents. On a machine with one memory node only
    /// the parts are measured that need no second one.
    Migrate(BenchMigrateArgs),
}

#[derive(Args, Debug)]
pub(crate) struct BenchMigrateArgs {
    /// Memory to move, each way.
    #[arg(long, default_value = "64M", value_name = "SIZE", value_parser = size,
        allow_hyphen_values = true)]
    pub(crate) size: Bytes,
    /// Page sizes.
    #[arg(long, value_delimiter = ',', default_value = "2M,4K", value_name = "2M|4K")]
    pub(crate) page_size: Vec<UnitSize>,
    /// Pages per call (default: 1, 8 and all pages of 2M; 1, 64, 512 and all pages of 4K).
    #[arg(long, value_delimiter = ',', value_name = "N", value_parser = count::<usize>,
        allow_hyphen_values = true)]
    pub(crate) batch: Vec<usize>,
    /// Threads that move at once.
    #[arg(long, value_delimiter = ',', default_value = "1,2,4", value_name = "N",
        value_parser = count::<usize>, allow_hyphen_values = true)]
    pub(crate) threads: Vec<usize>,
    /// Rounds; figures are medians.
    #[arg(long, default_value_t = 5, value_name = "N", value_parser = count::<usize>,
        allow_hyphen_values = true)]
    pub(crate) rounds: usize,
    /// The fast node (default: as the kernel's memory tiers say).
    #[arg(long, value_name = "NODE", value_parser = node, allow_hyphen_values = true)]
    pub(crate) fast_node: Option<u16>,
    /// The slow node (default: the nearest slower one).
    #[arg(long, value_name = "NODE", value_parser = node, allow_hyphen_values = true)]
    pub(crate) slow_node: Option<u16>,
    /// Print JSON with stable keys instead of tables.
    #[arg(long)]
    pub(crate) json: bool,
}
