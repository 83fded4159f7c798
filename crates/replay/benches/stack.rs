//! How long the replay at every capacity takes: 500,000 units x 200 epochs (1 TB of huge pages,
//! 17 minutes) through four policies, each policy alone, and the naive replay of one capacity in
//! the same run as the peer.
//!
//! `cargo bench -p pagetide-replay --bench stack [-- UNITS EPOCHS]`. The heat is made on the fly
//! and its making is not counted. A tenth of the units draws most accesses and wanders slowly
//! over the footprint; two fifths are rarely touched; rates have the noise of an
//! estimate and the precision of a recording.

use pagetide_policy::{AccessHistory, EpochView, Policy, PolicySpec, REGISTRY};
use pagetide_replay::{Replay, ReplayOptions, replay_at};
use pagetide_trace::round_rate;
use pagetide_types::{Bytes, EpochHeat, EpochId, HeatFlags, HeatRow, NodeId, UnitId, UnitSize};
use std::hint::black_box;
use std::time::{Duration, Instant};

const POLICIES: [&str; 4] = ["lru", "lfu", "rate", "clairvoyant"];
fn main() {
    // `cargo bench` hands over `--bench`; `cargo test --benches` hands over nothing.
    let numbers: Vec<u32> = std::env::args().filter_map(|arg| arg.parse().ok()).collect();
    let full = std::env::args().any(|arg| arg == "--bench");
    let units = numbers.first().copied().unwrap_or(if full { 500_000 } else { 2_000 });
    let epochs = numbers.get(1).copied().unwrap_or(if full { 200 } else { 8 });
    let few = epochs.clamp(2, 20);
    let threads = rayon::current_num_threads();
    println!("{units} units x {epochs} epochs, {threads} threads\n");
    println!("{:<32} {:>9} {:>9} {:>18} {:>9}", "", "wall s", "CPU s", "ns/unit-epoch", "CPU ns");

    let specs = POLICIES.map(spec);
    let (all, capacities) = stack(&specs, units, epochs);
    let count = f64::from(units) * f64::from(epochs);
    row("four policies together", all, count * 4.0);
    println!("  of all {capacities} capacities; peak memory {}", peak_memory());
    println!("  the goal is 12 s and 2 GiB\n");

    let alone = f64::from(units) * f64::from(few);
    for info in REGISTRY {
        let (time, _) = stack(&[PolicySpec::from(*info)], units, few);
        row(&format!("{} alone, {few} epochs", info.name), time, alone);
    }
    println!("\nparts, one thread, {few} epochs");
    parts(units, few);
    histogram(units, few);
    println!("\nnaive, one capacity, one thread, {few} epochs");
    let memory: Vec<_> = (0..few).map(|epoch| (heat(units, epoch), 5.0)).collect();
    let options = options(units);
    for spec in &specs {
        let mut spent = Spent::default();
        spent.on(|| replay_at(&memory, spec, &options, Bytes(options.footprint.0 / 3)));
        row(&spec.to_string(), spent, alone);
    }
}

fn spec(name: &str) -> PolicySpec {
    name.parse().unwrap_or_else(|error| panic!("{error}"))
}

fn options(units: u32) -> ReplayOptions {
    ReplayOptions {
        unit: UnitSize::Huge,
        footprint: Bytes(u64::from(units) << 21),
        ..ReplayOptions::default()
    }
}

/// Wall time and CPU time of all threads, the latter for busy machines.
#[derive(Clone, Copy, Default)]
struct Spent {
    wall: Duration,
    cpu: Duration,
}

impl Spent {
    fn on<T>(&mut self, work: impl FnOnce() -> T) -> T {
        let (cpu, wall) = (cpu_time(), Instant::now());
        let made = black_box(work());
        self.wall += wall.elapsed();
        self.cpu += cpu_time().saturating_sub(cpu);
        made
    }
}

/// CPU time of all threads that still run; the kernel counts nanoseconds.
fn cpu_time() -> Duration {
    let threads = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let spent = threads.filter_map(|thread| {
        let text = std::fs::read_to_string(thread.path().join("schedstat")).ok()?;
        text.split_whitespace().next()?.parse::<u64>().ok()
    });
    Duration::from_nanos(spent.sum())
}

fn row(name: &str, spent: Spent, unit_epochs: f64) {
    let (wall, cpu) = (spent.wall.as_secs_f64(), spent.cpu.as_secs_f64());
    let ns = |seconds: f64| seconds * 1e9 / unit_epochs;
    println!("{name:<32} {wall:>9.2} {cpu:>9.2} {:>18.2} {:>9.2}", ns(wall), ns(cpu));
}

