//! Arguments of `shift`.

use crate::values::{count, device, node, percent, seconds, size};
use clap::{ArgGroup, Args, Subcommand};
use pagetide_manager::Amount;
use pagetide_types::Bytes;
use std::path::PathBuf;
use std::time::Duration;

/// Where journals lie that outlive a reboot.
const STATE: &str = "/var/lib/pagetide/shift";

#[derive(Subcommand, Debug)]
pub(crate) enum ShiftCommand {
    /// Turn prepared devices into memory when memory gets short, and back when it is not needed.
    ///
    /// Runs until it is interrupted; what is memory then stays memory.
    Run(ShiftRunArgs),
    /// Say what every device is, and who manages them.
    Status(StatusArgs),
    /// Offer storage for conversion: lay out a region of persistent memory, or name a device.
    ///
    /// Only what is empty is taken: a device that holds anything but zeros, that is open, or that cannot be
    /// read whole is refused.
    Prepare(PrepareArgs),
    /// Turn memory back into storage, zeroed, for whoever wants it; it is not taken again.
    GiveBack(GiveBackArgs),
    /// Make right what a crash or a reboot left: all of a device is memory again, or zeroed storage.
    Recover(RecoverArgs),
    /// Move the pages of a node together, so that blocks of 2 MiB become free that huge pages can be moved to.
    Compact(CompactArgs),
    /// What is done in a process of its own.
    #[command(hide = true)]
    Helper {
        /// What.
        #[arg(allow_hyphen_values = true)]
        words: Vec<String>,
    },
}

#[derive(Args, Debug)]
pub(crate) struct StateArgs {
    /// Folder of the journal, on a disk that outlives a reboot.
    #[arg(long, default_value = STATE, value_name = "FOLDER")]
    pub(crate) state: PathBuf,
    /// Print JSON with stable keys.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct ShiftRunArgs {
    #[command(flatten)]
    pub(crate) state: StateArgs,
    /// With less than this free, of a pair's DRAM and the memory behind it together, memory grows: an amount, or
    /// a share of the pair's DRAM.
    #[arg(long, default_value = "10%", value_name = "SIZE|PERCENT", allow_hyphen_values = true)]
    pub(crate) threshold: Amount,
    /// How many times as much shall be free then.
    #[arg(long, default_value_t = 5.0, value_name = "FACTOR", value_parser = growth, allow_hyphen_values = true)]
    pub(crate) growth: f64,
    /// Grow as soon as the threshold would be met before the next device is memory: so many times what is used up until
    /// then is to be free above it; 0: how fast memory is used up does not count.
    #[arg(long, default_value_t = 1.0, value_name = "FACTOR", value_parser = lead, allow_hyphen_values = true)]
    pub(crate) lead: f64,
    /// Weight of the newest free memory in the smoothed one: more than 0, at most 1.
    #[arg(long, default_value_t = 0.7, value_name = "WEIGHT", value_parser = weight, allow_hyphen_values = true)]
    pub(crate) smoothing: f64,
    /// Time between two checks.
    #[arg(long, default_value = "1s", value_parser = seconds, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) every: Duration,
    /// Time between growing and shrinking.
    #[arg(long, default_value = "5s", value_parser = seconds, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) apart: Duration,
    /// Share of the time in which some task waits for memory (PSI) from which on memory grows, however much is
    /// free; none: free memory alone counts.
    #[arg(long, value_parser = percent, value_name = "PERCENT", allow_hyphen_values = true)]
    pub(crate) stalled: Option<f64>,
    /// Count as free only what is, as PMShifter does, and not the page cache that could be dropped.
    #[arg(long)]
    pub(crate) count_free_only: bool,
    /// Switch the kernel's demotion on while this runs: DRAM that is full demotes to the memory behind it before
    /// it swaps.
    #[arg(long)]
    pub(crate) demote: bool,
    /// Have the kernel move the pages of what became memory together so often, where its free memory is in pieces and
    /// memory is not short: huge pages then find room.
    #[arg(long, value_parser = seconds, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) compact: Option<Duration>,
    /// Most storage that may be memory at a time (default: all that is prepared).
    #[arg(long, value_parser = size, value_name = "SIZE", allow_hyphen_values = true)]
    pub(crate) at_most: Option<Bytes>,
    /// Longest time that giving one device back may take.
    #[arg(long, default_value = "30s", value_parser = seconds, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) time: Duration,
    /// Stop after this time.
    #[arg(long = "for", value_parser = seconds, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) limit: Option<Duration>,
    /// Decide, and convert nothing.
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Say what every check saw, not only what was done.
    #[arg(short, long)]
    pub(crate) verbose: bool,
}

