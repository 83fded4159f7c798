//! What is expected of regions, huge pages and single pages with known rates after some epochs.

use super::*;
use crate::pages::Pages;
use crate::survey::draw::draw;
use crate::survey::estimate::{Estimator, Visits, wanted};
use crate::survey::mixture::mean_rate;
use crate::survey::simulated::{Simulated, random};
use pagetide_types::Bytes;

/// Lives through epochs with so many visits each, at most; gives each epoch's regions to `after`.
fn live(
    world: &mut Simulated,
    regions: &mut [Region],
    (epochs, visits): (usize, f64),
    after: impl FnMut(usize, &mut Simulated, &[Region]),
) {
    live_until(world, regions, (epochs, visits, false), &mut |_| {}, after);
}

/// The same; if `alert`, epochs end where the target has changed. By epoch: how long it was, seconds, and whether it has.
fn live_until(
    world: &mut Simulated,
    regions: &mut [Region],
    (epochs, visits, alert): (usize, f64, bool),
    meanwhile: &mut dyn FnMut(&mut Simulated),
    mut after: impl FnMut(usize, &mut Simulated, &[Region]),
) -> Vec<(f64, bool)> {
    let mut ends = Vec::new();
    let mut last = change::LastVisits::default();
    let mut estimator = Estimator::new(Bytes::kib(256));
    let mut random = random(9);
    for epoch in 0..epochs {
        let wanted = wanted(regions, &[1.0], |_| true);
        let floor = vec![512.0; regions.len()];
        let wave = if alert { SMALL_WAVE } else { WAVE };
        let drawn = draw(&wanted, &floor, visits, wave, &mut random);
        let limits = Limits {
            end_ns: world.now + 5_000_000_000,
            budget_ns: 1e12,
            single_pages: regions.iter().any(|region| region.pages.is_some()),
        };
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a time")]
        let gap = estimator.known_gap_ns(0).map(|gap| gap as u64);
        let start_ns = world.now;
        let survey = Survey::new(world, regions, ladder::gaps(gap), limits);
        let survey = survey
            .judged(Judged {
                last_visits: &mut last,
                counts: estimator.accesses(1),
                ends_early: alert,
            })
            .beside(meanwhile);
        let outcome = survey.run(&drawn.waves, &mut random, &|| false);
        let mut seen: Vec<Visits<'_>> = drawn
            .expected
            .iter()
            .map(|expected| Visits { visits: Vec::new(), chance: expected.clamp(1e-6, 1.0) })
            .collect();
        outcome.visits.iter().for_each(|visit| seen[visit.region].visits.push(visit));
        ends.push(((world.now - start_ns) as f64 * 1e-9, last.say_changed()));
        if last.say_changed() {
            last.forget();
        }
        estimator.learn(regions, &seen, &[1.0]);
        after(epoch, world, regions);
    }
    ends
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0.0), |(sum, n), value| (sum + value, n + 1.0));
    sum / count
}

#[test]
fn huge_pages_from_hot_to_cold_get_their_rates() {
    let truth = [60_000.0, 4_000.0, 300.0, 20.0];
    let mut world = Simulated::new(true, (0..128).map(|unit| truth[unit % 4]));
    let mut regions: Vec<Region> = (0..128).map(|unit| Region::whole(unit, true)).collect();
    live(&mut world, &mut regions, (8, 300.0), |_, _, _| {});
    for (class, truth) in truth.iter().enumerate() {
        let of_class = regions.iter().skip(class).step_by(4);
        let found = mean(of_class.map(|region| mean_rate(region.history.weights())));
        assert!((found / truth - 1.0).abs() < 0.35, "{truth}: {found}");
    }
}

#[test]
fn the_first_epoch_tells_hot_huge_pages_from_cold_ones() {
    let is_hot = |unit: usize| unit % 4 == 1;
    let rates = (0..128).map(|unit| if is_hot(unit) { 300_000.0 } else { 700.0 });
    let mut world = Simulated::new(true, rates);
    let mut regions: Vec<Region> = (0..128).map(|unit| Region::whole(unit, true)).collect();
    live(&mut world, &mut regions, (1, 256.0), |_, _, _| {});
    let mut order: Vec<usize> = (0..128).collect();
    order.sort_by(|a, b| regions[*b].rate.unwrap().total_cmp(&regions[*a].rate.unwrap()));
    let found = order[..32].iter().filter(|unit| is_hot(**unit)).count();
    assert!(found >= 31, "{found} of 32 hot ones are first");
}

