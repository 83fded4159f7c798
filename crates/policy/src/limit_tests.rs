//! What keeps to the limits of a decision, by policy `rate`.

use super::*;
use crate::cost_benefit::tests::TERMS;
use crate::{Now, PolicySpec};
use pagetide_types::{EpochId, HeatFlags, HeatRow, NodeId};
use proptest::collection::vec;
use proptest::prelude::*;

const PAGE: u64 = 4096;

/// Units of some pages with their rates.
fn heat(units: &[(u16, f32)]) -> EpochHeat {
    let mut heat = EpochHeat::new(EpochId(0));
    for (unit, (pages, rate)) in (0..).zip(units) {
        heat.push(HeatRow {
            unit: UnitId(unit),
            rate: *rate,
            flags: HeatFlags::SAMPLED | HeatFlags::ACCESSED,
            pages: *pages,
            watched: *pages,
            touched: *pages,
            node: NodeId(0),
        });
    }
    heat
}

fn used(heat: &EpochHeat, fast: &[bool]) -> Bytes {
    (0..heat.len()).filter(|row| fast[*row]).map(|row| heat.bytes(row)).sum()
}

/// What policy rate chooses.
fn chosen(
    heat: &EpochHeat,
    fast: &[bool],
    movable: &[bool],
    (capacity, move_budget): (u64, u64),
    cost_benefit: Option<CostBenefit>,
) -> Chosen {
    within(heat, fast, movable, (capacity, capacity, move_budget), cost_benefit)
}

/// The same, which may keep more than its capacity.
fn within(
    heat: &EpochHeat,
    fast: &[bool],
    movable: &[bool],
    (capacity, most, move_budget): (u64, u64, u64),
    cost_benefit: Option<CostBenefit>,
) -> Chosen {
    let spec: PolicySpec = "rate:steps=256".parse().unwrap();
    let mut decider = Decider::new(&spec);
    decider.arrive(heat);
    decider.reconcile(fast);
    let capacity = Bytes(capacity * PAGE);
    let now = Now {
        length_s: 1.0,
        free_moves: false,
        capacity,
        fast,
        movable: Some(movable),
        next: None,
    };
    let moves = decider.decide(heat, &now);
    let move_budget = Bytes(move_budget * PAGE);
    let used = used(heat, fast);
    let most = Bytes(most * PAGE);
    let for_births = Bytes(0);
    let limits = Limits { capacity, most, used, move_budget, for_births, cost_benefit };
    apply_limits(&decider, &moves, heat, |_| false, &limits)
}

#[test]
fn room_is_made_only_where_it_is_needed() {
    let heat = heat(&[(1, 1.0), (1, 4.0), (1, 64.0), (1, 16.0)]);
    let fast = [true, true, false, false];
    let found = chosen(&heat, &fast, &[true; 4], (3, 99), None);
    assert_eq!((found.promote, found.demote), (vec![2, 3], vec![0]));
    let found = chosen(&heat, &fast, &[true; 4], (4, 99), None);
    assert_eq!((found.promote, found.demote), (vec![2, 3], vec![]));
}

#[test]
fn too_much_is_given_back_the_coldest_first() {
    let heat = heat(&[(1, 1.0), (1, 4.0), (1, 64.0)]);
    let found = chosen(&heat, &[true; 3], &[true; 3], (1, 99), None);
    assert_eq!((found.promote, found.demote), (vec![], vec![0, 1]));
}

