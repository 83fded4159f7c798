//! Slow memory that is about to be taken away ("a cap on the slow tier"): what the target has there beyond what stays has to
//! go up, and goes the hottest first, as far as there is room, whether it would pay otherwise or not. What is left is the
//! coldest, which is the kernel's to move or that of whoever takes the memory away.

use crate::place::Layout;
use pagetide_policy::Chosen;
use pagetide_types::{Bytes, EpochHeat, NodeId};

/// Memory that is about to leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Leaving {
    /// Tells announcements apart.
    pub number: u64,
    /// The node that it is of.
    pub node: NodeId,
    /// So much of it.
    pub bytes: Bytes,
}

/// What limits those that go up.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Of the node, what is free.
    pub(crate) free: Bytes,
    /// Fast memory that the target may have, and what it holds of it before what was chosen moves.
    pub(crate) room: f64,
    /// Bytes that may move beside what was chosen.
    pub(crate) left: f64,
}

/// What goes up for it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct GoesUp {
    /// Rows, the most wanted first.
    pub(crate) rows: Vec<usize>,
    /// There was room for more, which goes with a later decision: no more may move now.
    pub(crate) later: bool,
}

impl Leaving {
    /// Of the rows in an `order`, those that go up beside what was chosen, if they may move: what the target has of the
    /// node, as far as it does not fit into what stays.
    pub(crate) fn goes_up(
        &self,
        order: &[usize],
        may: impl Fn(usize) -> bool,
        (heat, layout): (&EpochHeat, &Layout),
        chosen: &Chosen,
        limits: Limits,
    ) -> GoesUp {
        let here =
            |row: usize| heat.bytes(row).as_f64() * layout.part(row, |node| node == self.node);
        let slow = |row: usize| heat.bytes(row).as_f64() * (1.0 - layout.fast_part(row));
        let fast = |row: usize| heat.bytes(row).as_f64() * layout.fast_part(row);
        let mut moves = vec![false; heat.len()];
        chosen.promote.iter().chain(&chosen.demote).for_each(|row| moves[*row] = true);
        let up: f64 = chosen.promote.iter().map(|row| here(*row)).sum();
        let taken: f64 = chosen.promote.iter().map(|row| slow(*row)).sum();
        let made: f64 = chosen.demote.iter().map(|row| fast(*row)).sum();
        // What goes down may go there.
        let mut beyond = self.bytes.as_f64() - limits.free.as_f64() - up + made;
        let (mut room, mut left) = (limits.room - taken + made, limits.left);
        let mut goes = GoesUp::default();
        for row in order.iter().copied() {
            if moves[row] || here(row) <= 0.0 || !may(row) {
                continue;
            }
            if beyond <= 0.0 || slow(row) > room {
                break;
            }
            if slow(row) > left {
                goes.later = true;
                break;
            }
            beyond -= here(row);
            room -= slow(row);
            left -= slow(row);
            goes.rows.push(row);
        }
        goes
    }
}

#[cfg(test)]
#[path = "leaving_tests.rs"]
mod tests;
