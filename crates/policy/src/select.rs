//! From placement to moves: what must be promoted, demoted or exchanged so that what is wanted
//! becomes what is. Once for all policies; replay counts these moves, the live loop makes them.

use crate::PriorityOrder;
use crate::priority_order::rows;
use pagetide_types::{EpochHeat, UnitId};
use std::collections::BTreeMap;

/// What a decision moves. Every unit is named at most once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Moves {
    /// To fast memory, the most wanted first.
    pub promote: Vec<UnitId>,
    /// To slow memory, the least wanted first.
    pub demote: Vec<UnitId>,
    /// Pairs of equal size (promoted, demoted), the most wanted promotion first.
    pub exchange: Vec<(UnitId, UnitId)>,
}

/// The moves from the placement `now` to the placement `wanted` (both per row of `heat`), in the
/// order of `order`, which holds exactly the units of `heat`.
///
/// A promotion is paired with the least wanted demotion of the same size where there is one:
/// an exchange needs no free memory on either side (Nimble, section 3.1.4).
#[must_use]
pub fn moves(order: &PriorityOrder, heat: &EpochHeat, now: &[bool], wanted: &[bool]) -> Moves {
    let rows = rows(heat);
    let row = |unit: &UnitId| rows[unit.index()] as usize;
    let leaves = |unit: &UnitId| now[row(unit)] && !wanted[row(unit)];
    let enters = |unit: &UnitId| !now[row(unit)] && wanted[row(unit)];

    let mut demote: Vec<UnitId> = order.units().rev().filter(leaves).collect();
    // By size, the least wanted last, ready to be popped.
    let mut by_size: BTreeMap<u16, Vec<UnitId>> = BTreeMap::new();
    for unit in demote.iter().rev() {
        by_size.entry(heat.pages[row(unit)]).or_default().push(*unit);
    }
    let mut moves = Moves::default();
    for unit in order.units().filter(enters) {
        match by_size.get_mut(&heat.pages[row(&unit)]).and_then(Vec::pop) {
            Some(other) => moves.exchange.push((unit, other)),
            None => moves.promote.push(unit),
        }
    }
    let mut exchanged = vec![false; heat.len()];
    for (_, unit) in &moves.exchange {
        exchanged[row(unit)] = true;
    }
    demote.retain(|unit| !exchanged[row(unit)]);
    moves.demote = demote;
    moves
}

#[cfg(test)]
mod tests {
    use super::*;
    use pagetide_types::{Bytes, EpochId, HeatFlags, HeatRow, NodeId};

    #[test]
    fn equal_sizes_are_exchanged_and_the_rest_moves_alone() {
        let mut heat = EpochHeat::new(EpochId(0));
        for (unit, pages) in (0..).zip([2, 2, 1, 1, 2, 2]) {
            let (unit, flags, node) = (UnitId(unit), HeatFlags::SAMPLED, NodeId(0));
            heat.push(HeatRow { unit, rate: 0.0, flags, pages, watched: 0, touched: 0, node });
        }
        let mut order = PriorityOrder::new();
        order.arrive(&heat);
        let budget = Bytes::kib(24);
        let now = order.cut(&heat, budget);
        assert_eq!(now, [true, true, true, true, false, false]);
        // Unit 5 is wanted most, then 4, 0, 1, 2, 3: units 5, 4 and 0 fill the budget.
        order.rank(&heat, &[2, 3, 4, 5, 1, 0]);
        let wanted = order.cut(&heat, budget);
        let found = moves(&order, &heat, &now, &wanted);
        assert_eq!(
            found,
            Moves {
                promote: vec![UnitId(4)],
                demote: vec![UnitId(3), UnitId(2)],
                exchange: vec![(UnitId(5), UnitId(1))],
            }
        );
        assert_eq!(moves(&order, &heat, &wanted, &wanted), Moves::default());
    }
}