#[test]
fn a_huge_page_that_was_seen_once_is_not_surely_hot() {
    let mut world =
        Simulated::new(true, (0..256).map(|unit| if unit < 64 { 20_000.0 } else { 50.0 }));
    let mut regions: Vec<Region> = (0..256).map(|unit| Region::whole(unit, true)).collect();
    let sure = |regions: &[Region]| {
        let cold = &regions[64..];
        cold.iter().filter(|region| region.least > 100.0 * 50.0).count()
    };
    let mut found = Vec::new();
    live(&mut world, &mut regions, (4, 256.0), |_, _, regions| {
        let mean = regions[64..].iter().filter(|region| region.rate > Some(100.0 * 50.0)).count();
        let hot = regions[..64].iter().filter(|region| region.least > 1_000.0).count();
        found.push((sure(regions), mean, hot));
    });
    assert!(found.iter().all(|(sure, mean, _)| *sure <= 5 && sure <= mean), "{found:?}");
    assert!(found[3].2 >= 60, "and hot ones are in the end: {found:?}");
}

#[test]
fn no_cold_region_is_surely_hot_for_the_pages_that_chance_showed_soon() {
    const HOT: f64 = 300.0;
    let is_hot = |unit: usize| unit % 4 == 1;
    // How cold, and how many of the pages are accessed at all.
    for (seed, (cold, alive)) in (0..).zip([(0.75, 512), (1.0, 512), (0.1, 512), (1.5, 256)]) {
        let rate = |page: usize| match page % 512 {
            _ if is_hot(page / 512) => HOT,
            page if page < alive => cold,
            _ => 0.0,
        };
        let mut world = Simulated::new(false, (0..400 * 512).map(rate));
        world.seed(seed);
        let mut regions: Vec<Region> = (0..400).map(|unit| Region::whole(unit, false)).collect();
        let mut seem = 0;
        live(&mut world, &mut regions, (4, 270.0), |epoch, _, regions| {
            for (unit, region) in regions.iter().enumerate() {
                let Some(mean) = region.rate else { continue };
                let truth = if is_hot(unit) { 512.0 * HOT } else { alive as f64 * cold };
                let times = |rate: f32| f64::from(rate) / lines::TOUCH / truth;
                let least = times(region.least);
                let right = if is_hot(unit) { least > 0.8 } else { least < 2.0 };
                assert!(right, "{cold} of {alive}, epoch {epoch}: {least} times as hot, surely");
                seem += u32::from(times(mean) > 4.0);
            }
        });
        assert!(seem > 0, "{cold} of {alive}: the looks tell them apart");
    }
}

#[test]
fn a_region_is_mostly_as_hot_at_least_as_the_pages_make_it_that_surely_are_hotter() {
    // By Zipf's law, scattered over all regions.
    let mut random = random(3);
    let rates: Vec<f64> =
        std::iter::repeat_with(|| 2.0 / random().max(1e-4)).take(96 * 512).collect();
    let [whole, apart] = [|unit| Region::whole(unit, false), with_pages].map(|of: fn(u32) -> _| {
        let mut regions: Vec<Region> = (0..96).map(of).collect();
        live(&mut Simulated::new(false, rates.clone()), &mut regions, (2, 96.0), |_, _, _| {});
        let mut parts: Vec<f32> = regions.iter().map(Region::least_part).collect();
        parts.sort_by(f32::total_cmp);
        parts
    });
    assert!(whole[48] > 0.6 && whole[10] > 0.5, "{whole:?}");
    // Of pages that are told apart each is as hot as it is expected to be.
    assert!(apart[48] > 0.75 && apart[10] > 0.7, "{apart:?}");
}

#[test]
fn a_change_of_the_program_is_followed_at_once() {
    follows_a_change(false, |hot| if hot { 20.0 } else { 0.5 });
    // A visit sees one page: two are needed.
    follows_a_change(true, |hot| if hot { 100_000.0 } else { 5.0 });
}

