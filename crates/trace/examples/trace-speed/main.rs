//! How large a recording is, and how fast it is written and read.
//!
//! `cargo run --release -p pagetide-trace --example trace-speed -- [UNITS] [EPOCHS] [READS] [KEEP]`
//! (default 500000 units, 200 epochs: 1 TB of huge pages over 17 minutes, read 5 times; the
//! recordings stay in the directory KEEP, if one is named).
//! Two kinds of memory, both with zipf rates over scattered units, 20 % of estimation noise from
//! epoch to epoch, and no luck: neighbours have nothing in common.

mod program;

use pagetide_trace::{Header, Recording, RecordingWriter, SCHEMA_VERSION};
use pagetide_types::UnitSize;
use program::{Memory, Program};
use std::{
    collections::BTreeMap,
    error::Error,
    fs,
    path::{Path, PathBuf},
    time::Instant,
};

/// Bytes on disk by table.
fn sizes(path: &Path) -> std::io::Result<BTreeMap<String, u64>> {
    let mut sizes = BTreeMap::new();
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let table = name.split(['-', '.']).next().unwrap_or_default().to_owned();
        *sizes.entry(table).or_default() += entry.metadata()?.len();
    }
    Ok(sizes)
}

/// CPU seconds of this process, all threads: what wall time is when no one else is at work.
fn cpu_s() -> Option<f64> {
    let stat = fs::read_to_string("/proc/self/stat").ok()?;
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(11);
    let mut ticks = || fields.next()?.parse::<f64>().ok();
    Some((ticks()? + ticks()?) / 100.0)
}

/// Peak resident memory of this process, MiB.
fn peak_mib() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    Some(line.split_whitespace().nth(1)?.parse::<u64>().ok()? >> 10)
}

fn measure(
    memory: Memory,
    units: u32,
    epochs: u32,
    reads: u32,
    path: &Path,
) -> Result<(), Box<dyn Error>> {
    let header = Header {
        schema_version: SCHEMA_VERSION,
        tool: "trace-speed".to_owned(),
        started_unix_s: 0,
        target: "a zipf load".to_owned(),
        unit: UnitSize::Huge,
        epoch_s: 5.0,
        gaps_s: vec![0.001],
        budget: 0.01,
        source: pagetide_trace::Source::default(),
        began_with_target: false,
        cache_per_core: None,
        machine: BTreeMap::new(),
    };
    let mut program = Program::new(memory, units);
    let mut writer = RecordingWriter::create(path, &header, None)?;
    let (mut write_s, mut write_cpu_s) = (0.0, 0.0);
    let cpu = || cpu_s().unwrap_or(f64::NAN);
    for number in 0..epochs {
        let record = program.epoch(number);
        let (start, before) = (Instant::now(), cpu());
        writer.append(record)?;
        write_cpu_s += cpu() - before;
        write_s += start.elapsed().as_secs_f64();
    }
    let (start, before) = (Instant::now(), cpu());
    writer.finish()?;
    write_cpu_s += cpu() - before;
    write_s += start.elapsed().as_secs_f64();
    drop(program);

    let rows = u64::from(units) * u64::from(epochs);
    let sizes = sizes(path)?;
    let bytes = sizes.values().sum::<u64>() as f64 / rows as f64;
    let mut times = Vec::new();
    let before = cpu();
    for _ in 0..reads {
        let start = Instant::now();
        let mut read = 0;
        for heat in Recording::open(path)?.heat() {
            read += heat?.len() as u64;
        }
        assert_eq!(read, rows);
        times.push(start.elapsed().as_secs_f64());
    }
    let read_cpu_s = (cpu() - before) / f64::from(reads);
    times.sort_by(f64::total_cmp);
    let (least, median) = (times[0], times[times.len() / 2]);
    let most = times[times.len() - 1];
    let million = rows as f64 / 1e6;
    println!("  {million:.1} M unit-epochs, {bytes:.3} bytes each on disk");
    println!("  bytes by table: {sizes:?}");
    println!(
        "  written in {write_s:.2} s; {:.1} ns of CPU each, one thread",
        write_cpu_s * 1e3 / million
    );
    println!(
        "  read in {median:.2} s, median of {reads} ({least:.2} to {most:.2}; 100 M in {:.2} s); \
         {:.1} ns of CPU each, all threads",
        median * 100.0 / million,
        read_cpu_s * 1e3 / million
    );
    println!("  peak memory so far {} MiB", peak_mib().unwrap_or(0));
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let mut number = |default| arguments.next().map_or(Ok(default), |text| text.parse::<u32>());
    let (units, epochs, reads) = (number(500_000)?, number(200)?, number(5)?.max(1));
    let directory = tempfile::tempdir()?;
    let directory = match arguments.next() {
        Some(keep) => {
            std::fs::create_dir_all(&keep)?;
            PathBuf::from(keep)
        }
        None => directory.path().to_owned(),
    };
    println!("{} cores", std::thread::available_parallelism()?);
    println!("huge pages, all watched:");
    measure(Memory::Huge, units, epochs, reads, &directory.join("huge.heat"))?;
    println!("base pages, a quarter of the units sampled:");
    measure(Memory::Base, units, epochs, reads, &directory.join("base.heat"))
}
