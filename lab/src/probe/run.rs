//! The probes' command line and what they do.

use super::{
    area::{Area, LINE},
    compute_ns,
    mark::Marks,
};
use clap::{Args, Subcommand};
use pagetide_types::Bytes;
use std::{io, time::Instant};

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
    /// Rounds of which the best counts
    #[arg(long, default_value_t = 3)]
    rounds: u32,
    /// Loads of each chase
    #[arg(long, default_value_t = 200_000)]
    loads: usize,
}

/// Runs a probe.
pub(crate) fn run(probe: &Probe) -> io::Result<()> {
    match probe {
        Probe::Mark { number } => Marks::open()?.set(*number),
        Probe::Touch(touch) => touch_lines(touch)?,
        Probe::Times(times) => print_times(times)?,
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
    println!("touched node={} address={:#x} lines={lines}", touch.node, area.address());
    Ok(())
}

fn print_times(times: &Times) -> io::Result<()> {
    println!("compute {:.1}", compute_ns(times.rounds * 50));
    for &node in &times.nodes {
        let area = Area::on_node(node, times.size, true)?;
        let chase = best(times.rounds, || chase_ns(&area, times.loads));
        let stream = best(times.rounds, || stream_ns(&area));
        println!("node {node} chase {chase:.1} stream {stream:.1}");
    }
    Ok(())
}

fn best(rounds: u32, mut measure: impl FnMut() -> f64) -> f64 {
    (0..rounds).map(|_| measure()).fold(f64::INFINITY, f64::min)
}

/// Nanoseconds per load when each load's address comes from the one before, all over the area.
fn chase_ns(area: &Area, loads: usize) -> f64 {
    let lines = area.size() / LINE;
    // The lines are a power of two: an odd factor and addend visit each once (a full-period
    // congruential sequence), far from the one before.
    let mut at = 0;
    for _ in 0..lines {
        let next = (at * 1_664_525 + 1_013_904_223) % lines;
        area.put(at * LINE, next * LINE);
        at = next;
    }
    let mut offset = 0;
    let started = Instant::now();
    for _ in 0..loads {
        offset = area.read(offset);
    }
    std::hint::black_box(offset);
    started.elapsed().as_secs_f64() * 1e9 / loads as f64
}

/// Nanoseconds per line when all lines are read in order, one load each.
fn stream_ns(area: &Area) -> f64 {
    let lines = area.size() / LINE;
    let mut sum = 0;
    let started = Instant::now();
    for line in 0..lines {
        sum += area.read(line * LINE);
    }
    std::hint::black_box(sum);
    started.elapsed().as_secs_f64() * 1e9 / lines as f64
}
