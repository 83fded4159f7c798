//! Where the units that moved lately were before: for what their moves bring, and whether that lasts.

use crate::cost_benefit::LONGEST;
use pagetide_types::UnitId;
use std::collections::VecDeque;

/// The moves of a process since the last epoch that ended at least so many seconds ago, and what older ones cost.
#[derive(Clone, Debug)]
pub(crate) struct RecentMoves {
    recent_s: f64,
    /// Ends of epochs, [`LONGEST`] times as far back; moves follow them.
    ends: VecDeque<End>,
    moves: VecDeque<Move>,
}

#[derive(Clone, Copy, Debug)]
struct End {
    at_s: f64,
    /// What all moves until then took, seconds.
    moving_s: f64,
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

    /// An epoch ended, until which moves took so long; of units that are gone nothing is kept.
    pub(crate) fn end_epoch(&mut self, now_s: f64, moving_s: f64, lives: impl Fn(UnitId) -> bool) {
        self.ends.push_back(End { at_s: now_s, moving_s });
        let longest_s = LONGEST * self.recent_s;
        while self.ends.get(1).is_some_and(|end| now_s - end.at_s >= longest_s) {
            self.ends.pop_front();
        }
        let from_s = self.from().map_or(now_s, |end| end.at_s);
        self.moves.retain(|moved| moved.at_s >= from_s && lives(moved.unit));
    }

    /// Moves that follow it are recent.
    fn from(&self) -> Option<End> {
        let now_s = self.ends.back()?.at_s;
        let old = |end: &&End| now_s - end.at_s >= self.recent_s;
        self.ends.iter().rev().find(old).or(self.ends.front()).copied()
    }

    /// A unit moved after the epoch that ended last.
    pub(crate) fn moved(&mut self, unit: UnitId, up: bool) {
        if let Some(now) = self.ends.back() {
            self.moves.push_back(Move { at_s: now.at_s, unit, up });
        }
    }

    /// The units that moved, and whether each was fast before a move, its first one last.
    pub(crate) fn were_fast(&self) -> impl Iterator<Item = (UnitId, bool)> {
        self.moves.iter().rev().map(|moved| (moved.unit, !moved.up))
    }

    /// Whether what moved then is no more recent, but was so [`LONGEST`] times as long ago at most.
    pub(crate) fn is_older(&self, at_s: f64) -> bool {
        let recent = self.from().is_none_or(|from| at_s >= from.at_s);
        !recent && self.ends.front().is_some_and(|first| at_s >= first.at_s)
    }

    /// The part of what moves bring that older ones, for what they cost, do not bring any more: 0 if what goes up
    /// stays hot for as long as is remembered, or nothing older is; 1 if it does not outlast what is recent. `gained`,
    /// `older`: what the recent ones and the older ones bring now.
    pub(crate) fn fading(&self, gained: f64, older: f64) -> f64 {
        let ends = (self.ends.back(), self.from(), self.ends.front());
        let (Some(now), Some(from), Some(first)) = ends else { return 0.0 };
        let (recent_s, older_s) = (now.moving_s - from.moving_s, from.moving_s - first.moving_s);
        if recent_s <= 0.0 || older_s <= 0.0 || gained <= 0.0 {
            return 0.0;
        }
        1.0 - (older / older_s / (gained / recent_s)).clamp(0.0, 1.0)
    }

    /// How much of a moving average over what is recent an epoch is.
    pub(crate) fn weight(&self, length_s: f64) -> f64 {
        if self.recent_s > 0.0 { (length_s / self.recent_s).min(1.0) } else { 1.0 }
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
            moves.end_epoch(*now_s, 0.0, |_| true);
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
        moves.end_epoch(1.0, 0.0, |_| true);
        moves.moved(UNIT, true);
        moves.end_epoch(2.0, 0.0, |_| false);
        assert_eq!(was_fast(&moves), None);
    }

    /// A unit goes up after each second, for 1 s of moving, and is hot for so many: what of it fades in the end.
    fn fades(hot_s: f64) -> f64 {
        let mut moves = RecentMoves::new(60.0);
        let mut faded = 0.0;
        for second in 1..=600 {
            let now_s = f64::from(second);
            moves.end_epoch(now_s, now_s - 1.0, |_| true);
            // Those that went up and are hot still: what went up at 0 s is of the oldest.
            let hot = |from_s: f64, to_s: f64| (to_s.min(hot_s) - from_s.min(hot_s)).max(0.0);
            faded = moves.fading(hot(0.0, 60.0), hot(60.0, 300.0));
            moves.moved(UNIT, true);
        }
        faded
    }

    #[test]
    fn what_outlasts_the_recent_does_not_fade_and_what_is_hot_for_less_does() {
        assert_eq!([40.0, 60.0, 90.0, 300.0, 900.0].map(fades), [1.0, 1.0, 0.875, 0.0, 0.0]);
    }

    #[test]
    fn without_older_moves_nothing_is_known_to_fade() {
        let mut moves = RecentMoves::new(60.0);
        for second in 1..=600 {
            moves.end_epoch(f64::from(second), if second > 590 { 1.0 } else { 0.0 }, |_| true);
        }
        assert_eq!(moves.fading(1.0, 0.0), 0.0);
        assert!(moves.is_older(539.0) && moves.is_older(300.0));
        assert!(!moves.is_older(540.0) && !moves.is_older(299.0));
    }
}