/// Few visits an epoch, most to what is hot; the change comes anywhere in an epoch.
#[test]
fn a_change_is_seen_soon_whenever_it_comes() {
    let hot = |set: u64, page: u64| if page / 512 / 24 == set { 1_000.0 } else { 0.0 };
    let delays = (0..8).map(|seed| {
        let mut world = Simulated::new(false, (0..180 * 512).map(|page| hot(0, page)));
        world.seed(seed);
        let mut regions: Vec<Region> = (0..180).map(|unit| Region::whole(unit, false)).collect();
        live(&mut world, &mut regions, (3, 220.0), |_, _, _| {});
        let changes_s = world.now as f64 * 1e-9 + seed as f64;
        let mut now_s = world.now as f64 * 1e-9;
        let mut turn = |world: &mut Simulated| {
            if world.now as f64 * 1e-9 >= changes_s {
                (0..180 * 512).for_each(|page| world.set_rate(page, hot(1, page)));
            }
        };
        let ends = live_until(&mut world, &mut regions, (4, 110.0, true), &mut turn, |_, _, _| {});
        for (length_s, changed) in ends {
            now_s += length_s;
            if changed {
                break;
            }
        }
        now_s - changes_s
    });
    let mut delays: Vec<f64> = delays.collect();
    delays.sort_by(f64::total_cmp);
    assert!(delays[0] > 0.0 && delays[4] < 2.2 && delays[7] < 3.0, "{delays:?}");
}

#[test]
fn an_epoch_ends_soon_where_the_target_has_changed() {
    for (huge, rates) in [(false, [20.0, 0.5]), (true, [100_000.0, 5.0])] {
        let each = if huge { 1 } else { 512 };
        let of = |hot: bool| rates[usize::from(!hot)];
        let mut world = Simulated::new(huge, (0..64 * each).map(|page| of(page < 16 * each)));
        let mut regions: Vec<Region> = (0..64).map(|unit| Region::whole(unit, huge)).collect();
        let ends = live_until(
            &mut world,
            &mut regions,
            (8, 160.0, true),
            &mut |_| {},
            |epoch, world, _| {
                if epoch == 5 {
                    let step = 512 / each;
                    (0..64 * each).for_each(|page| {
                        world.set_rate(page * step, of((16 * each..32 * each).contains(&page)));
                    });
                }
            },
        );
        assert!(
            ends[..6].iter().all(|(length_s, changed)| *length_s > 4.9 && !changed),
            "{ends:?}"
        );
        assert!((1.0..2.5).contains(&ends[6].0) && ends[6].1, "{ends:?}");
    }
}

fn follows_a_change(huge: bool, rates: fn(bool) -> f64) {
    let each = if huge { 1 } else { 512 };
    let mut world = Simulated::new(huge, (0..64 * each).map(|page| rates(page < 32 * each)));
    let mut regions: Vec<Region> = (0..64).map(|unit| Region::whole(unit, huge)).collect();
    live(&mut world, &mut regions, (6, 160.0), |epoch, world, regions| {
        let rate = |of: std::ops::Range<usize>| {
            mean(regions[of].iter().map(|region| f64::from(region.rate.unwrap())))
        };
        let (first, second) = (rate(0..32), rate(32..64));
        if epoch == 3 {
            assert!(first > 10.0 * second, "{first} {second}");
            let step = 512 / each;
            (0..64 * each).for_each(|page| world.set_rate(page * step, rates(page >= 32 * each)));
        }
        if epoch == 5 {
            assert!(second > 5.0 * first, "two epochs later: {first} {second}");
        }
    });
}

