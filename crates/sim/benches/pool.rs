//! Misses of 16 cores replayed on the paper's pool, beside what merely reading them takes, with one look
//! at a table of pages for each: nothing can be replayed faster. In time on a CPU, which others on the
//! machine lengthen less than they lengthen what passes.
#![allow(missing_docs, reason = "criterion's macros")]

use criterion::measurement::{Measurement, ValueFormatter, WallTime};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use pagetide_access::Kind;
use pagetide_machine::PoolMachine;
use pagetide_sim::pool::{Engine, Migration, Misses, Placement, Program};
use std::error::Error;
use std::fs;
use std::hint::black_box;

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

/// Misses of a core.
const MISSES: u32 = 1 << 17;
/// Pages that a core's misses go to.
const PAGES: u32 = 1 << 14;

/// Sixteen streams of a core, each a line further every time, 40 instructions apart.
fn core(number: u32) -> Misses {
    let mut misses = Misses::default();
    for miss in 0..MISSES {
        let (stream, line) = (miss % 16, miss / 16);
        let first = (number * 16 + stream) * (PAGES / 16);
        let kind = if miss % 4 == 3 { Kind::WriteBack } else { Kind::Read };
        misses.push((first << 6) + line, kind, 40);
    }
    misses
}

fn replay(c: &mut Criterion<OnCpu>) -> Result<(), Box<dyn Error>> {
    let machine = PoolMachine::load(PoolMachine::DEFAULT)?;
    let misses = [core(0), core(1)];
    let programs = vec![Program { misses: &misses, pages: 2 * PAGES }; machine.nodes as usize];
    let mut group = c.benchmark_group("a miss of 16 cores");
    group.throughput(Throughput::Elements(16 * u64::from(MISSES)));
    group.sample_size(10);
    let run = |migration: Option<&Migration>| {
        let engine = Engine::new(&machine, &programs, (Placement::Pool, 1), migration);
        engine.and_then(|engine| engine.run(&mut |_| true))
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
            (0..8).map(|_| black_box(&misses).iter().map(of).sum::<u64>()).sum::<u64>()
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
