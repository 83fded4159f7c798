//! From placement to moves: what must be promoted, demoted or exchanged so that what is wanted
//! becomes what is. Once for all policies; replay counts these moves, the live loop makes them.

use crate::PriorityOrder;
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
/// order of `order`, in which `heat` arrived last.
///
/// A promotion is paired with the least wanted demotion of the same size where there is one:
/// an exchange needs no free memory on either side (Nimble, section 3.1.4).
#[must_use]
pub fn moves(order: &PriorityOrder, heat: &EpochHeat, now: &[bool], wanted: &[bool]) -> Moves {
    let leaves = |row: &usize| now[*row] && !wanted[*row];
    let enters = |row: &usize| !now[*row] && wanted[*row];

    let leaving: Vec<usize> = order.rows().filter(leaves).collect();
    // By size, the least wanted last, ready to be popped.
    let mut by_size: BTreeMap<u16, Vec<usize>> = BTreeMap::new();
    for row in &leaving {
        by_size.entry(heat.pages[*row]).or_default().push(*row);
    }
    let mut moves = Moves::default();
    let mut exchanged = vec![false; heat.len()];
    for row in order.rows().filter(enters) {
        match by_size.get_mut(&heat.pages[row]).and_then(Vec::pop) {
            Some(other) => {
                exchanged[other] = true;
                moves.exchange.push((heat.unit[row], heat.unit[other]));
            }
            None => moves.promote.push(heat.unit[row]),
        }
    }
    let alone = leaving.iter().rev().filter(|row| !exchanged[**row]);
    moves.demote = alone.map(|row| heat.unit[*row]).collect();
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
        order.rank(&[2, 3, 4, 5, 1, 0]);
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
