//! What is known without simulating.

use super::misses;
use crate::curve::{AskedError, Policy, Sample, Simulation, Sizes};
use pagetide_access::generators::{Rng, Shuffle};

/// A loop over n pages fits or is missed whole, whichever page goes first.
#[test]
fn a_loop_hits_never_or_always() {
    let (pages, rounds) = (5_000u32, 7);
    let order: Vec<u64> =
        (0..rounds).flat_map(|_| (0..u64::from(pages)).map(|p| p << 30)).collect();
    let all = u64::from(pages) * rounds;
    for policy in Policy::ALL {
        let sizes = [1, 100, pages - 1, pages, pages + 1, 1 << 30];
        let first = u64::from(pages);
        assert_eq!(
            misses(policy, &sizes, &order),
            [all, all, all, first, first, first],
            "{policy}"
        );
        assert_eq!(misses(policy, &[pages - 1], &order), [all], "{policy}");
    }
}

/// Up and down again: of the turn, the last n are hit.
#[test]
fn a_sawtooth_hits_what_was_used_last() {
    let pages = 300u64;
    let down: Vec<u64> = (0..pages).chain((0..pages).rev()).collect();
    let sizes: Vec<u32> = (1..=310).collect();
    let expected: Vec<u64> =
        sizes.iter().map(|size| 2 * pages - u64::from(*size).min(pages)).collect();
    assert_eq!(misses(Policy::Lru, &sizes, &down), expected);
    assert_eq!(misses(Policy::Lru, &sizes[..4], &down), expected[..4]);
}

/// Where every page is as likely as every other, a cache of c of n pages hits c / n, whatever it holds.
#[test]
fn uniform_accesses_hit_as_much_as_fits() {
    let (pages, accesses) = (1_000u64, 400_000u64);
    let mut rng = Rng::new(3, 0);
    let order: Vec<u64> = (0..accesses).map(|_| rng.below(pages) * 4096).collect();
    for policy in Policy::ALL {
        let sizes = [50u32, 250, 500, 900];
        for (size, misses) in sizes.iter().zip(misses(policy, &sizes, &order)) {
            let hits = 1.0 - misses as f64 / accesses as f64;
            let expected = f64::from(*size) / pages as f64;
            assert!((hits - expected).abs() < 0.004, "{policy} {size}: {hits} for {expected}");
        }
    }
}

/// Names do not matter, only which are the same.
#[test]
fn names_do_not_matter() {
    let mut rng = Rng::new(4, 0);
    let order: Vec<u64> = (0..30_000).map(|_| rng.below(60).pow(2)).collect();
    let shuffle = Shuffle::new(3600, 9);
    let renamed: Vec<u64> = order.iter().map(|name| shuffle.at(*name) << 44).collect();
    let sizes: Vec<u32> = (1..64).collect();
    for policy in Policy::ALL {
        assert_eq!(misses(policy, &sizes, &order), misses(policy, &sizes, &renamed), "{policy}");
    }
}

#[test]
fn what_cannot_be_simulated_is_said() {
    let wrong = |policies: &[Policy], sizes: &[u32], sample| {
        Simulation::new(policies, &Sizes::Of(sizes.to_vec()), sample).err().unwrap()
    };
    assert_eq!(wrong(&[Policy::Lru], &[5, 0], None), AskedError::NoPage);
    for rate in [0.0, 1.0, -0.5, 7.0] {
        let sample = Some(Sample::Rate(rate));
        assert_eq!(wrong(&[Policy::Lru], &[1], sample), AskedError::Rate(rate));
    }
    let nothing = wrong(&[Policy::Lru], &[1], Some(Sample::Rate(f64::NAN)));
    assert!(matches!(nothing, AskedError::Rate(rate) if rate.is_nan()));
    assert_eq!(wrong(&[Policy::Lru], &[1], Some(Sample::Pages(0))), AskedError::NoSample);
    let clock = wrong(&Policy::ALL[1..], &[1], Some(Sample::Pages(100)));
    assert_eq!(clock, AskedError::NotLru(Policy::Fifo));
}

#[test]
fn nothing_accessed_is_nothing_missed() {
    let simulation = Simulation::new(&Policy::ALL, &Sizes::All, None).unwrap();
    let curves = simulation.curves();
    assert_eq!((curves.accesses, curves.pages), (0, 0));
    assert_eq!(curves.curves[0].points.len(), 1);
}
