//! Glimpses of a simulated process whose true rates are known.

use super::*;
use crate::pages::Pages;
use crate::survey::draw::each_once;
use crate::survey::estimate::Estimator;
use crate::survey::simulated::{Simulated, random};
use crate::survey::{Limits, Survey, WAVE, ladder};
use pagetide_types::Bytes;

const REGIONS: usize = 96;
const PAGES: usize = REGIONS * REGION;

fn with(resident: Mask) -> Box<Pages> {
    let mut pages = Box::<Pages>::default();
    pages.resident = resident;
    pages
}

fn regions() -> Vec<Region> {
    let single = |region: Region| Region { pages: Some(with([u64::MAX; WORDS])), ..region };
    (0u32..).take(REGIONS).map(|unit| single(Region::whole(unit, false))).collect()
}

/// Each region once; of those without a window all pages.
fn visit(world: &mut Simulated, regions: &mut [Region], estimator: &mut Estimator) {
    let all: Vec<usize> = (0..regions.len()).collect();
    let waves = each_once(&all, WAVE);
    let limits = Limits { end_ns: world.now + 1_000_000_000, budget_ns: 1e12, single_pages: true };
    let survey = Survey::new(world, regions, ladder::gaps(None), limits).coarse(waves.len(), 0);
    let outcome = survey.run(&waves, random(5), &|| false);
    assert_eq!(outcome.visits.len(), regions.len());
    let mut seen: Vec<Visits<'_>> =
        all.iter().map(|_| Visits { visits: Vec::new(), chance: 1.0 }).collect();
    outcome.visits.iter().for_each(|visit| seen[visit.region].visits.push(visit));
    estimator.learn(regions, &seen, &[1.0]);
}

/// What is known of regions after a visit to each, or a glimpse.
fn seen(rates: &[f64], seed: u64, glimpses: bool) -> Vec<Region> {
    let mut world = Simulated::new(false, rates.iter().copied());
    world.seed(seed);
    let mut regions = regions();
    let mut random = random(seed);
    for region in regions.iter_mut().filter(|_| glimpses) {
        region.window = region.glimpse(random());
        assert!(region.window.is_some());
    }
    visit(&mut world, &mut regions, &mut Estimator::new(Bytes::kib(256)));
    regions
}

/// Every fourth region is hot.
fn hot_and_cold(page: usize) -> f64 {
    if page / REGION % 4 == 1 { 200.0 } else { 0.5 }
}

/// Pages by Zipf's law, at random places.
fn zipf(seed: u64) -> Vec<f64> {
    let mut random = random(seed);
    let mut rates: Vec<f64> = (1..=PAGES).map(|rank| 6e5 / rank as f64).collect();
    for page in (1..PAGES).rev() {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a place")]
        let other = (random() * (page + 1) as f64) as usize;
        rates.swap(page, other);
    }
    rates
}

fn alike(regions: &[Region]) -> usize {
    regions.iter().filter(|region| region.glimpsed == Glimpsed::Alike).count()
}

#[test]
fn a_glimpse_tells_how_hot_a_region_is_whose_pages_are_accessed_alike() {
    let rates: Vec<f64> = (0..PAGES).map(hot_and_cold).collect();
    for seed in 1..6 {
        let whole = seen(&rates, seed, false);
        let usual = whole[1].mean_rate();
        let glimpsed = seen(&rates, seed, true);
        assert!(alike(&glimpsed) >= REGIONS / 4 - 3, "{} of {}", alike(&glimpsed), REGIONS / 4);
        for (at, (glimpse, whole)) in glimpsed.iter().zip(&whole).enumerate() {
            let hot = at % 4 == 1;
            // What was hardly seen may be anything.
            assert!(hot || glimpse.glimpsed == Glimpsed::Part, "{at}");
            let [each, right] = [glimpse, whole].map(Region::mean_rate);
            if hot {
                assert!((0.5..2.0).contains(&(each / right)), "{at}: {each} for {right}");
                assert!(
                    glimpse.least > 0.1 * whole.least,
                    "{at}: {} {}",
                    glimpse.least,
                    whole.least
                );
            } else {
                // One page of 64 that was seen early, by chance.
                assert!(each < usual / 2.0, "{at}: {each}");
            }
        }
    }
}

