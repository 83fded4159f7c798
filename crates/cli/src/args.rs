//! The command line. Doc comments are the help texts.

use crate::account_args::AccountArgs;
use crate::curve_args::CurveArgs;
use crate::exact_args::ExactOptions;
use crate::live_args::{BenchCommand, RunArgs};
use crate::reproduce_args::ReproduceArgs;
use crate::shift_args::ShiftCommand;
use crate::sim_args::{SimArgs, SweepArgs};
use crate::trace_args::TraceCommand;
use crate::values::{percent, percent_range, pid, seconds, weight};
use crate::window_args::WindowArgs;
use clap::builder::{NonEmptyStringValueParser, UnknownArgumentValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use pagetide_manager::Amount;
use pagetide_scan::Range;
use pagetide_types::UnitSize;
use pagetide_workloads::Workload;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// Records which memory a program uses, and says how much fast memory it needs.
#[derive(Parser, Debug)]
#[command(name = "pagetide", version, max_term_width = 100, after_help = EXIT_CODES)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// For scripts; docs/exit-codes.md tells more.
const EXIT_CODES: &str = "\
Exit codes:
  0    done; also when a plan has no recommendation (`.recommendation` of --json is null then)
  1    failed: a recording that cannot be read, an output that exists, a full disk
  2    the command line was not understood
  3    a privilege is missing (doctor: 4)
  4    this machine cannot be recorded on, or has nothing to move pages between (run, shift run)
  5    the target does not exist or cannot be watched
  130  interrupted; what was recorded is kept
  any other: the recorded command's own";

#[derive(Subcommand, Debug)]
pub(crate) enum Command {
    /// Record how hot every part of a program's memory is.
    Record(RecordArgs),
    /// Say how much fast memory a program needs, and with which policy.
    ///
    /// Give recordings, or a command (after --), PIDs or a cgroup to record first.
    ///
    /// A recording that cannot tell is an answer, too: the exit code is 0, and `.recommendation`
    /// of --json is null.
    Plan(PlanArgs),
    /// Keep a program's hot memory in fast memory: observe it, decide, move its pages.
    ///
    /// Give a command (after --), PIDs or a cgroup. Needs a machine with two tiers of memory.
    Run(RunArgs),
    /// Turn idle persistent or pooled memory into memory as pressure asks, and back.
    #[command(subcommand)]
    Shift(ShiftCommand),
    /// Measure what moving pages costs on this machine.
    #[command(subcommand)]
    Bench(BenchCommand),
    /// Write plans as one HTML page that needs no network, several side by side.
    ///
    /// Every recording is planned for on every machine given: A B --machine X --machine Y makes
    /// four plans, the most that fit.
    Report(ReportArgs),
    /// Look into recordings.
    #[command(subcommand)]
    Trace(TraceCommand),
    /// Say how often a cache of pages would miss, at one or all of its sizes.
    ///
    /// From single accesses, in one pass, under LRU, FIFO and CLOCK: exactly, or on a sample.
    Curve(CurveArgs),
    /// Simulate programs on a machine with tiers of memory, or on nodes that share a pool of it.
    ///
    /// The scenario is a TOML file that names the machine, the programs, and one or several systems or how
    /// pages migrate; docs/sim.md has its keys, of pools docs/pool.md, and scenarios/ has examples.
    Sim(SimArgs),
    /// Simulate a scenario at every combination of some values, into a table.
    ///
    /// What is computed is kept beside the table, and a sweep that was interrupted or killed goes on
    /// where it was.
    Sweep(SweepArgs),
    /// Make published figures again, by simulation, and say how near ours come.
    ///
    /// Points that were computed are kept, and a run that was interrupted goes on where it was. A
    /// published number that is missed is an answer: the exit code is 0.
    Reproduce(ReproduceArgs),
    /// Show what this machine offers, what that means, and whether heat can be read on it.
    Doctor(DoctorArgs),
    /// List the policies.
    Policies(JsonArg),
    /// List the governors, which say whether pages move at all.
    Governors(JsonArg),
    /// Run a program with a known access pattern.
    #[command(subcommand)]
    Workload(Workload),
    /// Print the completions of a shell for these commands.
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
    /// Print the manual page, or write those of all commands.
    Man {
        /// Write one page per command into this directory.
        #[arg(short, long, value_name = "DIR")]
        output: Option<PathBuf>,
    },
}

#[derive(Args, Debug)]
pub(crate) struct JsonArg {
    /// Print JSON with stable keys instead of tables.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Whom to watch: exactly one of these.
#[derive(Args, Debug, Clone)]
#[group(multiple = false)]
pub(crate) struct TargetArgs {
    /// Processes to watch, with their descendants.
    #[arg(short, long = "pid", value_delimiter = ',', value_name = "PID",
        value_parser = pid, allow_hyphen_values = true)]
    pub(crate) pids: Vec<i32>,
    /// A cgroup (v1 or v2) to watch: a path, absolute or below the mount point.
    #[arg(long, value_name = "PATH", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) cgroup: Option<String>,
    /// A command to start and watch, with its descendants.
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<OsString>,
}

