//! The stack pass against the naive replay: every capacity, every policy of the registry.

mod recording;

use pagetide_policy::{Class, PolicySpec, REGISTRY};
use pagetide_replay::{
    AtCapacity, Curve, ReplayError, ReplayOptions, epochs_at, replay, replay_at,
};
use pagetide_types::{Bytes, EpochHeat, UnitSize};
use proptest::prelude::*;
use recording::{Epochs, epochs, footprint, uniform_epochs};

fn specs() -> Vec<PolicySpec> {
    let varied = [
        "rate:steps=4",
        "rate:steps=32,interval=0",
        "lfu:window=3",
        "random:seed=9",
        "two-lists:active=20,inactive=100,interval=9",
        "amp:warm-up=1,threshold=0.6,ties=1",
        "amp:warm-up=0,threshold=1,window=2,ties=3,equal=1,interval=7",
    ];
    let varied = varied.iter().map(|text| text.parse().unwrap_or_else(|e| panic!("{e}")));
    REGISTRY.iter().map(|info| PolicySpec::from(*info)).chain(varied).collect()
}

fn curves(epochs: &Epochs, specs: &[PolicySpec], options: ReplayOptions) -> Vec<Curve> {
    let stream = epochs.iter().cloned().map(Ok::<_, ReplayError>);
    let all = replay(stream, specs, options).unwrap_or_else(|error| panic!("{error}"));
    all.into_iter().map(|replayed| replayed.curve).collect()
}

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * a.abs().max(b.abs())
}

/// At the entries at which epochs are told apart.
fn check_epochs(curve: &Curve, i: usize, naive: &AtCapacity) -> Result<(), TestCaseError> {
    let epochs = &curve.by_epoch;
    prop_assert_eq!(epochs.stretches.len(), naive.by_epoch.len());
    prop_assert_eq!(epochs.fast.len(), epochs.stretches.len() * epochs.at.len());
    let seconds: f64 = epochs.stretches.iter().map(|stretch| stretch.seconds).sum();
    prop_assert!(near(seconds, curve.seconds));
    let Ok(j) = epochs.at.binary_search_by_key(&i, |at| *at as usize) else { return Ok(()) };
    for (s, naive) in naive.by_epoch.iter().enumerate() {
        let fast = epochs.fast(s, j);
        prop_assert!(near(fast.accesses, naive.accesses), "{fast:?} {naive:?}");
        prop_assert!(near(fast.saturated, naive.saturated), "{fast:?} {naive:?}");
        prop_assert!(near(fast.leads, naive.leads), "{fast:?} {naive:?}");
        prop_assert!(near(fast.writes, naive.writes), "{fast:?} {naive:?}");
    }
    let (mut leads, mut writes) = (0.0, 0.0);
    for s in 0..epochs.stretches.len() {
        leads += epochs.fast(s, j).leads;
        writes += epochs.fast(s, j).writes;
    }
    prop_assert!(curve.fast_leads.get(i).is_none_or(|sum| near(*sum, leads)));
    prop_assert!(curve.fast_writes.get(i).is_none_or(|sum| near(*sum, writes)));
    Ok(())
}