#[test]
fn single_pages_from_hot_to_cold_come_in_that_order_and_their_traffic_adds_up() {
    // In every region alike: a few hot pages, some warm ones, many cold.
    let truth = |page: u64| match page % 32 {
        0 => 100.0,
        1..6 => 10.0,
        _ => 0.5,
    };
    let mut world = Simulated::new(false, (0..24 * 512).map(truth));
    let mut regions: Vec<Region> = (0..24).map(with_pages).collect();
    let mut traffic = 0.0;
    let classes = [0..1, 1..6, 6..32];
    live(&mut world, &mut regions, (8, 120.0), |epoch, _, regions| {
        let pages = || regions.iter().filter_map(|region| region.pages.as_deref());
        if epoch >= 2 {
            let all: f32 = pages().filter_map(|pages| pages.traffic()).flatten().sum();
            traffic += f64::from(all) / 6.0;
        }
        if epoch < 7 {
            return;
        }
        let found = classes.clone().map(|class| {
            let rates = pages().filter_map(|pages| pages.rates());
            let of_class = rates.flat_map(|rates| {
                let page = |page: &usize| class.contains(&(page % 32));
                (0..512).filter(page).map(|page| f64::from(rates[page])).collect::<Vec<_>>()
            });
            mean(of_class)
        });
        assert!(found[0] > 4.0 * found[1] && found[1] > 4.0 * found[2], "{found:?}");
    });
    // Eight lines a page, none in runs; some of the hot pages' traffic stays in the cache.
    let all: f64 = (0..24 * 512).map(truth).sum();
    assert!((traffic / (8.0 * all) - 1.0).abs() < 0.25, "{}", traffic / (8.0 * all));
}

#[test]
fn pages_that_are_accessed_seldom_are_told_from_those_that_are_not_at_all() {
    // Once a second, and every minute: what the looks within 0.2 s hardly ever see.
    let hot = |page: u64| page.is_multiple_of(16);
    let rate = |page: u64| if hot(page) { 1.0 } else { 0.02 };
    let mut world = Simulated::new(false, (0..24 * 512).map(rate));
    let mut regions: Vec<Region> = (0..24).map(with_pages).collect();
    live(&mut world, &mut regions, (5, 48.0), |_, _, _| {});
    let rates = regions.iter().filter_map(|region| region.pages.as_deref()?.rates());
    let mut pages: Vec<(f32, u64)> = rates.flatten().copied().zip(0..).collect();
    pages.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    let found = pages.iter().take(24 * 32).filter(|(_, page)| hot(*page)).count();
    assert!(found > 24 * 28, "{found} of {}", 24 * 32);
}

#[test]
fn of_pages_that_hardly_differ_in_heat_one_by_one_the_hottest_serve_most_after_an_epoch() {
    // Values of a store, three to four on a page, by Zipf's law: a page is touched every ten seconds on average. No
    // region can show that its pages differ.
    const PAGES: usize = 64 * 512;
    let (mut rates, mut chance) = (vec![0.0; PAGES], random(5));
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a page")]
    let mut place = || ((chance() * PAGES as f64) as usize).min(PAGES - 1);
    (1..=PAGES * 7 / 2).for_each(|rank| rates[place()] += (rank as f64).powf(-0.99));
    let all: f64 = rates.iter().sum();
    rates.iter_mut().for_each(|rate| *rate *= 0.1 * PAGES as f64 / all);
    let served = |rank: &[f32]| {
        let mut order: Vec<usize> = (0..PAGES).collect();
        order.sort_by(|a, b| rank[*b].total_cmp(&rank[*a]));
        let first = order.iter().take(PAGES / 4).map(|page| rates[*page]);
        first.sum::<f64>() / (0.1 * PAGES as f64)
    };
    #[expect(clippy::cast_possible_truncation, reason = "in range")]
    let best = served(&rates.iter().map(|rate| *rate as f32).collect::<Vec<_>>());
    let mut world = Simulated::new(false, rates.iter().copied());
    let mut regions: Vec<Region> = (0..64).map(with_pages).collect();
    let mut found = Vec::new();
    live(&mut world, &mut regions, (4, 64.0), |_, _, regions| {
        found.push(served(&regions.iter().flat_map(expected).collect::<Vec<_>>()));
        let mut history = regions[0].history.clone();
        assert!(!history.uneven(1.0));
    });
    println!("{found:?} of {best}");
    assert!(found[0] > 0.75 * best && found[3] > 0.85 * best, "{found:?} of {best}");
}

/// What is expected of each page of a region.
fn expected(region: &Region) -> [f32; 512] {
    let pages = region.pages.as_deref().unwrap();
    let of = |rate: f32| pages.drawn(rate) * region.beside;
    pages.rates().map_or([region.mean_rate(); 512], |rates| rates.map(of))
}