#[derive(Args, Debug, Clone)]
pub(crate) struct RecordOptions {
    /// Length of an epoch, the time between two decisions of a policy: 5s, 200ms, 2min; a number
    /// alone is seconds. Of exact counts, which need no samples, 0.5 s of the program's own time by
    /// default.
    #[arg(long, default_value = "5s", default_value_if("exact", "true", "500ms"), value_parser = seconds, value_name = "TIME",
        allow_hyphen_values = true)]
    pub(crate) epoch: Duration,
    /// What gets a rate of its own, and is placed: regions of 2M, or single pages of 4K, which
    /// cost a recording 500 times the rows.
    #[arg(long, default_value = "2M", value_name = "2M|4K")]
    pub(crate) unit: UnitSize,
    /// Stop after this time (60s, 2min; a number alone is seconds); a command that was started is
    /// then ended, with all its descendants, as by Ctrl-C and SIGTERM. With --exact it is the program's own time, of which QEMU
    /// takes several times as long.
    #[arg(long = "for", alias = "duration", value_parser = seconds, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) limit: Option<Duration>,
    /// Share of one core that observing may cost, in percent.
    #[arg(long, default_value = "1%", value_parser = percent, value_name = "PERCENT",
        allow_hyphen_values = true)]
    pub(crate) budget: f64,
    /// Also watch memory that is mapped more than once (by several processes, say), or locked. While its accessed bits
    /// are cleared (about 10 ms per GiB, within the budget) page faults of the program wait.
    #[arg(long)]
    pub(crate) clear_shared: bool,
    /// Record only memory at these addresses, in hexadecimal: that of a guest in an emulator, or of
    /// one large mapping.
    #[arg(long, value_name = "START-END", value_parser = crate::values::addresses)]
    pub(crate) range: Option<Range>,
    /// Show no progress: a line on the terminal that the command's own output may share.
    #[arg(short, long)]
    pub(crate) quiet: bool,
    #[command(flatten)]
    pub(crate) exact: ExactOptions,
}

#[derive(Args, Debug)]
pub(crate) struct RecordArgs {
    #[command(flatten)]
    pub(crate) target: TargetArgs,
    #[command(flatten)]
    pub(crate) account: AccountArgs,
    /// The recording to write: a directory that does not exist yet.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: PathBuf,
    #[command(flatten)]
    pub(crate) options: RecordOptions,
}

/// How fast memory is split between recordings.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ShareArg {
    /// In equal parts.
    Equal,
    /// In proportion to --weights.
    Weighted,
    /// Again and again to the one that gains most per byte.
    Utility,
}

