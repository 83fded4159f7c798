//! What a sample says, within the error that it says.

use super::{misses, run};
use crate::curve::{Misses, Policy, Sample, Sizes};
use pagetide_access::generators::{Rng, Zipf};

/// Accesses to pages by Zipf's law; names and so samples differ by `seed`, misses do not.
fn zipf(seed: u64) -> Vec<u64> {
    let (zipf, mut rng) = (Zipf::new(20_000, 0.9), Rng::new(1, 0));
    (0..300_000).map(|_| zipf.rank(&mut rng) | seed << 32).collect()
}

/// Seeds.
const SAMPLES: u64 = 24;

/// How many errors hold the truth, of how many; and the mean of estimate less truth, in shares of all accesses.
#[track_caller]
fn held(policy: Policy, sample: Sample, sizes: &[u32]) -> (usize, usize, f64) {
    let truth = misses(policy, sizes, &zipf(0));
    let (mut held, mut told, mut off) = (0, 0, 0.0);
    for seed in 0..SAMPLES {
        let names = zipf(seed);
        let curves = run(&[policy], &Sizes::Of(sizes.to_vec()), Some(sample), &names);
        for (point, truth) in curves.curves[0].points.iter().zip(&truth) {
            let Misses::Estimated { misses, error } = point.misses else {
                panic!("{sample:?} tells nothing at {}", point.pages)
            };
            told += 1;
            held += usize::from((misses - *truth as f64).abs() <= error);
            off += (misses - *truth as f64) / names.len() as f64;
        }
    }
    (held, told, off / told as f64)
}

#[test]
fn the_error_of_a_share_holds_the_truth() {
    for policy in Policy::ALL {
        let (held, told, off) = held(policy, Sample::Rate(0.05), &[1000, 3000, 8000, 15000]);
        assert!(held * 100 >= told * 85, "{policy}: {held} of {told}");
        assert!(off.abs() < 0.01, "{policy}: {off}");
    }
}

#[test]
fn the_error_of_a_number_of_pages_holds_the_truth() {
    let (held, told, off) = held(Policy::Lru, Sample::Pages(1000), &[1000, 3000, 8000, 15000]);
    assert!(held * 100 >= told * 85, "{held} of {told}");
    assert!(off.abs() < 0.01, "{off}");
}

/// As long as all pages fit into the sample it is no sample.
#[test]
fn a_sample_of_all_pages_is_exact() {
    let (names, sizes) = (zipf(0), vec![100, 5_000, 15_000]);
    let truth = misses(Policy::Lru, &sizes, &names);
    let sample = Some(Sample::Pages(20_000));
    let curves = run(&[Policy::Lru], &Sizes::Of(sizes), sample, &names);
    for (point, truth) in curves.curves[0].points.iter().zip(truth) {
        let Misses::Estimated { misses, .. } = point.misses else { panic!("not told: {point:?}") };
        assert!((misses - truth as f64).abs() < 1e-6 * truth as f64, "{misses} for {truth}");
    }
}

#[test]
fn a_sample_says_how_large_it_is() {
    let names = zipf(0);
    let sizes = Sizes::Of(vec![10, 5_000]);
    let distinct = run(&[Policy::Lru], &sizes, None, &names).pages as f64;
    for sample in [Sample::Rate(0.1), Sample::Pages(2_000)] {
        let curves = run(&[Policy::Lru], &sizes, Some(sample), &names);
        let sampled = curves.sampled.unwrap();
        assert!((0.08..0.12).contains(&sampled.rate), "{sampled:?}");
        assert!((1800..=2200).contains(&sampled.pages), "{sampled:?}");
        assert!(sampled.accesses < names.len() as u64, "{sampled:?}");
        assert!(
            (curves.pages as f64 / distinct - 1.0).abs() < 0.1,
            "{} of {distinct}",
            curves.pages
        );
        let points = &curves.curves[0].points;
        assert_eq!(points[0].misses, Misses::Untold, "ten pages are one of the sample");
        assert!(matches!(points[1].misses, Misses::Estimated { .. }));
        let all = run(&[Policy::Lru], &Sizes::All, Some(sample), &names).curves;
        let told = |point: &crate::curve::Point| f64::from(point.pages) * sampled.rate >= 16.0;
        assert!(all[0].points.iter().all(told), "{sampled:?}: {:?}", all[0].points);
    }
}