/// What goes down for the reserve after an epoch in which a page was born with this rate: of four pages that are
/// fast and worth it, in two epochs.
fn for_births(rate: f32, pages: u64, still: bool) -> Vec<usize> {
    let spec: PolicySpec = "rate:steps=256".parse().unwrap();
    let mut decider = Decider::new(&spec);
    let before = heat(&[(1, 200.0), (1, 500.0), (1, 900.0), (1, 250.0)]);
    let after = heat(&[(1, 200.0), (1, 500.0), (1, 900.0), (1, 250.0), (1, rate)]);
    let (capacity, most) = (Bytes(2 * PAGE), Bytes(9 * PAGE));
    let mut chosen = Chosen::default();
    for heat in [before, after] {
        decider.arrive(&heat);
        let fast = vec![true; heat.len()];
        decider.reconcile(&fast);
        let now = Now {
            length_s: 1.0,
            free_moves: false,
            capacity,
            fast: &fast,
            movable: None,
            next: None,
        };
        let moves = decider.decide(&heat, &now);
        let (used, move_budget) = (used(&heat, &fast), Bytes(99 * PAGE));
        let for_births = Bytes(pages * PAGE);
        let limits =
            Limits { capacity, most, used, move_budget, for_births, cost_benefit: Some(TERMS) };
        chosen = apply_limits(&decider, &moves, &heat, |_| still, &limits);
    }
    chosen.demote.retain(|row| *row < 4);
    chosen.demote
}

#[test]
fn what_is_worth_its_place_goes_for_what_will_be_born_only_where_that_brings_more_than_its_move() {
    // Each is worth its place, and nothing goes for the reserve alone. A move costs 100 accesses; 64 of the newborn's were
    // its first writing.
    let found = |rate| for_births(rate, 9, false);
    let none: [usize; 0] = [];
    assert_eq!(found(64.0), none);
    assert_eq!(found(360.0), none, "296 are less than 200 and a move");
    assert_eq!(found(380.0), [0], "316 are more; 250 are too near");
    assert_eq!(found(5000.0), [0, 3, 1], "until the reserve is there");
    assert_eq!(for_births(5000.0, 1, false), [0], "no more than is to be born");
    assert_eq!(for_births(5000.0, 9, true), none, "its process stands still");
}

#[test]
fn what_is_worth_its_place_is_given_back_only_beyond_what_the_tenant_may_have() {
    let heat = heat(&[(1, 1.0), (1, 200.0), (1, 300.0), (1, 900.0), (1, 100.0)]);
    // 10 us a move, 100 ns an access: 100 accesses pay for one.
    let found = |most: u64, ups: &[usize]| {
        let limits = Limits {
            capacity: Bytes(PAGE),
            most: Bytes(most * PAGE),
            used: Bytes(3 * PAGE),
            move_budget: Bytes(99 * PAGE),
            for_births: Bytes(0),
            cost_benefit: Some(TERMS),
        };
        choose(ups, &[0, 1, 2], &[false; 6], &heat, &limits)
    };
    assert_eq!((found(3, &[]).demote, found(3, &[]).beyond), (vec![0], Bytes(PAGE)));
    assert_eq!((found(1, &[]).demote, found(1, &[]).beyond), (vec![0, 1], Bytes(0)));
    let exchanged = found(3, &[3, 4]);
    assert_eq!(
        (exchanged.promote, exchanged.demote, exchanged.unprofitable),
        (vec![3], vec![0, 1], 1),
        "one for one, and what brings less than it costs stays"
    );
}

#[test]
fn what_cannot_move_is_passed_over() {
    let heat = heat(&[(1, 1.0), (1, 4.0), (1, 64.0), (1, 16.0)]);
    let fast = [true, true, false, false];
    let found = chosen(&heat, &fast, &[false, true, false, true], (2, 99), None);
    assert_eq!((found.promote, found.demote), (vec![3], vec![1]));
}

#[test]
fn a_decision_moves_so_many_bytes_at_most() {
    let heat = heat(&[(1, 1.0), (1, 4.0), (1, 64.0), (1, 16.0)]);
    let fast = [true, true, false, false];
    let found = chosen(&heat, &fast, &[true; 4], (2, 3), None);
    assert_eq!((found.promote, found.demote), (vec![2], vec![0]));
    assert_eq!(found.without_room, 1);
}

#[test]
fn what_may_be_cold_does_not_go_up() {
    let mut heat = heat(&[(1, 1000.0), (1, 900.0)]);
    heat.least = vec![10.0, 800.0];
    let cost_benefit = CostBenefit { within_s: 2.0, ..TERMS };
    let found = chosen(&heat, &[false; 2], &[true; 2], (2, 99), Some(cost_benefit));
    assert_eq!((found.promote, found.unprofitable), (vec![1], 1));
}

