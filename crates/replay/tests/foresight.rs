//! No policy is told what it is scored on. Programs whose future nobody can know from their past,
//! replayed through every policy of the registry but the clairvoyant and those that ignore the
//! budget: each may serve what knowledge of the past allows, and no more.

use pagetide_policy::{Class, PolicySpec, REGISTRY};
use pagetide_replay::{EpochResult, ReplayError, ReplayOptions, epochs_at};
use pagetide_types::{Bytes, EpochHeat, EpochId, HeatFlags, HeatRow, NodeId, UnitId};

type Epochs = Vec<(EpochHeat, f64)>;

/// Every policy that can be run, with its defaults.
fn runnable() -> impl Iterator<Item = PolicySpec> {
    let runnable = REGISTRY.iter().filter(|info| info.class == Class::Runnable);
    runnable.map(|info| PolicySpec::from(*info))
}

/// Epochs of 5 s with units of 2 MiB, all born in the first; `seen(epoch, unit)` is what policies
/// rank by and what is charged, accesses per second.
fn program(epochs: u32, units: u32, seen: impl Fn(u32, u32) -> (f32, f32)) -> Epochs {
    let epoch = |epoch| {
        let mut heat = EpochHeat::new(EpochId(epoch));
        for unit in 0..units {
            let (rate, traffic) = seen(epoch, unit);
            let flag = if traffic > 0.0 { HeatFlags::ACCESSED } else { HeatFlags::UNSEEN };
            heat.push(HeatRow {
                unit: UnitId(unit),
                rate,
                flags: HeatFlags::SAMPLED | HeatFlags::HUGE | flag,
                pages: 512,
                watched: 512,
                touched: 0,
                node: NodeId(0),
            });
            heat.traffic.push(traffic);
        }
        (heat, 5.0)
    };
    (0..epochs).map(epoch).collect()
}

/// Which units are hot in which epoch, nothing else being accessed.
fn hot(epochs: u32, units: u32, hot: impl Fn(u32, u32) -> bool) -> Epochs {
    program(epochs, units, |epoch, unit| if hot(epoch, unit) { (1e4, 1e4) } else { (0.0, 0.0) })
}

#[expect(clippy::unwrap_used, reason = "a test's own epochs")]
fn hits(
    epochs: &[(EpochHeat, f64)],
    spec: &PolicySpec,
    options: ReplayOptions,
    units: u64,
) -> Vec<EpochResult> {
    let stream = epochs.iter().cloned().map(Ok::<_, ReplayError>);
    epochs_at(stream, spec, &options, Bytes::mib(2 * units)).unwrap()
}

/// Share of the accesses that fast memory for so many units served from epoch `first` on.
fn share(epochs: &Epochs, spec: &PolicySpec, first_epoch: usize, units: u64) -> f64 {
    let found = hits(epochs, spec, from(first_epoch, false), units);
    let sum = |value: fn(&EpochResult) -> f64| found.iter().map(value).sum::<f64>();
    sum(|at| at.fast_accesses) / sum(|at| at.accesses)
}

fn from(first_epoch: usize, ran_before: bool) -> ReplayOptions {
    ReplayOptions { first_epoch, ran_before, ..ReplayOptions::default() }
}