fn check(
    epochs: &Epochs,
    options: ReplayOptions,
    capacities: impl Fn(usize) -> Vec<usize>,
) -> Result<(), TestCaseError> {
    let specs = specs();
    for (spec, curve) in specs.iter().zip(curves(epochs, &specs, options)) {
        prop_assert_eq!(&curve.policy, &spec.to_string());
        let last = curve.fast_accesses.len() - 1;
        prop_assert!(curve.capacity(last) >= options.footprint);
        prop_assert!(last == 0 || curve.capacity(last - 1) < options.footprint);
        for i in capacities(last).into_iter().filter(|i| curve.is_exact(*i)) {
            let naive = replay_at(epochs, spec, &options, curve.capacity(i));
            let context = format!("{spec} at {}: {naive:?}", curve.capacity(i));
            prop_assert_eq!(curve.epochs, naive.epochs, "{}", context);
            prop_assert!(near(curve.accesses, naive.accesses), "{}", context);
            prop_assert!(near(curve.fast_accesses[i], naive.fast_accesses), "{}", context);
            prop_assert!(near(curve.fast_saturated[i], naive.fast_saturated), "{}", context);
            prop_assert_eq!(curve.fast_unseen_bound[i], naive.fast_unseen_bound, "{}", context);
            prop_assert_eq!(curve.fast_accessed_units[i], naive.fast_accessed_units, "{}", context);
            prop_assert_eq!(curve.promoted[i], naive.promoted, "{}", context);
            prop_assert_eq!(curve.demoted[i], naive.demoted, "{}", context);
            prop_assert_eq!(curve.promoted_huge[i], naive.promoted_huge, "{}", context);
            prop_assert_eq!(curve.demoted_huge[i], naive.demoted_huge, "{}", context);
            check_epochs(&curve, i, &naive)?;
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(320))]

    #[test]
    fn the_stack_pass_equals_a_replay_at_every_capacity(
        epochs in epochs(),
        first_epoch in 0usize..4,
        ran_before in any::<bool>(),
        capacities in 1usize..9,
        spare in 0u64..3,
    ) {
        let footprint = Bytes(footprint(&epochs).0 + 4096 * spare);
        let options = ReplayOptions { unit: UnitSize::Base, footprint, first_epoch, ran_before, capacities, ..ReplayOptions::default() };
        check(&epochs, options, |last| (0..=last).collect())?;
    }

    #[test]
    fn the_epochs_one_by_one_add_up_to_the_naive_replay(
        epochs in epochs(),
        first_epoch in 0usize..4,
        ran_before in any::<bool>(),
        part in 0u64..30,
    ) {
        let options = ReplayOptions { first_epoch, ran_before, ..ReplayOptions::default() };
        let capacity = Bytes::kib(4 * part);
        for spec in specs() {
            let stream = epochs.iter().cloned().map(Ok::<_, ReplayError>);
            let found = epochs_at(stream, &spec, &options, capacity).unwrap();
            let naive = replay_at(&epochs, &spec, &options, capacity);
            prop_assert_eq!(found.len(), naive.epochs as usize);
            prop_assert!(found.iter().map(|at| at.epoch).eq(first_epoch.max(1)..epochs.len()));
            let sum = |value: &dyn Fn(usize) -> f64| (0..found.len()).map(value).sum::<f64>();
            prop_assert!(near(sum(&|i| found[i].accesses), naive.accesses), "{spec}");
            prop_assert!(near(sum(&|i| found[i].fast_accesses), naive.fast_accesses), "{spec}");
            prop_assert_eq!(found.iter().map(|at| at.promoted_bytes).sum::<u64>(), naive.promoted);
            prop_assert_eq!(found.iter().map(|at| at.demoted_bytes).sum::<u64>(), naive.demoted);
        }
    }

    #[test]
    fn no_policy_serves_more_than_clairvoyant(epochs in uniform_epochs(), part in 0u64..12) {
        let best: PolicySpec = "clairvoyant".parse().unwrap();
        let (options, capacity) = (ReplayOptions::default(), Bytes::kib(4 * part));
        let hits = |spec| replay_at(&epochs, spec, &options, capacity).by_epoch;
        let bound = hits(&best);
        for spec in specs().iter().filter(|spec| spec.to_string() != "all-fast") {
            for (epoch, (hits, bound)) in hits(spec).iter().zip(&bound).enumerate() {
                prop_assert!(
                    hits.accesses <= bound.accesses * (1.0 + 1e-9),
                    "{spec}, epoch {epoch}: {hits:?} > {bound:?}"
                );
            }
        }
    }
}

proptest! {
    // Large recordings: fewer cases.
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn a_coarse_grid_is_exact_too(epochs in recording::large_epochs(), at in any::<usize>()) {
        let options = ReplayOptions {
            unit: UnitSize::Base,
            footprint: footprint(&epochs),
            capacities: 3,
            ..ReplayOptions::default()
        };
        check(&epochs, options, |last| {
            assert!((1 << 15..=1 << 16).contains(&last), "{last} steps");
            vec![0, last / 3, at % last, last]
        })?;
    }
}

/// Three units of a page over three epochs of 1, 2 and 1 s, computed by hand.
#[test]
fn what_is_decided_in_an_epoch_is_charged_in_the_next() {
    let epochs = recording::three_units();
    let options = ReplayOptions {
        unit: UnitSize::Base,
        footprint: Bytes::kib(12),
        first_epoch: 0,
        capacities: 1,
        ..ReplayOptions::default()
    };
    let specs = ["first-touch", "rate:steps=256,interval=0", "clairvoyant"];
    let specs = specs.map(|name| name.parse::<PolicySpec>().unwrap());
    let found = curves(&epochs, &specs, options);
    for curve in &found {
        assert_eq!((curve.step, curve.epochs, curve.seconds), (Bytes::kib(4), 2, 3.0));
        assert_eq!((curve.accesses, curve.accessed_units), (32.0, 5));
        assert_eq!(curve.promoted, curve.demoted);
    }
    // The order 0 1 2 serves 8 2 12 accesses in epoch 1 and 9 0 1 in epoch 2.
    assert_eq!(found[0].fast_accesses, [0.0, 17.0, 19.0, 32.0]);
    assert_eq!(found[0].promoted, [0, 0, 0, 0]);
    // Epoch 0 decides for 2 0 1, which serves 12 8 2; epoch 1 for the same, which serves 1 9 0.
    assert_eq!(found[1].fast_accesses, [0.0, 13.0, 30.0, 32.0]);
    // What it takes to put memory in place for the first evaluated epoch does not count.
    assert_eq!(found[1].promoted, [0, 0, 0, 0]);
    // Epoch 1 decides for 0 2 1, which serves 9 1 0; that moves one page at one capacity, to where it
    // has not been before.
    assert_eq!(found[2].fast_accesses, [0.0, 21.0, 30.0, 32.0]);
    assert_eq!(found[2].fast_accessed_units, [0, 2, 4, 5]);
    assert_eq!(found[2].promoted, [0; 4]);
    // Without epoch 1 the decision at its end is the one that puts memory in place.
    let late = curves(&epochs, &specs, ReplayOptions { first_epoch: 2, ..options });
    assert_eq!((late[2].epochs, late[2].accesses), (1, 10.0));
    assert_eq!(late[2].fast_accesses, [0.0, 9.0, 10.0, 10.0]);
    assert_eq!(late[2].promoted, [0; 4]);
    assert_eq!(late[1].promoted, [0; 4]);
}

