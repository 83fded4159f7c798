//! What limits a policy from outside, once for all: the tenant's fast memory and what it holds of
//! it, bytes per decision, and moves that would cost more than they bring. (What cannot be moved
//! is known to the [`Decider`] before.)
//!
//! Moves are taken in the order of want. A demotion is made only for room that is needed: what
//! else a policy would have elsewhere stays where it is until then.

use crate::priority_order::RowOf;
use crate::{CostBenefit, Decider, Moves};
use pagetide_types::{Bytes, EpochHeat, UnitId};

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
    let rows = RowOf::of(heat);
    let mut direction = vec![Direction::Stay; heat.len()];
    let mut goes = |unit: &UnitId, to| {
        if let Some(row) = rows.row(*unit) {
            direction[row] = to;
        }
    };
    for (up, down) in &moves.exchange {
        goes(up, Direction::Up);
        goes(down, Direction::Down);
    }
    moves.promote.iter().for_each(|unit| goes(unit, Direction::Up));
    moves.demote.iter().for_each(|unit| goes(unit, Direction::Down));
    let (mut ups, mut downs) = (Vec::new(), Vec::new());
    for row in decider.rows() {
        match direction[row] {
            Direction::Up => ups.push(row),
            Direction::Down => downs.push(row),
            Direction::Stay => {}
        }
    }
    downs.reverse();
    let mut gives_way = vec![false; heat.len()];
    if let Some(birth) = decider.birth().filter(|_| limits.for_births.0 > 0) {
        for row in decider.behind_births() {
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
    // The demotions that make room for one.
    let mut making = Vec::new();
    for (at, up) in ups.iter().copied().enumerate() {
        let mut ahead = downs.clone();
        making.clear();
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
        chosen.demote.extend(&making);
    }
    chosen
}

#[cfg(test)]
#[path = "limit_tests.rs"]
mod tests;
