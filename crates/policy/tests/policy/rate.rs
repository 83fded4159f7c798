//! What `rate` promises: it moves nothing for noise, follows what really changes, and knows a hot
//! set after one epoch.

use crate::dice::Dice;
use pagetide_policy::{AccessHistory, EpochView, Policy, PolicySpec, PriorityOrder};
use pagetide_types::{Bytes, EpochHeat, EpochId, HeatFlags, HeatRow, NodeId, UnitId};

const UNITS: usize = 2000;

#[expect(clippy::cast_possible_truncation, reason = "a rate to seven digits")]
fn heat(rates: &[f64]) -> EpochHeat {
    let mut heat = EpochHeat::new(EpochId(0));
    for (unit, rate) in (0..).zip(rates) {
        let seen = if *rate > 0.0 { HeatFlags::ACCESSED } else { HeatFlags::UNSEEN };
        heat.push(HeatRow {
            unit: UnitId(unit),
            rate: *rate as f32,
            flags: HeatFlags::SAMPLED | seen,
            pages: 1,
            watched: 1,
            touched: 0,
            node: NodeId(0),
        });
    }
    heat
}

/// For every epoch, which units its decision makes fast, when half of them fit; `observe` gives
/// the estimated rate of a unit in an epoch.
fn fast_sets(
    spec: &str,
    epochs: usize,
    mut observe: impl FnMut(usize, usize) -> f64,
) -> Vec<Vec<bool>> {
    let Ok(spec) = spec.parse::<PolicySpec>() else { panic!("{spec}") };
    let Policy::Rank(mut policy) = spec.build() else { panic!("{spec} has no order") };
    let (mut order, mut history) = (PriorityOrder::new(), AccessHistory::default());
    let decide = (0..epochs).map(|epoch| {
        let rates: Vec<f64> = (0..UNITS).map(|unit| observe(epoch, unit).max(0.0)).collect();
        let heat = heat(&rates);
        history.update(&heat);
        order.arrive(&heat);
        let mut keys = vec![0; UNITS];
        let (history, oracle, placement) = (&history, None, None);
        let view =
            EpochView { heat: &heat, history, length_s: 5.0, free_moves: false, oracle, placement };
        policy.rank(&view, &mut keys);
        order.rank(&heat, &keys);
        order.cut(&heat, Bytes::kib(4 * UNITS as u64 / 2))
    });
    decide.collect()
}

/// Units promoted by each decision, the first one included (first touch makes the first half fast).
fn promoted(sets: &[Vec<bool>]) -> Vec<usize> {
    let start = vec![(0..UNITS).map(|unit| unit < UNITS / 2).collect()];
    let all: Vec<Vec<bool>> = [start, sets.to_vec()].concat();
    let moves = all.windows(2).map(|pair| {
        pair[0].iter().zip(&pair[1]).filter(|(before, after)| !**before && **after).count()
    });
    moves.collect()
}

/// How many of the units that `hot` names are fast.
fn found(set: &[bool], hot: impl Fn(usize) -> bool) -> usize {
    (0..UNITS).filter(|unit| set[*unit] && hot(*unit)).count()
}

#[test]
fn among_equals_noise_moves_next_to_nothing() {
    for noise in [0.2, 0.35, 0.5] {
        for rate in [3.0, 1e3, 7e5] {
            let mut dice = Dice(7);
            let equal = |_, _| rate * (1.0 + noise * dice.normal());
            let moves = promoted(&fast_sets("rate", 40, equal));
            let (early, late) = moves.split_at(10);
            let (early, late) = (early.iter().sum::<usize>(), late.iter().sum::<usize>());
            assert!(early <= UNITS / 4, "noise {noise}, rate {rate}: {moves:?}");
            assert!(late <= 30 * UNITS / 400, "noise {noise}, rate {rate}: {moves:?}");
            let mut dice = Dice(7);
            let naive = |_, _| rate * (1.0 + noise * dice.normal());
            let naive = promoted(&fast_sets("rate:sure=0,steps=64", 40, naive));
            assert!(naive.iter().sum::<usize>() > 5 * (early + late), "{naive:?}");
        }
    }
}

#[test]
fn counts_of_rare_accesses_are_noise_too() {
    for mean in [0.1, 0.5, 2.0, 8.0, 30.0] {
        let mut dice = Dice(11);
        let moves = promoted(&fast_sets("rate", 60, |_, _| dice.count(mean) / 5.0));
        let late: usize = moves[20..].iter().sum();
        assert!(late <= 40 * UNITS / 100, "{mean} per epoch: {moves:?}");
    }
}

