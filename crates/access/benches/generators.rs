//! What drawing the next access costs, beside what libraries offer for the same.
#![allow(missing_docs, reason = "criterion's macros")]

use criterion::{Criterion, criterion_group, criterion_main};
use pagetide_access::generators::{Rng, Shuffle, Zipf};
use rand_distr::Distribution;
use rand_xoshiro::{Xoshiro256PlusPlus, rand_core::SeedableRng};
use std::hint::black_box;

/// Draws per iteration, so that the loop's own cost does not count.
const DRAWS: u64 = 1000;

fn generators(c: &mut Criterion) {
    let mut group = c.benchmark_group("1000 draws");
    let mut rng = Rng::new(1, 0);
    group.bench_function("uniform below n", |b| {
        b.iter(|| (0..DRAWS).map(|_| rng.below(black_box(1 << 24))).sum::<u64>());
    });
    for (objects, name) in [(262_144, "256 Ki"), (16_777_216, "16 Mi")] {
        let ours = Zipf::new(objects, 0.99);
        group.bench_function(format!("zipf of {name}"), |b| {
            b.iter(|| (0..DRAWS).map(|_| ours.rank(&mut rng)).sum::<u64>());
        });
        let mut library_rng = Xoshiro256PlusPlus::seed_from_u64(1);
        #[expect(clippy::expect_used, reason = "the parameters are valid")]
        let library = rand_distr::Zipf::new(objects as f64, 0.99).expect("valid");
        group.bench_function(format!("zipf of {name}, rand_distr"), |b| {
            b.iter(|| (0..DRAWS).map(|_| library.sample(&mut library_rng)).sum::<f64>());
        });
    }
    let shuffle = Shuffle::new(16_777_216, 1);
    group.bench_function("permutation of 16 Mi", |b| {
        b.iter(|| (0..DRAWS).map(|i| shuffle.at(black_box(i))).sum::<u64>());
    });
    group.finish();
}

criterion_group!(benches, generators);
criterion_main!(benches);