#[test]
fn a_glimpse_of_pages_that_differ_says_nothing_of_the_others() {
    for seed in 1..6 {
        let fifth = |page: usize| if page.is_multiple_of(5) { 2_000.0 } else { 20.0 };
        for rates in [zipf(seed), (0..PAGES).map(fifth).collect()] {
            let regions = seen(&rates, seed, true);
            assert!(alike(&regions) <= REGIONS / 20, "{} of {REGIONS}", alike(&regions));
        }
    }
}

#[test]
fn few_looks_do_not_make_pages_at_random_pages_in_order() {
    for hot in [300.0, 1_000.0, 3_000.0] {
        let rate = |page: usize| if page / REGION % 4 == 1 { hot } else { hot / 400.0 };
        let rates: Vec<f64> = (0..PAGES).map(rate).collect();
        for (seed, glimpses) in [(1, false), (1, true), (2, false), (2, true)] {
            let parts: Vec<f32> =
                seen(&rates, seed, glimpses).iter().map(|region| region.in_order).collect();
            let wrong = parts.iter().filter(|part| **part > 0.0).count();
            assert!(wrong <= 2, "{hot}, seed {seed}, glimpses {glimpses}: {parts:?}");
        }
    }
}

#[test]
fn after_a_visit_to_all_of_it_nothing_is_known_by_glimpses_alone() {
    let rates: Vec<f64> = (0..PAGES).map(hot_and_cold).collect();
    let mut world = Simulated::new(false, rates);
    let (mut regions, mut estimator) = (regions(), Estimator::new(Bytes::kib(256)));
    regions.iter_mut().for_each(|region| region.window = region.glimpse(0.5));
    visit(&mut world, &mut regions, &mut estimator);
    let watched = |region: &Region| region.pages.as_ref().unwrap().are_watched();
    assert!(!regions.iter().any(watched), "no page by itself");
    regions.iter_mut().for_each(|region| region.window = None);
    visit(&mut world, &mut regions, &mut estimator);
    assert!(regions.iter().all(|region| region.glimpsed == Glimpsed::Never));
    assert!(regions.iter().all(watched));
}

#[test]
fn a_glimpse_is_to_pages_that_clearing_takes_from_no_folio() {
    let start = 7 << 21;
    let whole =
        Region { range: Range { start, end: start + (1 << 21) }, ..Region::whole(7, false) };
    let word = |region: &Region, random| {
        region.glimpse(random).map(|window| (window.start - start) / BYTES)
    };
    assert_eq!([0.0, 0.5, 0.99].map(|random| word(&whole, random)), [Some(0), Some(4), Some(7)]);
    // One folio of 2 MiB; two of 512 KiB at its ends.
    let joined = |joined| Region { joined, ..whole.clone() };
    assert_eq!(word(&joined(0b1111_1110), 0.5), None);
    let [first, last] = [0.0, 0.99].map(|random| word(&joined(0b1000_0010), random));
    assert_eq!((first, last), (Some(2), Some(5)));
    let other = |change: fn(&mut Region)| {
        let mut region = whole.clone();
        change(&mut region);
        region.glimpse(0.5)
    };
    assert_eq!(other(|region| region.refs = Some(Kind::Files)), None);
    assert_eq!(other(|region| region.huge = true), None);
    assert_eq!(other(|region| region.present = 511), None, "which one is not there nobody knows");
    assert_eq!(other(|region| region.range.end -= 4096), None);
    let holes = with([1, u64::MAX, 1, 1, 1, 1, 1, 1]);
    let region = Region { present: 71, pages: Some(holes), ..whole.clone() };
    assert_eq!(word(&region, 0.99), Some(1), "where all pages are there");
}
