//! What a simulator pays for being told the next access, beside one random access of this machine.
#![allow(missing_docs, reason = "criterion's macros")]

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use pagetide_access::patterns::{
    HotCold, Init, Keys, Part, PartWalk, Pattern, Place, PointerChase, Regions, Setup, Source,
    Strided, Uniform, Zipf,
};
use pagetide_types::{Bytes, UnitSize};
use std::{hint::black_box, time::Duration};

/// Accesses that are taken at once.
const BATCH: u32 = 256;

fn first(pattern: &impl Pattern, setup: &Setup) -> Box<dyn Source> {
    #[expect(clippy::expect_used, reason = "the parameters are valid")]
    Box::new(pattern.walks(setup).expect("valid").remove(0))
}

/// Programs with parts: one of a kind, and one that has all kinds.
fn programs() -> Vec<(&'static str, Regions)> {
    let (object, keys) = (Bytes(64), Keys::Scattered);
    let part = |name, from, to, walk| Part::new(name, from, to, walk);
    let mut all = vec![
        part("sequential part", 0.0, 0.2, PartWalk::SEQUENTIAL),
        part("random part", 0.2, 0.4, PartWalk::Random),
        part("random part, runs of 8", 0.4, 0.6, PartWalk::Random),
        part("zipf part", 0.6, 0.8, PartWalk::Zipf { exponent: 0.9, object, keys }),
        part("chased part", 0.8, 1.0, PartWalk::Chase { object }),
    ];
    all[2].run = 8;
    let of = |parts| Regions { parts, phases: vec![], init: Init::InOrder };
    let names = all.iter().map(|part| part.name.clone().leak() as &str);
    let one = |part: &Part| of(vec![Part { from: 0.0, to: 1.0, ..part.clone() }]);
    let writes = of(vec![Part { writes: 0.3, ..all[0].clone() }]);
    let mut programs: Vec<(&str, Regions)> = names.zip(all.iter().map(one)).collect();
    programs.push(("sequential part, 30 % writes", writes));
    programs.push(("five parts", of(all)));
    programs
}

fn patterns(c: &mut Criterion) {
    #[expect(clippy::expect_used, reason = "there are memory and a thread")]
    let setup = Setup::new(Bytes::gib(1), 1, 1).expect("valid");
    let (object, hot) = (Bytes::kib(4), Bytes::mib(200));
    let zipf = |keys| first(&Zipf { exponent: 0.99, object, keys }, &setup);
    let hot_cold = HotCold { hot, ratio: 100.0, place: Place::Random, granule: UnitSize::Huge };
    let mut sources = vec![
        ("strided", first(&Strided { stride: Bytes(64) }, &setup)),
        ("uniform", first(&Uniform, &setup)),
        ("hot-cold", first(&hot_cold, &setup)),
        ("zipf", zipf(Keys::InOrder)),
        ("zipf, scattered", zipf(Keys::Scattered)),
        ("pointer-chase", first(&PointerChase { slot: Bytes(64) }, &setup)),
    ];
    sources.extend(programs().iter().map(|(name, regions)| (*name, first(regions, &setup))));
    let mut group = c.benchmark_group("taking accesses");
    group.throughput(Throughput::Elements(BATCH.into()));
    for (name, mut source) in sources {
        let mut steps = vec![];
        group.bench_function(name, |b| {
            b.iter(|| {
                steps.clear();
                source.take(black_box(BATCH), Duration::ZERO, &mut steps);
                black_box(steps.as_slice());
            });
        });
    }
    let memory = vec![1_u8; 1 << 30];
    let (mut source, mut steps) = (first(&Uniform, &setup), vec![]);
    source.take(1 << 20, Duration::ZERO, &mut steps);
    let mut batches = steps.chunks(BATCH as usize).cycle();
    group.bench_function("touching 1 GiB at random", |b| {
        b.iter(|| {
            let batch = batches.next().unwrap_or_default();
            let touch = |step: &pagetide_access::patterns::Step| {
                u64::from(memory.get(usize::try_from(step.offset).unwrap_or(0)).map_or(0, |x| *x))
            };
            batch.iter().map(touch).sum::<u64>()
        });
    });
    group.finish();
}

criterion_group!(benches, patterns);
criterion_main!(benches);