#[test]
fn a_move_must_bring_what_it_costs() {
    let heat = heat(&[(1, 1.0), (1, 40.0), (1, 1000.0), (1, 60.0), (1, 0.0)]);
    let fast = [true, false, false, false, false];
    // 10 us a move, 100 ns an access: 100 accesses pay for one.
    let cost_benefit = CostBenefit { within_s: 2.0, ..TERMS };
    let found = chosen(&heat, &fast, &[true; 5], (3, 99), Some(cost_benefit));
    assert_eq!(found.promote, [2, 3]);
    assert_eq!(found.demote, [] as [usize; 0], "there was room");
    let found = chosen(&heat, &fast, &[true; 5], (5, 99), Some(cost_benefit));
    assert_eq!(
        (found.promote, found.unprofitable),
        (vec![2, 3], 2),
        "80 accesses do not, nor none"
    );
    // In exchange for unit 0 a move costs twice and brings less.
    let found = chosen(&heat, &fast, &[true; 5], (1, 99), Some(cost_benefit));
    assert_eq!((found.promote, found.demote), (vec![2], vec![0]));
}

#[test]
fn the_least_wanted_promotions_wait_where_less_may_go_up() {
    let heat = heat(&[(2, 1.0), (3, 1.0), (1, 1.0)]);
    for (most, goes, waits) in [(6, 3, 0), (5, 2, 1), (4, 1, 2), (1, 0, 3)] {
        let mut chosen = Chosen { promote: vec![0, 1, 2], demote: vec![7], ..Chosen::default() };
        assert_eq!(chosen.hold_back(&heat, Bytes(most * PAGE)), waits);
        assert_eq!((chosen.promote.len(), chosen.demote.len()), (goes, 1));
    }
}

proptest! {
    #[test]
    fn never_over_the_limits_and_nothing_twice(
        units in vec((1u16..5, 0.0f32..100.0, any::<bool>(), any::<bool>()), 0..40),
        capacity in 0u64..60,
        more in 0u64..20,
        move_budget in 0u64..60,
        priced in any::<bool>(),
    ) {
        let heat = heat(&units.iter().map(|u| (u.0, u.1)).collect::<Vec<_>>());
        let fast: Vec<bool> = units.iter().map(|u| u.2).collect();
        let movable: Vec<bool> = units.iter().map(|u| u.3).collect();
        let terms = CostBenefit { base_us: 1.0, huge_us: 37.0, within_s: 1.0, ..TERMS };
        let most = capacity + more;
        let limits = (capacity, most, move_budget);
        let found = within(&heat, &fast, &movable, limits, priced.then_some(terms));
        let sum = |rows: &[usize]| rows.iter().map(|row| heat.bytes(*row).0).sum::<u64>();
        let (up, down) = (sum(&found.promote), sum(&found.demote));
        prop_assert!(up + down <= move_budget * PAGE);
        let before = used(&heat, &fast).0;
        // What is used falls to the capacity, or at least does not grow; and what is kept beyond it is told.
        let after = before - down + up;
        prop_assert!(after <= before.max(capacity * PAGE));
        prop_assert!(found.beyond.0 <= more * PAGE);
        if up > 0 {
            prop_assert!(after <= capacity * PAGE + found.beyond.0);
        }
        // For the capacity alone nothing goes that is worth its place.
        let worth = |row: &usize| priced && terms.is_worth_its_place(&heat, *row);
        if before <= most * PAGE && up == 0 {
            prop_assert!(!found.demote.iter().any(worth));
        }
        let mut all = [found.promote.clone(), found.demote.clone()].concat();
        all.sort_unstable();
        let count = all.len();
        all.dedup();
        prop_assert_eq!(all.len(), count);
        prop_assert!(found.promote.iter().all(|row| !fast[*row] && movable[*row]));
        prop_assert!(found.demote.iter().all(|row| fast[*row] && movable[*row]));
    }
}
