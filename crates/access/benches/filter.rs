//! What an access costs on its way through TLB and caches.
#![allow(missing_docs, reason = "criterion's macros")]

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use pagetide_access::{
    filter::{Cache, Entries, Filter, Private, Tlb},
    generators::Rng,
    parameter::ParameterError,
    patterns::{Op, Step},
};
use pagetide_types::Bytes;
use std::hint::black_box;

/// Accesses per iteration, drawn before.
const ACCESSES: usize = 1 << 16;

/// A core as servers of 2023 have: L1 of 48 KiB, L2 of 2 MiB, and its TLB.
fn private() -> Result<Private, ParameterError> {
    Ok(Private::new(Cache::new(Bytes::kib(48), 12)?, Cache::new(Bytes::mib(2), 16)?))
}

/// All cores' last level; the number of sets is no power of two.
fn last() -> Result<Cache, ParameterError> {
    Cache::new(Bytes::kib(36 << 10), 12)
}

fn tlb() -> Result<Tlb, ParameterError> {
    let of = |entries, ways| Entries { entries, ways };
    Tlb::new(of(96, 6), of(32, 4), of(2048, 16))
}

/// Reads and writes, evenly over so much memory.
fn steps(bytes: Bytes) -> Vec<Step> {
    let mut rng = Rng::new(1, 0);
    let mut step = || {
        let op = if rng.below(3) == 0 { Op::Write } else { Op::Read };
        Step { offset: rng.below(bytes.0), gap: 3, op, dependent: false }
    };
    (0..ACCESSES).map(|_| step()).collect()
}

/// The memories that are walked, powers of two, and what they do.
const MEMORIES: [(&str, Bytes); 4] = [
    ("hits in L1", Bytes::kib(32)),
    ("hits in L2", Bytes::mib(1)),
    ("hits in LLC", Bytes::mib(16)),
    ("misses", Bytes::gib(16)),
];

fn filter(c: &mut Criterion) -> Result<(), ParameterError> {
    let mut group = c.benchmark_group("an access through");
    group.throughput(Throughput::Elements(ACCESSES as u64));
    for (name, bytes) in MEMORIES {
        // Longer than the caches, so that what misses does so every time.
        let rounds: Vec<_> = (0..64).map(|round| round * bytes.0 / 64).collect();
        let steps = steps(bytes);
        let mut round = rounds.iter().cycle();
        let mut shifted = || {
            let shift = round.next().copied().unwrap_or_default();
            let steps = black_box(steps.as_slice());
            steps
                .iter()
                .map(move |step| Step { offset: (step.offset + shift) & (bytes.0 - 1), ..*step })
        };
        let mut translations = tlb()?;
        for huge in [false, true] {
            group.bench_function(format!("TLB, {}, {name}", if huge { "2M" } else { "4K" }), |b| {
                b.iter(|| {
                    shifted().map(|s| translations.lookup(s.offset >> 12, huge) as u64).sum::<u64>()
                });
            });
        }
        let (mut core, mut shared) = (private()?, last()?);
        group.bench_function(format!("caches, {name}"), |b| {
            b.iter(|| {
                let access = |s: Step| core.access(&mut shared, s.offset >> 6, s.op != Op::Read);
                shifted().map(access).map(|served| served.level as u64).sum::<u64>()
            });
        });
        let mut both = Filter::new(private()?, 0);
        let (mut shared, mut translations, mut traffic) = (last()?, tlb()?, vec![]);
        group.bench_function(format!("TLB and caches, {name}"), |b| {
            b.iter(|| {
                traffic.clear();
                let mut walks = 0;
                for step in shifted() {
                    walks += translations.lookup(step.offset >> 12, false) as u64;
                    both.pass(&step, &mut shared, &mut traffic);
                }
                (walks, black_box(traffic.len()))
            });
        });
    }
    group.finish();
    Ok(())
}

fn benches(c: &mut Criterion) {
    #[expect(clippy::expect_used, reason = "the parameters are valid")]
    filter(c).expect("valid");
}

criterion_group!(groups, benches);
criterion_main!(groups);
