//! One live decision of a tenant: 100,000 base pages, the hotter half of them in slow memory, so that nearly every
//! second unit moves. It is made of sorts and passes over the units, so it is held against one sort of as many keys in
//! the same run: what grows faster than the units shows as a multiple that grows with them.
//!
//! `cargo bench -p pagetide-policy`
#![expect(clippy::expect_used, reason = "a benchmark that fails may stop")]

use criterion::{BatchSize, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use pagetide_policy::{CostBenefit, Decider, GovernorSpec, Places, PolicySpec, Room, Tenant};
use pagetide_types::{Bytes, EpochHeat, EpochId, HeatFlags, HeatRow, NodeId, UnitId};
use std::hint::black_box;

const PAGE: u64 = 4096;

/// Rates that no order of addresses shows (multiples of a golden ratio, modulo 1, after Knuth).
fn heat(units: u32) -> EpochHeat {
    let mut heat = EpochHeat::new(EpochId(0));
    for unit in 0..units {
        let mixed = unit.wrapping_mul(2_654_435_769).to_be_bytes();
        let rate = 16.0 + f32::from(u16::from_be_bytes([mixed[0], mixed[1]]));
        let flags = HeatFlags::SAMPLED | HeatFlags::ACCESSED;
        let (unit, node) = (UnitId(unit), NodeId(0));
        heat.push(HeatRow { unit, rate, flags, pages: 1, watched: 1, touched: 1, node });
    }
    heat
}

fn decide(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("decide");
    for units in [10_000, 100_000] {
        let heat = heat(units);
        let half = Bytes(u64::from(units) / 2 * PAGE);
        let middle = {
            let mut rates = heat.rate.clone();
            rates.sort_by(f32::total_cmp);
            rates[rates.len() / 2]
        };
        let fast: Vec<bool> = heat.rate.iter().map(|rate| *rate < middle).collect();
        let terms = CostBenefit {
            gain_ns: 100.0,
            fast_ns: 0.0,
            channel_ns: 0.0,
            in_order: 1.0,
            base_us: 2.0,
            huge_us: 370.0,
            within_s: 10.0,
        };
        let spec: PolicySpec = "rate".parse().expect("a policy");
        group.throughput(Throughput::Elements(units.into()));
        group.bench_function(BenchmarkId::new("live", units), |bencher| {
            let new = || {
                let mut tenant = Tenant::new(
                    Decider::new(&spec),
                    (&GovernorSpec::default()).into(),
                    Some(terms),
                );
                tenant.arrive(&heat);
                tenant
            };
            bencher.iter_batched(
                new,
                |mut tenant| {
                    let places = Places { fast: Some(&fast), ..Places::default() };
                    let room = Room::Limited {
                        for_births: Bytes(0),
                        capacity: half,
                        most: half,
                        used: half,
                        move_budget: Bytes(u64::MAX),
                    };
                    let decided = tenant.decide(&heat, 1.0, places, room, (false, None));
                    assert!(
                        decided.chosen.promote.len() > units as usize / 3,
                        "it decides on much"
                    );
                    decided
                },
                BatchSize::LargeInput,
            );
        });
        let keys: Vec<(u32, u32)> = heat.rate.iter().map(|rate| rate.to_bits()).zip(0..).collect();
        group.bench_function(BenchmarkId::new("one sort", units), |bencher| {
            bencher.iter_batched(
                || keys.clone(),
                |mut keys| {
                    keys.sort_unstable();
                    black_box(keys)
                },
                BatchSize::LargeInput,
            );
        });
    }
    group.finish();
}

criterion_group!(benches, decide);
criterion_main!(benches);