/// The finalizer of `SplitMix64`.
fn mix(value: u64) -> u64 {
    let z = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// 100 units are hot for 30 s, then 100 others, after an epoch that filled both in order.
fn two_phases() -> Epochs {
    hot(13, 200, |epoch, unit| epoch > 0 && (unit < 100) == (epoch < 7))
}

#[test]
fn of_two_phases_first_touch_serves_the_first_and_nobody_foresees_the_second() {
    let epochs = two_phases();
    let first_touch: PolicySpec = "first-touch".parse().unwrap();
    assert!((share(&epochs, &first_touch, 1, 100) - 0.5).abs() < 1e-9);
    for spec in runnable() {
        for (units, spare) in [(100, 0.0), (104, 4.0)] {
            let found = hits(&epochs, &spec, from(1, false), units);
            let share = |range: std::ops::Range<usize>| {
                let sum = |value: fn(&EpochResult) -> f64| {
                    found[range.clone()].iter().map(value).sum::<f64>()
                };
                sum(|at| at.fast_accesses) / sum(|at| at.accesses)
            };
            // Whoever serves the last epoch of the first phase has no room for the second's.
            let (before, change) = (share(5..6), share(6..7));
            assert!(before + change <= 1.0 + spare / 100.0 + 1e-9, "{spec}: {before} {change}");
            // Nobody serves both phases whole.
            assert!(share(0..12) <= (11.0 + spare / 100.0) / 12.0 + 1e-9, "{spec}");
        }
    }
}

#[test]
fn who_serves_a_phase_that_comes_back_has_moved_its_memory_back() {
    // The first phase, the second, and the first again.
    let epochs = hot(19, 200, |epoch, unit| epoch > 0 && (unit < 100) != (7..13).contains(&epoch));
    for spec in runnable() {
        let found = hits(&epochs, &spec, from(1, false), 100);
        let served = |range: std::ops::Range<usize>| {
            let sum = |value: fn(&EpochResult) -> f64| {
                found[range.clone()].iter().map(value).sum::<f64>()
            };
            sum(|at| at.fast_accesses) / sum(|at| at.accesses)
        };
        let moved: u64 = found.iter().map(|at| at.promoted_bytes).sum();
        // What it served of the second phase had the room of the first.
        let came = (served(14..18) + served(8..12) - 1.0) * 100.0 - 0.1;
        assert!(moved as f64 >= came * f64::from(2 << 20), "{spec}: {moved} for {came}");
    }
}

/// `slabs` slabs of four units; in every stage of two epochs the one at `order[stage]` is used.
fn batch(slabs: u32, order: &[u32]) -> Epochs {
    let stages = u32::try_from(order.len()).unwrap_or_default();
    hot(1 + 2 * stages, 4 * slabs, |epoch, unit| {
        epoch > 0 && unit / 4 == order[(epoch - 1) as usize / 2]
    })
}

#[test]
fn nobody_knows_which_slab_a_batch_uses_next() {
    // 12 of 24 slabs, one after the other, in 64 orders drawn at random: of the slabs not used yet
    // each is as likely as any other, so room for a quarter of them holds the next in a quarter.
    let orders: Vec<Vec<u32>> = (0..64)
        .map(|run| {
            let mut slabs: Vec<u32> = (0..24).collect();
            slabs.sort_by_key(|slab| mix(run << 32 | u64::from(*slab)));
            slabs.truncate(12);
            slabs
        })
        .collect();
    let runs: Vec<Epochs> = orders.iter().map(|order| batch(24, order)).collect();
    let room = 6.0;
    // Before stage k, k slabs have been used; at best none of them takes room.
    let chance = |stage: u32| f64::min(1.0, room / f64::from(24 - stage));
    let most = (0..12).map(|stage| (chance(stage) + 1.0) / 2.0).sum::<f64>() / 12.0;
    for spec in runnable() {
        let served = runs.iter().map(|run| share(run, &spec, 1, 24)).sum::<f64>() / 64.0;
        assert!(served <= most + 0.02, "{spec}: {served}, at most {most} is possible");
    }
}

#[test]
fn a_batch_that_uses_memory_in_the_order_of_its_filling_is_first_touched_well() {
    // Its first half is what it filled first: that is true of it, and no foresight.
    let epochs = batch(24, &(0..12).collect::<Vec<_>>());
    let first_touch: PolicySpec = "first-touch".parse().unwrap();
    assert_eq!(share(&epochs, &first_touch, 1, 48), 1.0);
    let last = batch(24, &(12..24).collect::<Vec<_>>());
    assert_eq!(share(&last, &first_touch, 1, 48), 0.0);
    for spec in runnable() {
        // Each stage is news: at best its second epoch is served.
        let served = share(&last, &spec, 1, 48);
        assert!(served <= 0.5 + 0.05, "{spec}: {served}");
    }
}

#[test]
fn a_loop_is_served_by_its_share_of_room() {
    // 8 slabs in turn, one an epoch, ten times over after a first round.
    let epochs = hot(88, 32, |epoch, unit| unit / 4 == epoch % 8);
    for spec in runnable() {
        for slabs in [2, 4, 6] {
            let served = share(&epochs, &spec, 8, 4 * slabs);
            let room = slabs as f64 / 8.0;
            assert!(served <= room + 0.01, "{spec} with room for {slabs}: {served}");
        }
        assert!((share(&epochs, &spec, 8, 32) - 1.0).abs() < 1e-9, "{spec}");
    }
}

#[test]
fn of_units_that_are_alike_half_serve_half() {
    // One unit in eight is seen in an epoch, by chance; what ranks is the mean of what was seen.
    const UNITS: u32 = 12_000;
    let seen = |epoch: u32, unit: u32| {
        f32::from(u8::from(mix(u64::from(epoch) << 32 | u64::from(unit)) & 7 == 0)) * 80.0
    };
    let mean = |epoch: u32, unit: u32| {
        (0..=epoch).map(|e| seen(e, unit)).sum::<f32>() / (epoch + 1) as f32
    };
    for posterior in [false, true] {
        let epochs = program(25, UNITS, |epoch, unit| {
            let traffic = seen(epoch, unit);
            (if posterior { mean(epoch, unit) } else { traffic }, traffic)
        });
        for spec in runnable() {
            for ran_before in [false, true] {
                let found = hits(&epochs, &spec, from(1, ran_before), u64::from(UNITS / 2));
                let sum = |value: fn(&EpochResult) -> f64| found.iter().map(value).sum::<f64>();
                let served = sum(|at| at.fast_accesses) / sum(|at| at.accesses);
                assert!((0.49..=0.51).contains(&served), "{spec}: {served}");
            }
        }
    }
}

#[test]
fn what_comes_later_changes_nothing_before() {
    let draw = |run: u64, epoch: u32, unit: u32| {
        let dice = mix(mix(run << 40 | u64::from(epoch)) ^ u64::from(unit));
        let warm = if mix(u64::from(unit)).is_multiple_of(4) { 1000.0 } else { 20.0 };
        let rate = warm * (1 + (dice & 15)) as f32;
        (rate, if dice & 64 == 0 { rate * 2.0 } else { 0.0 })
    };
    let whole = program(16, 200, |epoch, unit| draw(0, epoch, unit));
    for spec in runnable() {
        for options in [from(1, false), from(4, true)] {
            let before = hits(&whole, &spec, options, 60);
            for change in [5, 9, 12] {
                let other =
                    program(16, 200, |epoch, unit| draw(u64::from(epoch >= change), epoch, unit));
                let after = hits(&other, &spec, options, 60);
                let same = |at: &&EpochResult| at.epoch < change as usize;
                let served = |found: &[EpochResult]| -> Vec<(f64, f64)> {
                    found.iter().filter(same).map(|at| (at.accesses, at.fast_accesses)).collect()
                };
                assert_eq!(served(&before), served(&after), "{spec}, changed from {change} on");
                // And a recording that ends there has the same epochs.
                let short = hits(&whole[..change as usize], &spec, options, 60);
                assert_eq!(served(&before), served(&short), "{spec}, ends at {change}");
            }
        }
    }
}
