//! What `rate` promises: it knows a hot set after one epoch, follows a change at once, and moves nothing
//! for small differences. What it makes of a recorder's rates: `posterior.rs`.

use pagetide_policy::{AccessHistory, Decider, EpochView, Now, Policy, PolicySpec, PriorityOrder};
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
        let view = EpochView {
            heat: &heat,
            history,
            length_s: 5.0,
            free_moves: false,
            one_unit_in: 1,
            oracle,
            placement,
        };
        policy.rank(&view, &mut keys);
        order.rank(&keys);
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

/// How many of ten units are fast in the epoch in which they are born, each time that the ten before have turned cold;
/// 30 of some hundred units fit, of which 40 others are warm. The newborn are accessed `rate` times a second. And how many of
/// those that are born last, at which nobody looks, are fast after the decision at the end of that epoch.
fn fast_at_birth(rate: f32) -> (Vec<usize>, usize) {
    let Ok(spec) = "rate".parse::<PolicySpec>() else { panic!() };
    let mut decider = Decider::new(&spec);
    let capacity = Bytes::kib(4 * 30);
    let (mut born_fast, mut stay) = (Vec::new(), 0);
    for epoch in 0..5_u32 {
        let mut heat = heat(&[vec![100.0; 40], vec![1.0; 60]].concat());
        for unit in 100..110 + 10 * epoch {
            let newborn = unit >= 100 + 10 * epoch;
            let (unit, node) = (UnitId(unit), NodeId(0));
            let seen = HeatFlags::SAMPLED | HeatFlags::ACCESSED;
            let flags = if newborn && epoch == 4 { HeatFlags::default() } else { seen };
            let rate = if newborn { rate } else { 1.0 };
            heat.push(HeatRow { unit, rate, flags, pages: 1, watched: 1, touched: 1, node });
        }
        decider.arrive(&heat);
        let fast = decider.fast(&heat, capacity);
        let last = |fast: &[bool]| fast[heat.len() - 10..].iter().filter(|fast| **fast).count();
        born_fast.push(last(&fast));
        let (fast, movable, next) = (&fast[..], None, None);
        let now = Now { length_s: 5.0, free_moves: false, capacity, fast, movable, next };
        decider.decide(&heat, &now);
        stay = last(&decider.fast(&heat, capacity));
    }
    (born_fast, stay)
}

#[test]
fn what_is_born_is_fast_where_what_was_born_before_it_was_worth_that() {
    // What was there in the first epoch was not born in it.
    assert_eq!(fast_at_birth(1000.0), (vec![0, 0, 10, 10, 10], 10));
    assert_eq!(fast_at_birth(0.5), (vec![0; 5], 0), "seldom accessed");
    assert_eq!(
        fast_at_birth(12.8),
        (vec![0; 5], 0),
        "a log: 64 lines a page in 5 s, and never again"
    );
}

#[test]
fn a_hot_set_is_found_after_one_epoch() {
    for ratio in [4.0, 100.0] {
        let hot = |unit: usize| unit % 4 == 1;
        let sets = fast_sets("rate", 6, |_, unit| if hot(unit) { 500.0 } else { 500.0 / ratio });
        assert!(sets.iter().all(|set| found(set, hot) == UNITS / 4), "{ratio}");
        assert_eq!(promoted(&sets)[1..], [0; 5], "and nothing else moves");
    }
}

#[test]
fn a_change_of_phase_is_followed_by_the_decision_that_saw_it() {
    let hot = |epoch: usize, unit: usize| (unit % 4 == 1) == (epoch < 15) && unit % 2 == 1;
    let sets = fast_sets("rate", 30, |epoch, unit| if hot(epoch, unit) { 100.0 } else { 10.0 });
    assert_eq!(found(&sets[14], |unit| hot(14, unit)), UNITS / 4);
    assert_eq!(found(&sets[15], |unit| hot(15, unit)), UNITS / 4);
    let moves = promoted(&sets);
    assert!(moves[15..].iter().sum::<usize>() <= UNITS / 4, "{moves:?}");
}

#[test]
fn what_wanders_within_its_band_and_a_quarter_beyond_stays_where_it_is() {
    // Half of the units wander by 10 % up and down around the same rate as the others have.
    for rate in [3.0, 1e3, 7e5] {
        let wander = |epoch: usize, unit: usize| {
            let up = if (epoch + unit).is_multiple_of(2) { 1.1 } else { 1.0 / 1.1 };
            rate * if unit.is_multiple_of(2) { up } else { 1.0 }
        };
        let moves = promoted(&fast_sets("rate", 20, wander));
        assert!(moves[2..].iter().all(|moves| *moves == 0), "{rate}: {moves:?}");
        let naive = promoted(&fast_sets("rate:steps=256", 20, wander));
        assert!(naive[2..].iter().sum::<usize>() > UNITS, "{rate}: {naive:?}");
    }
}

#[test]
fn it_decides_every_two_seconds_at_most_once_it_has_begun() {
    // In epochs of 5 s every one decides; a longer interval waits.
    let swap =
        |epoch: usize, unit: usize| if unit.is_multiple_of(2) == (epoch < 7) { 100.0 } else { 1.0 };
    let first_move =
        |spec: &str| promoted(&fast_sets(spec, 20, swap))[1..].iter().position(|moves| *moves > 0);
    assert_eq!(first_move("rate"), Some(6));
    assert_eq!(first_move("rate:interval=25"), Some(8), "at the end of the tenth epoch");
}