#[derive(Args, Debug)]
pub(crate) struct PlanArgs {
    /// Recordings to plan for; of several, --fast is split between them.
    #[arg(value_name = "RECORDING", conflicts_with_all = ["pids", "cgroup", "command"],
        conflicts_with_all = ["output", "epoch", "unit", "limit", "budget", "clear_shared", "range", "quiet", "exact"])]
    pub(crate) recordings: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) target: TargetArgs,
    #[command(flatten)]
    pub(crate) account: AccountArgs,
    /// Keep the recording here (default: it is removed after planning).
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) asked: AskedArgs,
    #[command(flatten)]
    pub(crate) window: WindowArgs,
    /// The machine: a name, a TOML file, or `list` for the names.
    #[arg(long, default_value = "cxl", value_name = "NAME|FILE|list")]
    pub(crate) machine: String,
    /// Fast memory, with a unit (4G, 512M) or as a share of the memory in use (25%): the slowdown of one recording
    /// with it, or how it is best split between several.
    #[arg(long, value_name = "SIZE|PERCENT", allow_hyphen_values = true)]
    pub(crate) fast: Option<Amount>,
    /// How to split it; what the other ways would give is shown, too.
    #[arg(long, value_enum, default_value = "utility", value_name = "HOW", requires = "fast")]
    pub(crate) share: ShareArg,
    /// Weights for `--share weighted`, one for each recording (default: their footprints, so that
    /// each has the same share of its memory fast).
    #[arg(long, value_delimiter = ',', value_name = "NUMBER", requires = "fast",
        value_parser = weight, allow_hyphen_values = true)]
    pub(crate) weights: Vec<f64>,
    /// Print JSON with stable keys instead of the report.
    #[arg(long)]
    pub(crate) json: bool,
    /// Write the report as one HTML page, too; an older one of that name is replaced.
    #[arg(long, value_name = "FILE.html")]
    pub(crate) report: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) options: RecordOptions,
}

/// What is asked of a plan.
#[derive(Args, Debug)]
pub(crate) struct AskedArgs {
    /// The slowdown to stay below, in percent.
    #[arg(long, alias = "slowdown", default_value = "5%", value_parser = percent,
        value_name = "PERCENT", allow_hyphen_values = true)]
    pub(crate) target_slowdown: f64,
    /// Policies to consider (default: all), with options as in lru,rate:interval=8,steps=4.
    #[arg(long, value_delimiter = ',', value_name = "NAME")]
    pub(crate) policy: Vec<String>,
    /// Share of the run time that the program waits for memory, if you know it: `30%`, or a range
    /// such as `20-40%` (a profiler with stall counters tells).
    #[arg(long, value_parser = percent_range, value_name = "PERCENT", allow_hyphen_values = true)]
    pub(crate) memory_share: Option<(f64, f64)>,
    /// Which cache misses wait for memory, where the recording counted them.
    #[arg(long, value_enum, default_value = "leads", value_name = "WHICH")]
    pub(crate) charge: ChargeArg,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ChargeArg {
    /// Those that no prefetcher can have fetched; the others take bandwidth alone.
    Leads,
    /// All of them, as in a recording that cannot tell.
    Lines,
}

#[derive(Args, Debug)]
pub(crate) struct ReportArgs {
    /// The recordings, up to four.
    #[arg(value_name = "RECORDING")]
    pub(crate) recordings: Vec<PathBuf>,
    /// The page to write, replacing an older one of that name (default: NAME.html here for
    /// NAME.heat, if there is none yet).
    #[arg(short, long, value_name = "FILE.html")]
    pub(crate) output: Option<PathBuf>,
    /// What it is called in `plan`: here only to name -o.
    #[arg(long = "report", hide = true, num_args = 0, default_missing_value = "",
        value_parser = UnknownArgumentValueParser::suggest_arg("-o <FILE.html>"))]
    pub(crate) not_report: Option<String>,
    /// The machine: a name, a TOML file, or `list` for the names; given several times, the
    /// machines are compared.
    #[arg(long, default_value = "cxl", value_name = "NAME|FILE|list")]
    pub(crate) machine: Vec<String>,
    #[command(flatten)]
    pub(crate) asked: AskedArgs,
    #[command(flatten)]
    pub(crate) window: WindowArgs,
}

#[derive(Args, Debug)]
pub(crate) struct DoctorArgs {
    #[command(flatten)]
    pub(crate) json: JsonArg,
    /// Leave the self-test out.
    #[arg(long)]
    pub(crate) no_self_test: bool,
    /// List every test of the self-test.
    #[arg(short, long, conflicts_with = "no_self_test")]
    pub(crate) verbose: bool,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_definition_is_consistent() {
        Arguments::command().debug_assert();
    }
}
