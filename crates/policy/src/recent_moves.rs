//! Where the units that moved lately were before: for what their moves bring.

use pagetide_types::UnitId;
use std::collections::VecDeque;

/// The moves of a process since the last epoch that ended at least so many seconds ago.
#[derive(Clone, Debug)]
pub(crate) struct RecentMoves {
    recent_s: f64,
    /// Ends of epochs; moves follow them.
    ends: VecDeque<f64>,
    moves: VecDeque<Move>,
}

#[derive(Clone, Copy, Debug)]
struct Move {
    at_s: f64,
    unit: UnitId,
    up: bool,
}

impl RecentMoves {
    pub(crate) fn new(recent_s: f64) -> Self {
        Self { recent_s, ends: VecDeque::new(), moves: VecDeque::new() }
    }

    /// An epoch ended; of units that are gone nothing is kept.
    pub(crate) fn end_epoch(&mut self, now_s: f64, lives: impl Fn(UnitId) -> bool) {
        self.ends.push_back(now_s);
        while self.ends.get(1).is_some_and(|end| now_s - end >= self.recent_s) {
            self.ends.pop_front();
        }
        let from_s = self.ends.front().copied().unwrap_or(now_s);
        self.moves.retain(|moved| moved.at_s >= from_s && lives(moved.unit));
    }

    /// A unit moved after the epoch that ended last.
    pub(crate) fn moved(&mut self, unit: UnitId, up: bool) {
        if let Some(now_s) = self.ends.back() {
            self.moves.push_back(Move { at_s: *now_s, unit, up });
        }
    }

    /// The units that moved, and whether each was fast before a move, its first one last.
    pub(crate) fn were_fast(&self) -> impl Iterator<Item = (UnitId, bool)> {
        self.moves.iter().rev().map(|moved| (moved.unit, !moved.up))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNIT: UnitId = UnitId(7);

    /// A unit that goes up at 5 s and down at 10 s.
    fn up_and_down(recent_s: f64, until_s: &[f64]) -> Option<bool> {
        let mut moves = RecentMoves::new(recent_s);
        for now_s in until_s {
            moves.end_epoch(*now_s, |_| true);
            if *now_s == 5.0 || *now_s == 10.0 {
                moves.moved(UNIT, *now_s == 5.0);
            }
        }
        was_fast(&moves)
    }

    fn was_fast(moves: &RecentMoves) -> Option<bool> {
        moves.were_fast().map(|(_, fast)| fast).last()
    }

    #[test]
    fn where_a_unit_was_is_where_it_was_before_its_first_recent_move() {
        assert_eq!(up_and_down(10.0, &[5.0]), Some(false));
        assert_eq!(up_and_down(10.0, &[5.0, 10.0, 15.0]), Some(false));
        assert_eq!(up_and_down(10.0, &[5.0, 10.0, 15.0, 20.0]), Some(true));
        assert_eq!(up_and_down(10.0, &[5.0, 10.0, 15.0, 20.0, 25.0]), None);
    }

    #[test]
    fn moves_after_an_epoch_are_recent_at_the_end_of_the_next_however_long_it_is() {
        assert_eq!(up_and_down(1.0, &[5.0, 600.0]), Some(false));
    }

    #[test]
    fn a_unit_that_dies_has_not_moved() {
        let mut moves = RecentMoves::new(10.0);
        moves.end_epoch(1.0, |_| true);
        moves.moved(UNIT, true);
        moves.end_epoch(2.0, |_| false);
        assert_eq!(was_fast(&moves), None);
    }
}
