//! Splits computed by hand, and what holds for all.

use super::*;
use proptest::prelude::*;

fn sharer(name: &str, slowdowns: &[f64], memory_time: f64) -> Sharer {
    let band = |high: f64| Band { low: high / 5.0, high };
    Sharer {
        name: name.into(),
        window: None,
        said: Said::default(),
        points: (0..)
            .zip(slowdowns)
            .map(|(i, s)| Offer {
                fast_bytes: Bytes::gib(i),
                slowdown: band(*s),
                policy: "rate".into(),
            })
            .collect(),
        memory_time,
        claim: 1.0,
    }
}

#[test]
fn the_one_that_gains_gets_it() {
    let steep = sharer("steep", &[1.5, 0.5, 0.1, 0.0], 1.0);
    let even = sharer("even", &[0.3, 0.2, 0.1, 0.0], 1.0);
    let done =
        split(&[steep.clone(), even.clone()], Bytes::gib(2), Weighting::Equal, Share::Utility);
    assert_eq!(done.parts[0].fast_bytes, Bytes::gib(2));
    assert_eq!(done.parts[1].fast_bytes, Bytes(0));
    assert!(done.mean_slowdown < done.mean_slowdown_equal);
    // A program that hardly uses memory gives way, however steep its curve is.
    let idle = Sharer { memory_time: 0.001, ..steep };
    let done = split(&[idle, even], Bytes::gib(2), Weighting::MemoryTime, Share::Utility);
    assert_eq!(done.parts[1].fast_bytes, Bytes::gib(2));
}

#[test]
fn looks_over_a_flat_stretch() {
    let step = sharer("step", &[1.0, 1.0, 1.0, 0.0], 1.0);
    let even = sharer("even", &[0.3, 0.2, 0.1, 0.0], 1.0);
    let done = split(&[step, even], Bytes::gib(3), Weighting::Equal, Share::Utility);
    assert_eq!(done.parts[0].fast_bytes, Bytes::gib(3));
}

#[test]
fn equal_and_weighted_parts_are_what_they_say_and_all_losses_are_told() {
    let steep = Sharer { claim: 3.0, ..sharer("steep", &[1.5, 0.5, 0.1, 0.05, 0.0], 1.0) };
    let even = sharer("even", &[0.4, 0.3, 0.2, 0.1, 0.0], 1.0);
    let sharers = [steep, even];
    let of = |share| split(&sharers, Bytes::gib(4), Weighting::Equal, share);
    let gets = |split: &Split| split.parts.iter().map(|p| p.fast_bytes).collect::<Vec<_>>();
    let (equal, weighted, utility) = (of(Share::Equal), of(Share::Weighted), of(Share::Utility));
    assert_eq!(gets(&equal), [Bytes::gib(2), Bytes::gib(2)]);
    assert_eq!(gets(&weighted), [Bytes::gib(3), Bytes::gib(1)]);
    assert_eq!(gets(&utility), [Bytes::gib(2), Bytes::gib(2)]);
    assert_eq!(weighted.parts[1].slowdown.high, 0.3);
    assert!((weighted.mean_slowdown - 0.175).abs() < 1e-12);
    for split in [&equal, &weighted, &utility] {
        assert_eq!(split.parts[0].weighted_bytes, Bytes::gib(3));
        assert_eq!(split.parts[0].slowdown_weighted.high, 0.05);
        assert_eq!(split.parts[1].slowdown_equal.high, 0.2);
        assert_eq!(split.mean_slowdown_weighted, weighted.mean_slowdown);
        assert_eq!(split.mean_slowdown_utility, utility.mean_slowdown);
    }
    // Nobody claims anything: equal.
    let none = sharers.clone().map(|sharer| Sharer { claim: f64::NAN, ..sharer });
    let split = split(&none, Bytes::gib(4), Weighting::Equal, Share::Weighted);
    assert_eq!(gets(&split), gets(&equal));
}

#[test]
fn nobody_and_nothing_are_answered() {
    assert!(split(&[], Bytes::gib(1), Weighting::Equal, Share::Utility).parts.is_empty());
    let empty = Sharer { points: Vec::new(), ..sharer("empty", &[], f64::NAN) };
    let done = split(&[empty.clone(), empty], Bytes(0), Weighting::MemoryTime, Share::Utility);
    assert_eq!(done.mean_slowdown, 0.0);
    assert!(done.parts.iter().all(|part| part.weight == 0.5 && part.fast_bytes.0 == 0));
}

proptest! {
    #[test]
    fn never_over_the_budget_never_worse_than_equal_never_better_than_all_fast(
        curves in proptest::collection::vec(
            proptest::collection::vec(0.0..2.0f64, 1..20), 1..5),
        fast in 0u64..40,
        by_time in any::<bool>(),
    ) {
        let sharers: Vec<Sharer> = curves
            .iter()
            .enumerate()
            .map(|(i, falls)| {
                let total: f64 = falls.iter().sum();
                let mut value = total;
                let mut slowdowns = vec![total];
                slowdowns.extend(falls.iter().map(|fall| {
                    value = (value - fall).max(0.0);
                    value
                }));
                sharer(&i.to_string(), &slowdowns, i as f64)
            })
            .collect();
        let weighting = if by_time { Weighting::MemoryTime } else { Weighting::Equal };
        let done = split(&sharers, Bytes::gib(fast), weighting, Share::Utility);
        let given: Bytes = done.parts.iter().map(|part| part.fast_bytes).sum();
        prop_assert!(given <= Bytes::gib(fast));
        prop_assert_eq!(given + done.unused_bytes, Bytes::gib(fast));
        prop_assert!(done.mean_slowdown <= done.mean_slowdown_equal + 1e-12);
        for share in [Share::Equal, Share::Weighted] {
            let other = split(&sharers, Bytes::gib(fast), weighting, share);
            let given: Bytes = other.parts.iter().map(|part| part.fast_bytes).sum();
            prop_assert!(given <= Bytes::gib(fast));
            prop_assert_eq!(other.mean_slowdown_utility, done.mean_slowdown);
        }
        prop_assert!(done.mean_slowdown >= 0.0);
        let enough: u64 = curves.iter().map(|c| c.len() as u64).sum();
        let all = split(&sharers, Bytes::gib(enough * 5), weighting, Share::Utility);
        prop_assert!(all.mean_slowdown < 1e-9);
    }
}
