//! How large a recording is, and how fast it is written and read.
//!
//! `cargo run --release -p pagetide-trace --example trace-speed -- [UNITS] [EPOCHS] [READS]`
//! (default 500000 units, 200 epochs: 1 TB of huge pages over 17 minutes, read 5 times).
//! Two kinds of memory, both with zipf rates over scattered units, 20 % of estimation noise from
//! epoch to epoch, and no luck: neighbours have nothing in common.

use pagetide_trace::{Epoch, EpochRecord, Header, Recording, RecordingWriter, SCHEMA_VERSION};
use pagetide_types::{
    EpochHeat, EpochId, HeatFlags, HeatRow, NodeId, ObjectId, UnitId, UnitKey, UnitSize,
};
use std::{collections::BTreeMap, error::Error, fs, path::Path, time::Instant};

/// xorshift64*: fast, and the same on every machine.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }
    /// Uniform in [0, 1).
    fn share(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }
    /// Mean 0, variance 1, by twelve uniform ones.
    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.share()).sum::<f64>() - 6.0
    }
}

#[derive(Clone, Copy)]
enum Memory {
    /// Huge pages, all watched in every epoch.
    Huge,
    /// Base pages: a quarter of the units sampled per epoch, 64 pages of each.
    Base,
}

struct Program {
    memory: Memory,
    random: Random,
    truth: Vec<f64>,
    pages: Vec<u16>,
    last: Vec<HeatRow>,
}

impl Program {
    fn new(memory: Memory, units: u32) -> Self {
        let mut random = Random(88_172_645_463_325_252);
        let mut truth: Vec<f64> =
            (0..units).map(|rank| 1e6 / f64::from(rank + 1).powf(0.9)).collect();
        for i in (1..truth.len()).rev() {
            let other = usize::try_from(random.next() % (i as u64 + 1)).unwrap_or(i);
            truth.swap(i, other);
        }
        let pages = (0..units)
            .map(|_| match memory {
                Memory::Base if random.share() < 0.1 => 1 + (random.next() % 511) as u16,
                _ => 512,
            })
            .collect();
        Self { memory, random, truth, pages, last: Vec::new() }
    }

    fn row(&mut self, unit: u32) -> HeatRow {
        let i = unit as usize;
        let (truth, pages) = (self.truth[i], self.pages[i]);
        let (watched, flags) = match self.memory {
            Memory::Huge => (512, HeatFlags::HUGE | HeatFlags::SAMPLED),
            Memory::Base => (pages.min(64), HeatFlags::SAMPLED),
        };
        let estimate = truth * (0.2 * self.random.normal()).exp();
        let touched = match self.memory {
            Memory::Huge if self.random.share() < 1.0 - (-truth * 5.0).exp() => 512,
            Memory::Huge => 0,
            Memory::Base => {
                let share = 1.0 - (-truth * 5.0 / 512.0).exp();
                (0..watched).map(|_| u16::from(self.random.share() < share)).sum()
            }
        };
        let dirty = if unit.is_multiple_of(3) { HeatFlags::DIRTY } else { HeatFlags::default() };
        let seen = match touched {
            0 => HeatFlags::UNSEEN,
            _ if estimate >= 1e5 => HeatFlags::ACCESSED | HeatFlags::SATURATED | dirty,
            _ => HeatFlags::ACCESSED | dirty,
        };
        #[expect(clippy::cast_possible_truncation, reason = "an estimate has no such precision")]
        let rate = estimate.min(1e5) as f32;
        HeatRow {
            unit: UnitId(unit),
            rate: if touched == 0 { 0.0 } else { rate },
            flags: flags | seen,
            pages,
            watched,
            touched,
            node: NodeId(u16::from(unit.is_multiple_of(7))),
        }
    }

    fn epoch(&mut self, number: u32) -> EpochRecord {
        let units = u32::try_from(self.truth.len()).unwrap_or(u32::MAX);
        let mut heat = EpochHeat::new(EpochId(number));
        for unit in 0..units {
            let old = self.last.get(unit as usize).copied();
            let row = match (old, self.memory) {
                (Some(old), Memory::Base) if self.random.share() > 0.25 => HeatRow {
                    watched: 0,
                    touched: 0,
                    flags: HeatFlags(old.flags.0 & HeatFlags::DIRTY.0),
                    ..old
                },
                _ => self.row(unit),
            };
            heat.push(row);
        }
        self.last = heat.rows().collect();
        let new_units = if number == 0 {
            let key = |unit| UnitKey { object: ObjectId(0), index: 0x3f_8000 + u64::from(unit) };
            (0..units).map(key).collect()
        } else {
            Vec::new()
        };
        let epoch = Epoch { epoch: EpochId(number), length_s: 5.0, ..Epoch::default() };
        EpochRecord { epoch, new_units, new_areas: Vec::new(), heat }
    }
}

fn size(path: &Path) -> std::io::Result<u64> {
    fs::read_dir(path)?.map(|entry| Ok(entry?.metadata()?.len())).sum()
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

fn measure(memory: Memory, units: u32, epochs: u32, reads: u32) -> Result<(), Box<dyn Error>> {
    let directory = tempfile::tempdir()?;
    let path = directory.path().join("speed.heat");
    let header = Header {
        schema_version: SCHEMA_VERSION,
        tool: "trace-speed".to_owned(),
        started_unix_s: 0,
        target: "a zipf load".to_owned(),
        unit: UnitSize::Huge,
        epoch_s: 5.0,
        gaps_s: vec![0.001],
        budget: 0.01,
        machine: BTreeMap::new(),
    };
    let mut program = Program::new(memory, units);
    let mut writer = RecordingWriter::create(&path, &header)?;
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
    let bytes = size(&path)? as f64 / rows as f64;
    let mut times = Vec::new();
    let before = cpu();
    for _ in 0..reads {
        let start = Instant::now();
        let mut read = 0;
        for heat in Recording::open(&path)?.heat() {
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
    println!("{} cores", std::thread::available_parallelism()?);
    println!("huge pages, all watched:");
    measure(Memory::Huge, units, epochs, reads)?;
    println!("base pages, a quarter of the units sampled:");
    measure(Memory::Base, units, epochs, reads)
}
