//! The survey on a simulated process whose true rates are known.

use super::*;
use crate::survey::draw::draw;
use crate::survey::estimate::{Estimator, Visits};
use crate::survey::measured::{Measured, OfProcess};
use crate::survey::simulated::{Simulated, random};
use pagetide_types::Bytes;

const MS: u64 = 1_000_000;

/// One epoch of 5 s over `regions` base regions of `world`, at 1 % of a core.
fn epoch(world: &mut Simulated, regions: &[Region], visits: f64, seed: u64) -> (Outcome, Vec<f64>) {
    let wanted = vec![1.0; regions.len()];
    let floor = vec![512.0; regions.len()];
    let mut random = random(seed);
    let drawn = draw(&wanted, &floor, visits, WAVE, &mut random);
    let limits = Limits { end_ns: world.now + 5_000 * MS, budget_ns: 1e12, single_pages: false };
    let survey = Survey::new(world, regions, ladder::gaps(Some(1_000_000)), limits);
    (survey.run(&drawn.waves, random, &|| false), drawn.expected)
}

fn regions(count: u32, huge: bool) -> Vec<Region> {
    (0..count).map(|unit| Region::whole(unit, huge)).collect()
}

/// Traffic of all regions together as measured, over the truth.
fn measured(outcome: &Outcome, expected: &[f64], gap_ns: f64) -> f64 {
    let mut sum = 0.0;
    for (region, expected) in expected.iter().enumerate() {
        let visits: Vec<&Visit> = outcome.visits.iter().filter(|v| v.region == region).collect();
        let chance = expected.min(1.0);
        sum += Measured::of(&visits, 512, OfProcess { gap_ns, cores: 0.0 }, chance)
            .map_or(0.0, |seen| seen.traffic.pages);
    }
    sum
}

#[test]
fn the_traffic_is_what_it_is_whether_all_regions_fit_or_not() {
    // Half of the pages are accessed 20 times a second, the others 5 times; a cache of 1 ms.
    let rates: Vec<f64> =
        (0..64 * 512).map(|page| if page % 2 == 0 { 20.0 } else { 5.0 }).collect();
    let truth = rates.iter().sum::<f64>();
    for visits in [32.0, 192.0] {
        let mut sum = 0.0;
        for seed in 0..4 {
            let mut world = Simulated::new(false, rates.iter().copied());
            let (outcome, expected) = epoch(&mut world, &regions(64, false), visits, seed);
            sum += measured(&outcome, &expected, 1e6) / 4.0;
        }
        assert!((sum / truth - 1.0).abs() < 0.08, "{visits} visits: {}", sum / truth);
    }
}

#[test]
fn a_program_that_runs_a_third_of_the_time_does_not_look_colder() {
    let rates = vec![20.0; 64 * 512];
    let mut sum = 0.0;
    for seed in 0..3 {
        let mut world = Simulated::new(false, rates.iter().copied());
        world.running = 0.34;
        let (outcome, expected) = epoch(&mut world, &regions(64, false), 192.0, seed);
        sum += measured(&outcome, &expected, 1e6) / 3.0;
    }
    let truth = rates.iter().sum::<f64>();
    assert!((sum / truth - 1.0).abs() < 0.1, "{}", sum / truth);
}

#[test]
fn every_visit_is_looked_at_from_short_gaps_to_long_ones() {
    let mut world = Simulated::new(false, vec![1.0; 64 * 512]);
    let (outcome, _) = epoch(&mut world, &regions(64, false), 128.0, 1);
    assert_eq!((outcome.tally.waves, outcome.visits.len()), (4, 128));
    for visit in outcome.visits.iter().filter(|visit| !visit.closed) {
        let first = visit.looks.first().unwrap().gap_ns;
        assert!((0.4e6..0.8e6).contains(&first), "{visit:?}");
        assert!(visit.looks.len() >= 5 && visit.reach_ns() > 100e6, "{visit:?}");
    }
}

#[test]
fn hot_huge_pages_are_seen_before_they_are_seen_for_sure() {
    // 20,000 accesses/s: one in 50 us.
    let mut world = Simulated::new(true, vec![20_000.0; 64]);
    let (outcome, _) = epoch(&mut world, &regions(64, true), 512.0, 1);
    let firsts: Vec<bool> =
        outcome.visits.iter().filter_map(|v| v.looks.first()).map(|look| look.seen > 0).collect();
    let seen = firsts.iter().filter(|seen| **seen).count();
    assert!(seen * 3 < firsts.len(), "{seen} of {}", firsts.len());
}

#[test]
fn the_budget_ends_the_waves_and_a_lost_process_ends_the_survey() {
    let all = regions(64, false);
    let mut world = Simulated::new(false, vec![1.0; 64 * 512]);
    let drawn = draw(&[1.0; 64], &[512.0; 64], 640.0, WAVE, &mut random(1));
    let limits = Limits { end_ns: world.now + 5_000 * MS, budget_ns: 10e6, single_pages: false };
    let survey = Survey::new(&mut world, &all, ladder::gaps(None), limits);
    let outcome = survey.run(&drawn.waves, random(1), &|| false);
    assert!(outcome.tally.waves < 10 && outcome.tally.waves > 0, "{:?}", outcome.tally);
    assert!(outcome.tally.spent_ns < 20_000_000, "{:?}", outcome.tally);
    assert!(2 * outcome.tally.waves < outcome.tally.planned);

    let mut world = Simulated::new(false, vec![1.0; 64 * 512]);
    world.gone_at = world.now + 500 * MS;
    let (outcome, _) = epoch(&mut world, &all, 640.0, 1);
    assert_eq!(outcome.lost, [0]);
    assert!(world.now < 1_000 * MS, "nothing is left to be watched");
}