#[test]
fn a_hot_set_is_found_after_one_epoch() {
    for ratio in [20.0, 100.0, 1000.0] {
        let mut dice = Dice(3);
        let hot = |unit: usize| unit % 4 == 1;
        let noisy = |_, unit| {
            let rate = if hot(unit) { 500.0 } else { 500.0 / ratio };
            rate * (1.0 + 0.25 * dice.normal())
        };
        let sets = fast_sets("rate", 20, noisy);
        for (epoch, set) in sets.iter().enumerate() {
            let share = found(set, hot) as f64 / (UNITS / 4) as f64;
            assert!(share > 0.98, "ratio {ratio}, epoch {epoch}: {share}");
        }
    }
}

#[test]
fn a_change_of_phase_is_followed_within_three_epochs_and_costs_no_more_than_it_must() {
    for noise in [0.0, 0.2, 0.5] {
        for ratio in [10.0, 100.0] {
            let mut dice = Dice(5);
            let hot = |epoch: usize, unit: usize| (unit % 4 == 1) == (epoch < 15);
            let swap = |epoch, unit: usize| {
                let hot = unit.is_multiple_of(2) || hot(epoch, unit);
                let rate = if unit.is_multiple_of(2) || !hot { 100.0 / ratio } else { 100.0 };
                rate * (1.0 + noise * dice.normal())
            };
            let sets = fast_sets("rate", 30, swap);
            let now_hot = |unit: usize| unit % 4 == 3;
            let share = |set: &Vec<bool>| found(set, now_hot) as f64 / (UNITS / 4) as f64;
            // Decisions at the end of epochs 15, 16 and 17 have seen one, two, three of the phase.
            assert!(share(&sets[17]) > 0.95, "{noise} {ratio}: {}", share(&sets[17]));
            assert!(sets[20..].iter().all(|set| share(set) > 0.98), "{noise} {ratio}");
            let moves = promoted(&sets);
            let after: usize = moves[15..].iter().sum();
            // Those that are hot now, and a few more when noise hides who is not.
            let more = if noise < 0.5 { UNITS / 20 } else { UNITS / 4 };
            assert!(after <= UNITS / 4 + more, "{noise} {ratio}: {moves:?}");
        }
    }
}

#[test]
fn a_doubling_is_followed_once_it_lasts_and_a_single_burst_is_not() {
    let observe = |last: usize| {
        let mut dice = Dice(9);
        move |epoch: usize, unit: usize| {
            let doubled = unit >= UNITS / 2 && (15..=last).contains(&epoch);
            (if doubled { 2.5 } else { 1.0 }) * 90.0 * (1.0 + 0.3 * dice.normal())
        }
    };
    let late = |unit: usize| unit >= UNITS / 2;
    let lasting = fast_sets("rate", 30, observe(usize::MAX));
    let share = |set: &Vec<bool>| found(set, late) as f64 / (UNITS / 2) as f64;
    assert!(share(&lasting[14]) < 0.05, "{}", share(&lasting[14]));
    // The third decision that has seen it, and the eighth.
    assert!(share(&lasting[17]) > 0.6 && share(&lasting[22]) > 0.95, "{lasting:?}");
    let burst = promoted(&fast_sets("rate", 30, observe(15)));
    let moved: usize = burst[15..].iter().sum();
    assert!(moved <= UNITS / 8, "{burst:?}");
}

#[test]
fn with_few_epochs_it_is_no_worse_than_first_touch_by_more_than_noise() {
    let mut dice = Dice(13);
    // First touch is right: the early units are a little hotter.
    let truth = |unit: usize| if unit < UNITS / 2 { 12.0 } else { 10.0 };
    let sets = fast_sets("rate", 4, |_, unit| truth(unit) * (1.0 + 0.3 * dice.normal()));
    let served = |set: &[bool]| (0..UNITS).filter(|u| set[*u]).map(truth).sum::<f64>();
    let first_touch = 12.0 * (UNITS / 2) as f64;
    for set in &sets {
        assert!(served(set) > 0.95 * first_touch, "{}", served(set) / first_touch);
    }
    assert!(promoted(&sets).iter().sum::<usize>() <= UNITS / 4, "{:?}", promoted(&sets));
}

#[test]
fn a_change_that_is_not_worth_a_move_waits_until_it_is_or_until_it_is_sure() {
    // In noiseless epochs the late half grows from 1 to 9 accesses per second: 40 more in each.
    let grown = |epoch: usize, unit: usize| if unit >= UNITS / 2 && epoch >= 5 { 9.0 } else { 1.0 };
    let first_move =
        |spec: &str| promoted(&fast_sets(spec, 30, grown)).iter().position(|moves| *moves > 0);
    assert_eq!(first_move("rate:worth=0"), Some(5));
    assert_eq!(first_move("rate:worth=40"), Some(5));
    let later = first_move("rate:worth=160").unwrap_or(usize::MAX);
    assert!((7..=10).contains(&later), "{later}");
    // Twice the evidence that the rank stood on puts it right, whatever a move costs.
    assert_eq!(first_move("rate:worth=1e6"), Some(11));
}
