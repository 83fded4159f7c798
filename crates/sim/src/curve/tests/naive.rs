//! Every size equals a cache that does what its definition says, one access at a time.

use super::{misses, run};
use crate::curve::{Misses, Policy, Sizes};
use pagetide_access::generators::{Rng, Zipf};
use proptest::prelude::*;
use std::collections::VecDeque;

/// Pages in a cache: the first goes next; and whether each was accessed since it was put where it is.
type Queue = VecDeque<(u64, bool)>;

/// Misses of a queue of `size` pages.
fn by_definition(policy: Policy, size: usize, names: &[u64]) -> u64 {
    let mut queue = Queue::new();
    let mut misses = 0;
    for name in names {
        if let Some(at) = queue.iter().position(|page| page.0 == *name) {
            match policy {
                Policy::Lru => {
                    let page = queue.remove(at).unwrap();
                    queue.push_back(page);
                }
                Policy::Fifo => {}
                Policy::Clock => queue[at].1 = true,
            }
            continue;
        }
        misses += 1;
        if queue.len() == size {
            while let Some((page, true)) = queue.pop_front() {
                queue.push_back((page, false));
            }
        }
        queue.push_back((*name, false));
    }
    misses
}

/// Names of pages: few, so that all sizes matter; any, so that all kinds of names do.
fn names() -> impl Strategy<Value = Vec<u64>> {
    let scattered = prop::collection::vec(any::<u64>(), 1..40).prop_flat_map(|names| {
        let one = prop_oneof![3 => 0..names.len(), 1 => 0..names.len().div_ceil(4)];
        prop::collection::vec(one, 1..800)
            .prop_map(move |order| order.into_iter().map(|i| names[i]).collect::<Vec<_>>())
    });
    let mixed = prop::collection::vec((0..30u64, 0..40u64, 1..4usize), 1..40).prop_map(|runs| {
        let run = |(first, length, times)| {
            std::iter::repeat_n(first..first + length, times).flatten().collect::<Vec<u64>>()
        };
        runs.into_iter().flat_map(run).collect::<Vec<_>>()
    });
    prop_oneof![scattered, mixed.prop_filter("some access", |names| !names.is_empty())]
}

proptest! {
    #[test]
    fn every_size_equals_a_naive_cache(names in names()) {
        let sizes: Vec<u32> = (1..=72).collect();
        for policy in Policy::ALL {
            let naive: Vec<u64> =
                sizes.iter().map(|size| by_definition(policy, *size as usize, &names)).collect();
            // Many at once, some at once, and each alone take different ways.
            prop_assert_eq!(&misses(policy, &sizes, &names), &naive, "{}", policy);
            for (some, naive) in sizes.chunks(5).zip(naive.chunks(5)) {
                prop_assert_eq!(&misses(policy, some, &names), naive, "{} {:?}", policy, some);
            }
            for (one, naive) in sizes.iter().zip(&naive).step_by(7) {
                prop_assert_eq!(misses(policy, &[*one], &names), vec![*naive], "{} {}", policy, one);
            }
        }
    }

    #[test]
    fn accesses_may_come_in_any_pieces(names in names(), length in 1..50usize) {
        let sizes = Sizes::Of(vec![1, 2, 5, 9, 17, 33]);
        let mut pieces = crate::curve::Simulation::new(&Policy::ALL, &sizes, None).unwrap();
        for names in names.chunks(length) {
            pieces.access(names).unwrap();
        }
        prop_assert_eq!(pieces.curves(), run(&Policy::ALL, &sizes, None, &names));
    }

    #[test]
    fn all_sizes_are_those_given_and_lru_knows_those_between(names in names()) {
        let all = run(&Policy::ALL, &Sizes::All, None, &names);
        for curve in &all.curves {
            let sizes: Vec<u32> = curve.points.iter().map(|point| point.pages).collect();
            let found: Vec<Misses> = curve.points.iter().map(|point| point.misses).collect();
            let exact = misses(curve.policy, &sizes, &names).into_iter().map(Misses::Exact);
            prop_assert_eq!(found, exact.collect::<Vec<_>>());
            let last = u64::from(*sizes.last().unwrap());
            prop_assert!(last >= all.pages && (last < 2 * all.pages || last == 1));
        }
        prop_assert!(all.curves[1].steps.is_none() && all.curves[2].steps.is_none());
        let steps = all.curves[0].steps.clone().unwrap();
        for size in 1..=72 {
            let step = steps.iter().rfind(|step| step.0 <= size).unwrap();
            prop_assert_eq!(step.1, by_definition(Policy::Lru, size as usize, &names));
        }
    }
}

/// Large enough for every level of the sums, for growing tables, and for times to be compressed often.
#[test]
fn a_long_stream_gives_the_same_at_given_and_at_all_sizes() {
    let (zipf, mut rng) = (Zipf::new(200_000, 0.7), Rng::new(5, 0));
    let names: Vec<u64> = (0..700_000).map(|_| zipf.rank(&mut rng) << 12).collect();
    let all = run(&Policy::ALL, &Sizes::All, None, &names);
    for curve in &all.curves {
        let told: Vec<_> = curve.points.iter().skip(24).collect();
        let sizes: Vec<u32> = told.iter().map(|point| point.pages).collect();
        let exact: Vec<_> = told.iter().map(|point| point.misses).collect();
        for (sizes, exact) in sizes.chunks(6).zip(exact.chunks(6)) {
            let given = misses(curve.policy, sizes, &names).into_iter().map(Misses::Exact);
            assert_eq!(given.collect::<Vec<_>>(), exact, "{} {sizes:?}", curve.policy);
        }
    }
}