/// Time in the replay, and its capacities.
fn stack(specs: &[PolicySpec], units: u32, epochs: u32) -> (Spent, usize) {
    let mut replay = Replay::new(specs, options(units));
    let mut spent = Spent::default();
    for epoch in 0..epochs {
        let heat = heat(units, epoch);
        spent.on(|| replay.push(heat, 5.0)).unwrap_or_else(|error| panic!("{error}"));
    }
    let curves = spent.on(|| replay.finish());
    (spent, curves[0].curve.promoted.len())
}

/// What the access history and the keys cost of it.
fn parts(units: u32, epochs: u32) {
    let memory: Vec<_> = (0..epochs).map(|epoch| heat(units, epoch)).collect();
    let count = f64::from(units) * f64::from(epochs);
    let mut history = AccessHistory::default();
    let mut spent = Spent::default();
    spent.on(|| memory.iter().for_each(|heat| history.update(heat)));
    row("history, once for all", spent, count);
    let mut keys = vec![0; units as usize];
    for name in POLICIES {
        let Policy::Rank(mut policy) = spec(name).build() else { continue };
        let mut spent = Spent::default();
        for pair in memory.windows(2) {
            let (heat, oracle) = (&pair[0], Some(&pair[1]));
            let view = EpochView {
                heat,
                history: &history,
                length_s: 5.0,
                free_moves: false,
                one_unit_in: 1,
                oracle,
                placement: None,
            };
            spent.on(|| policy.rank(&view, &mut keys));
        }
        row(&format!("keys of {name}"), spent, count);
    }
}

/// The physical limit: one policy (LRU) at one budget, by a histogram of the ages, without a
/// history, an order, other capacities or units that change. Ties are kept as they lie.
fn histogram(units: u32, epochs: u32) {
    let memory: Vec<_> = (0..epochs).map(|epoch| heat(units, epoch)).collect();
    let budget = u64::from(units) * 512 / 3;
    let (mut age, mut fast) = (vec![0u8; units as usize], vec![false; units as usize]);
    let (mut hits, mut moved) = (0.0, 0u64);
    let mut spent = Spent::default();
    spent.on(|| {
        for heat in &memory {
            let mut pages = [0u64; 256];
            for i in 0..heat.len() {
                hits += f64::from(if fast[i] { heat.rate[i] } else { 0.0 });
                let accessed = heat.flags[i].has(HeatFlags::ACCESSED);
                age[i] = if accessed { 0 } else { age[i].saturating_add(1) };
                pages[age[i] as usize] += u64::from(heat.pages[i]);
            }
            let mut room = budget;
            let whole = pages.iter().take_while(|pages| {
                let fits = **pages <= room;
                room -= if fits { **pages } else { 0 };
                fits
            });
            let cut = whole.count();
            for i in 0..heat.len() {
                let at = age[i] as usize;
                let size = u64::from(heat.pages[i]);
                let stays = at == cut && fast[i] && room >= size;
                room -= if stays { size } else { 0 };
                let now = at < cut || stays;
                moved += if now == fast[i] { 0 } else { size };
                fast[i] = now;
            }
        }
        (hits, moved)
    });
    row("limit: one budget, histogram", spent, f64::from(units) * f64::from(epochs));
}

fn heat(units: u32, epoch: u32) -> EpochHeat {
    let mut heat = EpochHeat::new(EpochId(epoch));
    for unit in 0..units {
        let noise = mix(u64::from(epoch) << 32 | u64::from(unit));
        // Every unit's own warmth, drawn again at its own epoch within every 256.
        let own = mix(u64::from(unit) | 1 << 63);
        let life = (u64::from(epoch) + (own & 255)) >> 8;
        let warmth = mix(own ^ life) % 1000;
        let spread = 0.7 + (noise & 255) as f32 / 425.0;
        let (rate, seen) = match warmth {
            0..20 => (5e4, true),
            20..100 => (2e3 * (1 + warmth) as f32 / 100.0, true),
            100..600 => (30.0, noise >> 32 & 3 != 0),
            _ => (0.2, noise >> 32 & 31 == 0),
        };
        let mut flags = HeatFlags::SAMPLED | HeatFlags::HUGE;
        flags |= if seen { HeatFlags::ACCESSED } else { HeatFlags::UNSEEN };
        if warmth < 20 {
            flags |= HeatFlags::SATURATED;
        }
        heat.push(HeatRow {
            unit: UnitId(unit),
            rate: if seen { round_rate(rate * spread) } else { 0.0 },
            flags,
            pages: 512,
            watched: 512,
            touched: 512 * u16::from(seen),
            node: NodeId(0),
        });
    }
    heat
}

/// The finalizer of `SplitMix64`.
fn mix(value: u64) -> u64 {
    let z = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// The largest resident size of this process so far, as the kernel says it.
fn peak_memory() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.map_or_else(|| "unknown".to_owned(), |value| value.trim().to_owned())
}
