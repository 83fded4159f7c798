//! What limits a policy from outside, once for all: the tenant's fast memory and what it holds of
//! it, bytes per decision, and moves that would cost more than they bring. (What cannot be moved
//! is known to the [`Decider`] before.)
//!
//! Moves are taken in the order of want. A demotion is made only for room that is needed: what
//! else a policy would have elsewhere stays where it is until then.

use crate::priority_order::rows;
use crate::{Decider, Moves};
use pagetide_types::{Bytes, EpochHeat, HeatFlags, UnitId};

/// What a move costs and brings.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CostBenefit {
    /// By how much an access to fast memory is faster, ns.
    pub gain_ns: f64,
    /// For how long an access keeps the slow tier's channel from others, ns; 0 where that is not known, and nobody
    /// waits for it (see channel.rs).
    pub channel_ns: f64,
    /// What moving a base page takes, us.
    pub base_us: f64,
    /// What moving a huge page takes, us.
    pub huge_us: f64,
    /// The time in which a move must have brought what it cost, seconds, of a program that is new (see
    /// [`Self::at_age`]); 0: whatever is wanted moves.
    pub within_s: f64,
}

/// What has lasted is taken to last as long again; for so many times the usual time to pay at most.
pub(crate) const LONGEST: f64 = 5.0;

impl CostBenefit {
    /// What holds where the same has been watched for so many seconds: moves have the longer to pay, the longer a program
    /// has been what it is (the ages of what lasts by a power law: Lindy's effect).
    #[must_use]
    pub fn at_age(&self, age_s: f64) -> Self {
        let most_s = LONGEST * self.within_s;
        Self { within_s: age_s.min(most_s).max(self.within_s), ..*self }
    }

    /// How often a second a base page must be accessed so that its move, and that of another one which makes room
    /// for it, pay; 0 where every one does.
    #[must_use]
    pub fn pays_from(&self) -> f64 {
        if self.within_s <= 0.0 {
            return 0.0;
        }
        2.0 * self.base_us * 1e-6 / (self.gain_ns * 1e-9 * self.within_s)
    }

    /// Seconds a second by which so many accesses a second wait longer in slow memory.
    pub(crate) fn waits(&self, accesses_per_s: f64) -> f64 {
        accesses_per_s * self.gain_ns * 1e-9
    }

    /// What moving so much takes, seconds.
    pub(crate) fn moving(&self, huge: bool, bytes: Bytes) -> f64 {
        let pages = bytes.as_f64() / 4096.0;
        let page_us = if huge { self.huge_us / 512.0 } else { self.base_us };
        page_us * 1e-6 * pages
    }

    /// What a unit's being fast brings in the time, seconds.
    fn gain(&self, heat: &EpochHeat, row: usize) -> f64 {
        self.waits(f64::from(heat.rate[row])) * self.within_s
    }

    /// What it brings at least.
    fn sure_gain(&self, heat: &EpochHeat, row: usize) -> f64 {
        self.waits(f64::from(heat.least_rate(row))) * self.within_s
    }

    /// Whether its being fast brings more than moving it takes.
    fn is_worth_its_place(&self, heat: &EpochHeat, row: usize) -> bool {
        self.within_s > 0.0 && self.gain(heat, row) > self.cost(heat, row)
    }

    /// Whether what will be born, with so many accesses a second and page, is expected to bring so much more in its
    /// place that moving it down pays.
    fn gives_way(&self, heat: &EpochHeat, row: usize, birth_rate: f64) -> bool {
        let born = self.waits(birth_rate * f64::from(heat.pages[row])) * self.within_s;
        born - self.gain(heat, row) > self.cost(heat, row)
    }

    /// What moving it takes, seconds.
    fn cost(&self, heat: &EpochHeat, row: usize) -> f64 {
        self.moving(heat.flags[row].has(HeatFlags::HUGE), heat.bytes(row))
    }
}