#[derive(Args, Debug)]
pub(crate) struct StatusArgs {
    #[command(flatten)]
    pub(crate) state: StateArgs,
}

#[derive(Args, Debug)]
#[command(group = ArgGroup::new("storage").required(true).args(["region", "device"]))]
pub(crate) struct PrepareArgs {
    #[command(flatten)]
    pub(crate) state: StateArgs,
    /// The region to lay out, such as region0 (`ndctl list -R` lists them).
    #[arg(long, value_name = "REGION", requires = "size")]
    pub(crate) region: Option<String>,
    /// Size of each device as storage: what is shifted at a time. As memory each loses a 64th, for its page structures,
    /// rounded up to memory blocks (128M on small machines).
    #[arg(long, value_parser = size, value_name = "SIZE", allow_hyphen_values = true, conflicts_with = "device")]
    pub(crate) size: Option<Bytes>,
    /// Most devices to make (default: as many as fit).
    #[arg(long, value_name = "N", value_parser = count::<u64>, allow_hyphen_values = true, conflicts_with = "device")]
    pub(crate) count: Option<u64>,
    /// A dax device that is there already, such as dax0.0 (CXL memory, or what was given back).
    #[arg(long, value_parser = device, value_name = "NAME")]
    pub(crate) device: Option<String>,
    /// Say what would be done, and do nothing.
    #[arg(long)]
    pub(crate) dry_run: bool,
}

#[derive(Args, Debug)]
#[command(group = ArgGroup::new("memory").required(true).args(["size", "device"]))]
pub(crate) struct GiveBackArgs {
    #[command(flatten)]
    pub(crate) state: StateArgs,
    /// How much memory to give up at least.
    #[arg(long, value_parser = size, value_name = "SIZE", allow_hyphen_values = true)]
    pub(crate) size: Option<Bytes>,
    /// This device (default: the leftmost with the fewest used pages).
    #[arg(long, value_parser = device, value_name = "NAME")]
    pub(crate) device: Option<String>,
    /// Longest time that one device may take; it stays memory if that does not do.
    #[arg(long, default_value = "30s", value_parser = seconds, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) time: Duration,
    /// Give back although DRAM has less than three times free of what is used there: the kernel swaps the rest.
    #[arg(long)]
    pub(crate) evict: bool,
    /// Say what would be given back, and do nothing.
    #[arg(long)]
    pub(crate) dry_run: bool,
}

#[derive(Args, Debug)]
pub(crate) struct RecoverArgs {
    #[command(flatten)]
    pub(crate) state: StateArgs,
    /// Nobody wants what is on this device: zero it although it may be another than the one that was memory before the
    /// machine was booted (CXL memory, which has no labels). May be given several times.
    #[arg(long, value_parser = device, value_name = "NAME")]
    pub(crate) zero: Vec<String>,
}

#[derive(Args, Debug)]
pub(crate) struct CompactArgs {
    /// The node, such as 1 (`numactl -H` lists them).
    #[arg(long, value_parser = node, value_name = "NODE")]
    pub(crate) node: u16,
    /// Longest time that it may take; what is done by then stays.
    #[arg(long, default_value = "60s", value_parser = seconds, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) time: Duration,
    /// Say how its free memory lies, and move nothing.
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Print JSON with stable keys.
    #[arg(long)]
    pub(crate) json: bool,
}

fn growth(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(factor) if (1.0..=1000.0).contains(&factor) => Ok(factor),
        _ => Err("write a factor from 1 to 1000, for instance 5".into()),
    }
}

fn lead(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(factor) if (0.0..=100.0).contains(&factor) => Ok(factor),
        _ => Err("write a factor from 0 to 100, for instance 1".into()),
    }
}

fn weight(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(weight) if weight > 0.0 && weight <= 1.0 => Ok(weight),
        _ => Err("write a weight above 0 and at most 1, for instance 0.7".into()),
    }
}
