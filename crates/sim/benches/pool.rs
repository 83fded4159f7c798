//! Misses of 16 cores replayed on the paper's pool, beside what merely reading them takes, with one look
//! at a table of pages for each: nothing can be replayed faster. In time on a CPU, which others on the
//! machine lengthen less than they lengthen what passes.
#![allow(missing_docs, reason = "criterion's macros")]

use criterion::measurement::{Measurement, ValueFormatter, WallTime};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use pagetide_access::patterns::{Op, Source, Step};
use pagetide_machine::{PoolCache, PoolMachine};
use pagetide_sim::pool::{
    Engine, Filtered, Filtering, Migration, Misses, Placement, Program, filter,
};
use pagetide_types::Bytes;
use std::error::Error;
use std::fs;
use std::hint::black_box;
use std::time::Duration;

/// Nanoseconds for which the thread was on a CPU, as the kernel tells.
struct OnCpu;

impl OnCpu {
    fn now() -> u64 {
        let text = fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
        text.split(' ').next().and_then(|ns| ns.parse().ok()).unwrap_or(0)
    }
}

impl Measurement for OnCpu {
    type Intermediate = u64;
    type Value = u64;

    fn start(&self) -> u64 {
        Self::now()
    }

    fn end(&self, start: u64) -> u64 {
        Self::now() - start
    }

    fn add(&self, a: &u64, b: &u64) -> u64 {
        a + b
    }

    fn zero(&self) -> u64 {
        0
    }

    fn to_f64(&self, value: &u64) -> f64 {
        *value as f64
    }

    fn formatter(&self) -> &dyn ValueFormatter {
        WallTime.formatter()
    }
}

/// Lines that a core fetches.
const MISSES: u32 = 1 << 17;
/// Pages that they lie in.
const PAGES: u32 = 1 << 14;

/// Sixteen streams of a core, each a line further every time, 40 instructions apart; caches this small let all
/// through, and every fourth line comes back.
struct Streams {
    core: u64,
    at: u64,
}

impl Source for Streams {
    fn take(&mut self, n: u32, _: Duration, steps: &mut Vec<Step>) {
        for _ in 0..n {
            let (stream, line) = (self.at % 16, self.at / 16);
            let first = (self.core * 16 + stream) * (u64::from(PAGES) / 16);
            let op = if self.at % 4 == 3 { Op::Write } else { Op::Read };
            let offset = ((first << 6) + line) << 6;
            steps.push(Step { offset, gap: 40, op, dependent: false });
            self.at += 1;
        }
    }
}

/// What a node keeps.
fn kept() -> Result<Filtered, Box<dyn Error>> {
    let level = |kib, shared| PoolCache { size: Bytes::kib(kib), ways: 8, shared };
    let caches = [level(4, false), level(8, false), level(64, true)];
    let streams = |core| Box::new(Streams { core, at: 0 }) as Box<dyn Source>;
    let instructions = u64::from(MISSES) * 40;
    let filtering = Filtering { warm_up: 0, instructions, pages: 2 * PAGES, seed: 1 };
    Ok(filter((0..2).map(streams).collect(), &caches, None, filtering)?)
}

fn replay(c: &mut Criterion<OnCpu>) -> Result<(), Box<dyn Error>> {
    let machine = PoolMachine::load(PoolMachine::DEFAULT)?;
    let kept = kept()?;
    let misses = &kept.misses;
    let programs = vec![Program { misses, pages: 2 * PAGES }; machine.nodes as usize];
    let lines: u64 = misses.iter().map(|core| core.fetches() + core.write_backs()).sum();
    let mut group = c.benchmark_group("a miss of 16 cores");
    group.throughput(Throughput::Elements(u64::from(machine.nodes) * lines));
    group.sample_size(10);
    let run = |migration: Option<&Migration>| {
        let engine = Engine::new(&machine, &programs, (Placement::Pool, 1), migration)?;
        let nodes = vec![&kept; machine.nodes as usize];
        let engine = if migration.is_some() { engine.sharing(&nodes) } else { engine };
        engine.run(&mut |_| true)
    };
    run(None)?;
    group.bench_function("nothing moves", |b| b.iter(|| run(None).map(|found| found.ipc)));
    let migration = Migration { epoch_cycles: 100_000, ..Migration::default() };
    group.bench_function("pages move", |b| b.iter(|| run(Some(&migration)).map(|found| found.ipc)));
    let places = vec![1_u32; 2 * PAGES as usize];
    group.bench_function("read, and a table of pages looked at: the limit", |b| {
        b.iter(|| {
            let of = |core: &Misses| -> u64 {
                let look = |miss: &pagetide_sim::pool::Miss| {
                    u64::from(miss.instructions()) + u64::from(places[miss.line() as usize >> 6])
                };
                core.all().iter().map(look).sum()
            };
            (0..8).map(|_| black_box(misses).iter().map(of).sum::<u64>()).sum::<u64>()
        });
    });
    group.finish();
    Ok(())
}

fn benches_of(c: &mut Criterion<OnCpu>) {
    if let Err(error) = replay(c) {
        eprintln!("{error}");
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default().with_measurement(OnCpu);
    targets = benches_of
}
criterion_main!(benches);