#[test]
fn the_whole_footprint_holds_everything_and_nothing_moves_there() {
    let epochs = recording::sample();
    let footprint = footprint(&epochs);
    let options = ReplayOptions {
        unit: UnitSize::Base,
        footprint,
        capacities: 4,
        ..ReplayOptions::default()
    };
    for curve in curves(&epochs, &specs(), options) {
        let last = curve.promoted.len() - 1;
        assert_eq!((curve.promoted[last], curve.demoted[last]), (0, 0), "{}", curve.policy);
        assert!(near(curve.hit_ratio(last), f64::from(curve.policy != "all-slow")));
        assert!(curve.accesses > 0.0 && curve.epochs == 2);
        let rises = curve.fast_accesses.windows(2).all(|pair| pair[0] <= pair[1]);
        assert!(rises || !curve.replayed_at.is_empty(), "{}", curve.policy);
    }
}

#[test]
fn empty_short_and_wrong_input_is_answered() {
    let options = |footprint| ReplayOptions { footprint, ..ReplayOptions::default() };
    for epochs in [vec![], vec![(EpochHeat::default(), 5.0)], recording::sample()[..1].to_vec()] {
        for curve in curves(&epochs, &specs(), options(footprint(&epochs))) {
            assert_eq!((curve.epochs, curve.seconds, curve.accesses), (0, 0.0, 0.0));
            assert!(curve.fast_accesses.iter().all(|hits| *hits == 0.0));
            assert!(!curve.fast_accesses.is_empty() && curve.hit_ratio(0) == 1.0);
        }
    }
    let error = |options, length_s| {
        let stream = recording::sample().into_iter().map(|(heat, _)| Ok((heat, length_s)));
        replay::<ReplayError>(stream, &specs(), options).unwrap_err().to_string()
    };
    assert_eq!(
        error(options(Bytes::kib(4)), 1.0),
        "epoch 0: 24.0 KiB are resident, more than the footprint of 4.00 KiB"
    );
    assert!(error(options(Bytes::gib(1)), f64::NAN).contains("length of NaN s"));
}

#[test]
fn the_registry_says_what_can_be_run() {
    let bounds: Vec<_> =
        REGISTRY.iter().filter(|info| info.class == Class::Bound).map(|info| info.name).collect();
    assert_eq!(bounds, ["clairvoyant", "all-fast", "all-slow"]);
}

/// Policies that are replayed at one capacity after the other, from a sample of the units.
#[test]
fn a_sample_of_the_units_stands_for_all() {
    let epochs = recording::wandering(65_536, 16);
    let specs: Vec<PolicySpec> = REGISTRY
        .iter()
        .filter(|info| info.needs.placement)
        .map(|info| PolicySpec::from(*info))
        .collect();
    assert!(!specs.is_empty());
    let all = ReplayOptions {
        unit: UnitSize::Base,
        footprint: footprint(&epochs),
        capacities: 8,
        most_units: usize::MAX,
        ..ReplayOptions::default()
    };
    let exact = curves(&epochs, &specs, all);
    let sampled = curves(&epochs, &specs, ReplayOptions { most_units: 1 << 14, ..all });
    for (exact, sampled) in exact.iter().zip(&sampled) {
        assert_eq!((exact.one_unit_in, sampled.one_unit_in), (1, 4));
        let last = exact.promoted.len() - 1;
        assert!(exact.is_exact(0) && !sampled.is_exact(0));
        assert!(near(sampled.hit_ratio(last), 1.0) && sampled.promoted[last] == 0);
        for i in &exact.replayed_at {
            let i = *i as usize;
            let (a, b) = (exact.hit_ratio(i), sampled.hit_ratio(i));
            assert!((a - b).abs() < 0.02, "{} at {i}: {a} and {b}", exact.policy);
            let moved = |curve: &Curve| curve.promoted[i] as f64 / exact.capacity(last).as_f64();
            let (a, b) = (moved(exact), moved(sampled));
            assert!((a - b).abs() < 0.05 * a + 0.02, "{} at {i}: {a} and {b}", exact.policy);
        }
    }
}