/// The limits of one decision.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Fast memory that the tenant is to have.
    pub capacity: Bytes,
    /// What it may have rather than give back what is worth its place; at least the capacity.
    pub most: Bytes,
    /// What it has.
    pub used: Bytes,
    /// Bytes that may move, either way.
    pub move_budget: Bytes,
    /// So much is to be made free for what will be born ([`crate::RankPolicy::birth`]), also of what is worth its place.
    pub for_births: Bytes,
    /// What a move costs and brings; every promotion pays, if nothing is known of it.
    pub cost_benefit: Option<CostBenefit>,
}

/// Moves within the limits, as rows of the heat.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chosen {
    /// To fast memory, the most wanted first.
    pub promote: Vec<usize>,
    /// To slow memory, the least wanted first.
    pub demote: Vec<usize>,
    /// Of these, those that only go for what will be born.
    pub for_births: Vec<usize>,
    /// What it keeps beyond the capacity.
    pub beyond: Bytes,
    /// Promotions that would not bring what they cost.
    pub unprofitable: usize,
    /// Promotions for which there was no room, no movable unit to make some, or that were over
    /// the bytes of this decision.
    pub without_room: usize,
}

impl Chosen {
    /// Leaves the least wanted promotions for later, so that at most so much goes up; how many. What was to make room
    /// for them goes down all the same.
    pub fn hold_back(&mut self, heat: &EpochHeat, most: Bytes) -> usize {
        let mut bytes = 0_u64;
        let fits = self.promote.iter().take_while(|row| {
            bytes = bytes.saturating_add(heat.bytes(**row).0);
            bytes <= most.0
        });
        let later = self.promote.split_off(fits.count());
        later.len()
    }
}

/// The part of `moves`, which `decider` just decided on, that keeps to the limits. Rows that stand still go down for the
/// budget, but not for what will be born.
#[must_use]
pub fn apply_limits(
    decider: &Decider,
    moves: &Moves,
    heat: &EpochHeat,
    stands_still: impl Fn(usize) -> bool,
    limits: &Limits,
) -> Chosen {
    let rows = rows(heat);
    let row = |unit: &UnitId| rows[unit.index()] as usize;
    let mut direction = vec![Direction::Stay; heat.len()];
    for (up, down) in &moves.exchange {
        (direction[row(up)], direction[row(down)]) = (Direction::Up, Direction::Down);
    }
    moves.promote.iter().for_each(|unit| direction[row(unit)] = Direction::Up);
    moves.demote.iter().for_each(|unit| direction[row(unit)] = Direction::Down);
    let rows_to = |which: Direction| {
        let order = decider.units().map(|unit| row(&unit));
        order.filter(|row| direction[*row] == which).collect::<Vec<_>>()
    };
    let (ups, mut downs) = (rows_to(Direction::Up), rows_to(Direction::Down));
    downs.reverse();
    let mut gives_way = vec![false; heat.len()];
    if let Some(birth) = decider.birth().filter(|_| limits.for_births.0 > 0) {
        for row in decider.behind_births().map(|unit| row(&unit)) {
            gives_way[row] = !stands_still(row)
                && limits.cost_benefit.is_none_or(|terms| terms.gives_way(heat, row, birth.rate));
        }
    }
    choose(&ups, &downs, &gives_way, heat, limits)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    Stay,
    Up,
    Down,
}