#[test]
fn waves_in_turn_wait_for_the_budget_and_none_is_left_out() {
    let regions = regions(256, false);
    let waves: Vec<Vec<usize>> =
        crate::survey::draw::each_once(&(0..256).collect::<Vec<_>>(), WAVE);
    let visited = |budget_ns: f64, not_before: u64| {
        let mut world = Simulated::new(false, vec![20.0; 256 * 512]);
        let limits = Limits { end_ns: world.now + 1_000 * MS, budget_ns, single_pages: false };
        let start = world.now;
        let survey = Survey::new(&mut world, &regions, ladder::gaps(None), limits);
        let survey = survey.coarse(waves.len(), start + not_before * MS);
        let outcome = survey.run(&waves, random(1), &|| false);
        let seen = outcome.visits.iter();
        assert!(seen.clone().all(|visit| visit.waited_ns > 150 * MS) || budget_ns < 1e12);
        let visited: Vec<usize> = seen.map(|visit| visit.region).collect();
        (visited, outcome.tally, (world.now - start) / MS)
    };
    let (all, tally, took) = visited(1e12, 0);
    assert_eq!((all.len(), tally.waves), (256, 8));
    assert!((200..500).contains(&took), "it ends when all had their looks: {took}");
    assert!((800..900).contains(&visited(1e12, 800).2), "but not before");
    // Half of what that took: half of the waves, those that come first.
    let half = tally.spent_ns as f64 / 2.0;
    let (some, tally, _) = visited(half, 0);
    assert_eq!(some, all[..some.len()]);
    assert!((3..=6).contains(&tally.waves), "{tally:?}");
    assert!(tally.spent_ns as f64 <= 1.5 * half, "{tally:?}");
}

#[test]
fn waves_in_turn_leave_the_target_time_to_run_from_the_beginning() {
    let regions = regions(1024, false);
    let waves = crate::survey::draw::each_once(&(0..1024).collect::<Vec<_>>(), WAVE);
    let mut world = Simulated::new(false, vec![20.0; 1024 * 512]);
    // Half a core.
    let limits = Limits { end_ns: world.now + 1_000 * MS, budget_ns: 500e6, single_pages: false };
    let start = world.now;
    let survey = Survey::new(&mut world, &regions, ladder::gaps(None), limits);
    let outcome = survey.coarse(waves.len(), 0).run(&waves, random(1), &|| false);
    assert!((outcome.tally.clear_ns as f64) < AHEAD * limits.budget_ns, "what could be ahead");
    let took_ns = (outcome.visits.last().unwrap().cleared_ns - start) as f64;
    assert!(took_ns > 1.5 * outcome.tally.clear_ns as f64, "{} ms", took_ns * 1e-6);
}

#[test]
fn what_was_accessed_after_the_last_look_was_accessed() {
    let mut world = Simulated::new(false, vec![0.0; 2 * 512]);
    let all = regions(2, false);
    let limits = Limits { end_ns: world.now + 5_000 * MS, budget_ns: 1e12, single_pages: false };
    let survey = Survey::new(&mut world, &all, ladder::gaps(None), limits);
    // Nobody touches a page; then the first one is touched often.
    let outcome = survey.run(&[vec![0, 1]], random(1), &|| false);
    assert!(outcome.visits.iter().all(|visit| !visit.accessed));
    world.set_rate(0, 0.5);
    let limits = Limits { end_ns: world.now + 50_000 * MS, ..limits };
    let survey = Survey::new(&mut world, &all, ladder::gaps(None), limits);
    let outcome = survey.run(&[vec![0, 1]], random(1), &|| false);
    let accessed: Vec<bool> = outcome.visits.iter().map(|visit| visit.accessed).collect();
    assert_eq!(accessed, [true, false]);
}

#[test]
fn a_huge_page_beside_base_pages_is_not_taken_for_one_of_them() {
    // Base pages that are touched a few times a second, huge ones that are within 50 us.
    let visit = |region: usize, huge: bool| {
        let pages = if huge { 1 } else { 512 };
        let mut visit = Visit { region, pages, huge, waited_ns: 200_000_000, ..Visit::default() };
        let seen: [u16; 4] = if huge { [0, 0, 1, 1] } else { [0, 0, 0, 300] };
        for (gap_ns, seen) in [3e3, 12e3, 50e3, 2e8].into_iter().zip(seen) {
            visit.take(gap_ns, seen, None);
        }
        visit
    };
    let mut regions: Vec<Region> = (0..32).map(|unit| Region::whole(unit, unit >= 24)).collect();
    let visits: Vec<Visit> = (0..32).map(|region| visit(region, region >= 24)).collect();
    let seen: Vec<Visits<'_>> =
        visits.iter().map(|visit| Visits { visits: vec![visit], chance: 1.0 }).collect();
    Estimator::new(Bytes::mib(2)).learn(&mut regions, &seen, &[1.0]);
    let rate = |region: usize| mixture::mean_rate(regions[region].history.weights());
    assert!(rate(0) < 200.0, "{}", rate(0));
    assert!((10_000.0..100_000.0).contains(&rate(31)), "{}", rate(31));
}
