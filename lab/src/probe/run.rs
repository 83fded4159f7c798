//! The probes' command line and what they do.

use super::{
    area::{Area, LINE},
    compute_ns, crossing_ns,
    device::Device,
    fill::{Fill, Search, fill, search},
    fragment::{Fragment, fragment},
    giant::read_giant_page,
    mark::Marks,
};
use clap::{Args, Subcommand};
use pagetide_types::Bytes;
use std::{
    io,
    path::PathBuf,
    thread,
    time::{Duration, Instant},
};

/// A program with known accesses.
#[derive(Debug, Subcommand)]
pub(crate) enum Probe {
    /// Tell the meter that another interval begins
    Mark {
        /// Its number in the meter's rows, 0 to 4095
        number: u16,
    },
    /// Read or write every line of memory of one node, in order, under mark 1; then mark 0
    Touch(Touch),
    /// How long computing, following pointers and streaming take, in nanoseconds
    Times(Times),
    /// Write a number into a device's memory
    Poke(Place),
    /// Wait until a number is in a device's memory
    Await(Place),
    /// Fill memory with a pattern, hold it, and verify it
    Fill(Fill),
    /// Count what is left of that pattern on a device
    Search(Search),
    /// Fragment memory with pages that can be moved and pages that cannot, and hold it
    Fragment(Fragment),
    /// Read a page of 1 GiB from the hugetlb pool
    Giant {
        /// For how long
        #[arg(long, default_value_t = 20)]
        seconds: u64,
    },
}

/// A number in a device's memory.
#[derive(Debug, Args)]
pub(crate) struct Place {
    /// The device, such as /dev/dax0.0
    device: PathBuf,
    /// Where in it, a multiple of 8
    offset: u64,
    /// The number
    number: u64,
}

/// What to touch.
#[derive(Debug, Args)]
pub(crate) struct Touch {
    /// The node
    #[arg(long)]
    node: u32,
    /// How much, rounded up to 2 MiB
    #[arg(long, default_value = "64M")]
    size: Bytes,
    /// How often
    #[arg(long, default_value_t = 1)]
    rounds: u32,
    /// Write instead of read
    #[arg(long)]
    write: bool,
    /// Pages of 4 KiB instead of 2 MiB
    #[arg(long)]
    base_pages: bool,
    /// The mark
    #[arg(long, default_value_t = 1)]
    mark: u16,
}

/// What to measure.
#[derive(Debug, Args)]
pub(crate) struct Times {
    /// Nodes to measure
    #[arg(long, value_delimiter = ',', default_value = "0")]
    nodes: Vec<u32>,
    /// Memory to use on each
    #[arg(long, default_value = "32M")]
    size: Bytes,
    /// Rounds, of which the best and the median are printed
    #[arg(long, default_value_t = 9)]
    rounds: u32,
    /// Loads of each chase
    #[arg(long, default_value_t = 20_000)]
    loads: usize,
}

/// Runs a probe.
pub(crate) fn run(probe: &Probe) -> io::Result<()> {
    match probe {
        Probe::Mark { number } => Marks::open()?.set(*number),
        Probe::Touch(touch) => touch_lines(touch)?,
        Probe::Times(times) => print_times(times)?,
        Probe::Fill(of) => fill(of)?,
        Probe::Search(of) => search(of)?,
        Probe::Fragment(of) => fragment(of)?,
        Probe::Giant { seconds } => read_giant_page(Duration::from_secs(*seconds))?,
        Probe::Poke(at) => Device::open(&at.device, at.offset)?.write(at.number),
        Probe::Await(at) => {
            let device = Device::open(&at.device, at.offset)?;
            while device.read() != at.number {
                thread::sleep(Duration::from_millis(10));
            }
        }
    }
    Ok(())
}

fn touch_lines(touch: &Touch) -> io::Result<()> {
    let area = Area::on_node(touch.node, touch.size, !touch.base_pages)?;
    let marks = Marks::open()?;
    marks.set(touch.mark);
    for _ in 0..touch.rounds {
        for offset in (0..area.size()).step_by(LINE) {
            if touch.write {
                area.write(offset);
            } else {
                area.read(offset);
            }
        }
    }
    marks.set(0);
    let lines = area.size() / LINE * touch.rounds as usize;
    let (address, size) = (area.address(), area.size());
    println!("touched node={} address={address:#x} size={size} lines={lines}", touch.node);
    Ok(())
}

fn print_times(times: &Times) -> io::Result<()> {
    println!("compute {:.1}", compute_ns(times.rounds * 20));
    println!("crossing {:.3}", crossing_ns(times.rounds));
    for &node in &times.nodes {
        let area = Area::on_node(node, times.size, true)?;
        let [chase, chases] = of_rounds(times.rounds, || chase_ns(&area, times.loads));
        let [stream, streams] = of_rounds(times.rounds, || stream_ns(&area));
        println!(
            "node {node} chase {chase:.1} median {chases:.1} stream {stream:.1} median {streams:.1}"
        );
        let [gather, gathers] = of_rounds(times.rounds, || gather_ns(&area));
        println!("node {node} gather {gather:.1} median {gathers:.1}");
    }
    Ok(())
}

/// The least, and the median.
fn of_rounds(rounds: u32, mut measure: impl FnMut() -> f64) -> [f64; 2] {
    let mut all: Vec<f64> = (0..rounds.max(1)).map(|_| measure()).collect();
    all.sort_by(f64::total_cmp);
    [all[0], all[all.len() / 2]]
}

/// Nanoseconds per load when each load's address comes from the one before, all over the area.
fn chase_ns(area: &Area, loads: usize) -> f64 {
    let (lines, base) = (area.size() / LINE, area.address());
    // The lines are a power of two: an odd factor and addend visit each once (a full-period
    // congruential sequence), far from the one before.
    let mut at = 0;
    for _ in 0..lines {
        let next = (at * 1_664_525 + 1_013_904_223) % lines;
        area.put(at * LINE, base + next * LINE);
        at = next;
    }
    let mut offset = 0;
    let started = Instant::now();
    for _ in 0..loads {
        offset = area.read(offset).wrapping_sub(base);
    }
    std::hint::black_box(offset);
    started.elapsed().as_secs_f64() * 1e9 / loads as f64
}

/// Nanoseconds per line when all lines are read out of order and no load needs another one.
fn gather_ns(area: &Area) -> f64 {
    let lines = area.size() / LINE;
    let (mut at, mut sum) = (0, 0);
    let started = Instant::now();
    for _ in 0..lines {
        // Not in the order of a chase: what is there would lead to what is read next.
        at = (at * 1_664_525 + 12_345) % lines;
        sum ^= area.read(at * LINE);
    }
    std::hint::black_box(sum);
    started.elapsed().as_secs_f64() * 1e9 / lines as f64
}

/// Nanoseconds per line when all lines are read in order, one load each.
fn stream_ns(area: &Area) -> f64 {
    let lines = area.size() / LINE;
    let mut sum = 0;
    let started = Instant::now();
    for line in 0..lines {
        sum ^= area.read(line * LINE);
    }
    std::hint::black_box(sum);
    started.elapsed().as_secs_f64() * 1e9 / lines as f64
}