fn choose(
    ups: &[usize],
    downs: &[usize],
    gives_way: &[bool],
    heat: &EpochHeat,
    limits: &Limits,
) -> Chosen {
    let bytes = |row: usize| i128::from(heat.bytes(row).0);
    let mut chosen = Chosen::default();
    let mut room = i128::from(limits.capacity.0) - i128::from(limits.used.0);
    let mut left = i128::from(limits.move_budget.0);
    // More is used than should be: that comes first. Beyond `most` whatever it costs, else what is not worth it, or
    // less than what will be born.
    let mut over = i128::from(limits.used.0) - i128::from(limits.most.0);
    let worth =
        |row: usize| limits.cost_benefit.is_some_and(|terms| terms.is_worth_its_place(heat, row));
    let mut for_births = i128::from(limits.for_births.0);
    let mut stay = Vec::new();
    for row in downs.iter().copied() {
        let goes = over > 0 || !worth(row);
        let for_birth = !goes && for_births > 0 && gives_way[row];
        if room < 0 && bytes(row) <= left && (goes || for_birth) {
            room += bytes(row);
            over -= bytes(row);
            left -= bytes(row);
            for_births -= bytes(row);
            chosen.demote.push(row);
            chosen.for_births.extend(for_birth.then_some(row));
        } else {
            stay.push(row);
        }
    }
    // A copy of it costs nothing, and each promotion takes one.
    let mut downs = stay.iter().copied();
    if room < 0 {
        // What is kept is no debt of those that go up.
        let debt = over.max(0);
        chosen.beyond = Bytes(u64::try_from(-room - debt).unwrap_or(0));
        room = -debt;
    }
    for (at, up) in ups.iter().copied().enumerate() {
        // The demotions that make room for it.
        let mut ahead = downs.clone();
        let mut making = Vec::new();
        let mut made = room;
        while made < bytes(up)
            && let Some(row) = ahead.next()
        {
            made += bytes(row);
            making.push(row);
        }
        let moved = bytes(up) + making.iter().map(|row| bytes(*row)).sum::<i128>();
        if made < bytes(up) || moved > left {
            chosen.without_room = ups.len() - at;
            break;
        }
        if let Some(cost_benefit) = limits.cost_benefit.filter(|terms| terms.within_s > 0.0) {
            let lost: f64 = making.iter().map(|row| cost_benefit.gain(heat, *row)).sum();
            let cost: f64 = making.iter().map(|row| cost_benefit.cost(heat, *row)).sum();
            if cost_benefit.sure_gain(heat, up) - lost < cost_benefit.cost(heat, up) + cost {
                chosen.unprofitable += 1;
                continue;
            }
        }
        room = made - bytes(up);
        left -= moved;
        downs = ahead;
        chosen.promote.push(up);
        chosen.demote.extend(making);
    }
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Now, PolicySpec};
    use pagetide_types::{EpochId, HeatRow, NodeId};
    use proptest::collection::vec;
    use proptest::prelude::*;

    const PAGE: u64 = 4096;
    /// 10 us a move, 100 ns an access, and a second to pay.
    const TERMS: CostBenefit = CostBenefit {
        gain_ns: 100.0,
        channel_ns: 0.0,
        base_us: 10.0,
        huge_us: 370.0,
        within_s: 1.0,
    };

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
        decider.reconcile(heat, fast);
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
            decider.reconcile(&heat, &fast);
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
    fn what_is_worth_its_place_goes_for_what_will_be_born_only_where_that_brings_more_than_its_move()
     {
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
    fn an_exchange_of_base_pages_pays_from_some_rate_on() {
        let terms = CostBenefit { within_s: 2.0, ..TERMS };
        assert!((terms.pays_from() - 100.0).abs() < 1e-9, "20 us, and 100 ns for each access");
        assert_eq!(CostBenefit { within_s: 0.0, ..terms }.pays_from(), 0.0, "whatever is wanted");
    }

    #[test]
    fn what_has_lasted_is_taken_to_last_as_long_again() {
        let terms = CostBenefit { within_s: 30.0, ..TERMS };
        let within = |age_s| terms.at_age(age_s).within_s;
        assert_eq!([0.0, 29.0, 100.0, 1e4].map(within), [30.0, 30.0, 100.0, 150.0]);
        assert_eq!(CostBenefit { within_s: 0.0, ..terms }.at_age(1e4).within_s, 0.0);
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
            let mut chosen =
                Chosen { promote: vec![0, 1, 2], demote: vec![7], ..Chosen::default() };
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
}