fn with_pages(unit: u32) -> Region {
    let mut pages = Pages::default();
    pages.resident = [u64::MAX; 8];
    Region { pages: Some(Box::new(pages)), ..Region::whole(unit, false) }
}

#[test]
fn pages_that_are_accessed_alike_are_expected_to_be() {
    // How many of the regions have pages that are told apart after each epoch. Often accessed, between two rates of the
    // grid, it shows at once; seldom, when what was expected does not come.
    let apart = |rate: f64, epochs: usize| {
        let mut world = Simulated::new(false, (0..24 * 512).map(|_| rate));
        let mut regions: Vec<Region> = (0..24).map(with_pages).collect();
        let mut found = Vec::new();
        live(&mut world, &mut regions, (epochs, 24.0), |_, _, regions| {
            let told =
                |region: &&Region| region.pages.as_deref().is_some_and(|it| it.rates().is_some());
            found.push(regions.iter().filter(told).count());
        });
        found
    };
    assert_eq!(apart(11.0, 3), [0; 3]);
    let seldom = apart(0.15, 6);
    assert!(seldom[5] <= 2, "{seldom:?}");
}

#[test]
fn what_nobody_accesses_more_often_than_the_rest_is_not_expected_to_be() {
    // A quarter of the regions seventeen times a second, all others once in twenty-two seconds, all pages of a region alike. An
    // epoch sees a fifth of the cold pages, and each time others: who goes by that moves all of them in the end.
    let (hot, cold) = (17.0, 0.045);
    let is_hot = |region: usize| region.is_multiple_of(4);
    let mut world = Simulated::new(
        false,
        (0..96 * 512).map(|page| if is_hot(page / 512) { hot } else { cold }),
    );
    let mut regions: Vec<Region> = (0..96).map(with_pages).collect();
    let mut found = Vec::new();
    live(&mut world, &mut regions, (5, 96.0), |_, _, regions| {
        let cold = regions.iter().enumerate().filter(|(number, _)| !is_hot(*number));
        let looks_hot = cold.map(|(_, region)| {
            // In lines.
            expected(region).iter().filter(|rate| f64::from(**rate) > 8.0 * 3.2 * 0.045).count()
        });
        found.push(looks_hot.sum::<usize>());
    });
    // Of 36,864 pages.
    assert!(found.iter().all(|pages| *pages < 100), "{found:?}");
}

#[test]
fn one_visit_does_not_make_pages_hotter_than_others_where_nothing_hints_at_it() {
    // A quarter of the regions hot, the pages of all others accessed every five or ten seconds. One visit sees some of those
    // and not others; who goes by that exchanges a tenth of the memory before the next visit tells.
    for rate in [0.1, 0.2] {
        let of_page = |page: usize| if (page / 512).is_multiple_of(4) { 40.0 } else { rate };
        let mut world = Simulated::new(false, (0..96 * 512).map(of_page));
        let mut regions: Vec<Region> = (0..96).map(with_pages).collect();
        let mut hotter = 0;
        live(&mut world, &mut regions, (1, 96.0), |_, _, regions| {
            hotter = regions
                .iter()
                .map(|region| {
                    let pages = expected(region);
                    let usual = pages.iter().sum::<f32>() / 512.0;
                    pages.iter().filter(|rate| **rate > 1.2 * usual).count()
                })
                .sum();
        });
        assert!(hotter < 1_000, "{hotter} of {}, {rate}", 96 * 512);
    }
}

#[test]
fn a_region_of_few_pages_says_by_itself_whether_they_differ() {
    // Two pages that are accessed twenty times a second, six every minute: too few to be held to others.
    let rate = |page: u64| [20.0, 0.02, 0.0][usize::from(page >= 2) + usize::from(page >= 8)];
    let mut world = Simulated::new(false, (0..512).map(rate));
    let mut region = with_pages(0);
    region.present = 8;
    region.pages.as_mut().unwrap().resident = [255, 0, 0, 0, 0, 0, 0, 0];
    let mut regions = [region];
    live(&mut world, &mut regions, (8, 1.0), |_, _, _| {});
    assert!(regions[0].history.brackets().octave().is_none());
    let comes_true = regions[0].pages.as_ref().unwrap().comes_true();
    assert!(comes_true > 0.8, "{comes_true}");
}
