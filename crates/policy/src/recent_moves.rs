//! Where the units that moved lately were before: for what their moves bring, and whether that lasts.

use crate::cost_benefit::LONGEST;
use pagetide_types::UnitId;
use std::collections::VecDeque;

/// The moves of a process since the last epoch that ended at least so many seconds ago, and how much moved before that.
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
    /// Bytes that had moved until then.
    moved: f64,
}

#[derive(Clone, Copy, Debug)]
struct Move {
    at_s: f64,
    unit: UnitId,
    up: bool,
}

/// The moves before the recent ones.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Older {
    /// They were made from here on, and until there; seconds.
    pub(crate) from_s: f64,
    pub(crate) to_s: f64,
    /// Bytes of them, and of the recent ones.
    pub(crate) moved: f64,
    pub(crate) recent: f64,
}

impl RecentMoves {
    pub(crate) fn new(recent_s: f64) -> Self {
        Self { recent_s, ends: VecDeque::new(), moves: VecDeque::new() }
    }

    /// An epoch ended, until which so many bytes had moved; of units that are gone nothing is kept.
    pub(crate) fn end_epoch(&mut self, now_s: f64, moved: f64, lives: impl Fn(UnitId) -> bool) {
        self.ends.push_back(End { at_s: now_s, moved });
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

    /// Nothing that moved so far counts as recent any more.
    pub(crate) fn forget(&mut self) {
        self.moves.clear();
    }

    /// The units that moved, and whether each was fast before a move, its first one last.
    pub(crate) fn were_fast(&self) -> impl Iterator<Item = (UnitId, bool)> {
        self.moves.iter().rev().map(|moved| (moved.unit, !moved.up))
    }

    /// What moved before what is recent, up to [`LONGEST`] times as long ago, but not before `since_s`; none if that is no time.
    pub(crate) fn older(&self, since_s: f64) -> Option<Older> {
        let (now, to) = (self.ends.back()?, self.from()?);
        let from = self.ends.iter().find(|end| end.at_s >= since_s)?;
        let older = Older {
            from_s: from.at_s,
            to_s: to.at_s,
            moved: to.moved - from.moved,
            recent: now.moved - to.moved,
        };
        (self.recent_s > 0.0 && from.at_s < to.at_s).then_some(older)
    }

    /// How much of a moving average over what is recent an epoch is.
    pub(crate) fn weight(&self, length_s: f64) -> f64 {
        (length_s / self.recent_s.max(1e-9)).min(1.0)
    }
}

/// Whether what moves bring lasts: moving averages of the last minute or so.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Lasting {
    /// What recent moves and older ones bring now, seconds a second, and bytes of either.
    recent: (f64, f64),
    older: (f64, f64),
}

impl Lasting {
    /// Takes in what recent and older ones bring now.
    pub(crate) fn look(&mut self, moves: &Older, brings: (f64, f64), weight: f64) {
        let average = |old: &mut f64, now: f64| *old += weight * (now - *old);
        average(&mut self.recent.0, brings.0);
        average(&mut self.recent.1, moves.recent);
        average(&mut self.older.0, brings.1);
        average(&mut self.older.1, moves.moved);
    }

    /// The part of what moves bring that older ones, for as much as moved, do not bring any more: 0 if what goes up stays hot
    /// for as long as is remembered, 1 if it does not outlast what is recent. None where nothing is known of it.
    pub(crate) fn fading(&self) -> Option<f64> {
        let all = [self.recent.0, self.recent.1, self.older.1];
        let known = all.iter().all(|of| *of > 0.0);
        let each = |of: (f64, f64)| of.0 / of.1;
        known.then(|| 1.0 - (each(self.older) / each(self.recent)).clamp(0.0, 1.0))
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

    /// A unit goes up after each second, and is hot for so many: what of it fades in the end.
    fn fades(hot_s: f64) -> Option<f64> {
        let mut moves = RecentMoves::new(60.0);
        let mut lasting = Lasting::default();
        for second in 1..=600 {
            let now_s = f64::from(second);
            moves.end_epoch(now_s, now_s, |_| true);
            // Those that went up and are hot still: what went up at 0 s is of the oldest.
            let hot = |from_s: f64, to_s: f64| (to_s.min(hot_s) - from_s.min(hot_s)).max(0.0);
            if let Some(older) = moves.older(300.0) {
                assert!(older.from_s >= 300.0 && older.to_s == now_s - 60.0, "{older:?}");
                let is_long_ago = (now_s - older.from_s).min(300.0);
                lasting.look(&older, (hot(0.0, 60.0), hot(60.0, is_long_ago)), 1.0);
            }
            moves.moved(UNIT, true);
        }
        lasting.fading()
    }

    #[test]
    fn what_outlasts_the_recent_does_not_fade_and_what_is_hot_for_less_does() {
        let found = [40.0, 60.0, 90.0, 300.0, 900.0].map(fades);
        assert_eq!(found, [1.0, 1.0, 0.875, 0.0, 0.0].map(Some));
    }

    #[test]
    fn without_older_moves_nothing_is_known_to_fade() {
        let mut moves = RecentMoves::new(60.0);
        for second in 1..=600 {
            moves.end_epoch(f64::from(second), if second > 590 { 1.0 } else { 0.0 }, |_| true);
        }
        let mut lasting = Lasting::default();
        let older = moves.older(0.0).unwrap();
        assert_eq!((older.from_s, older.to_s), (300.0, 540.0));
        lasting.look(&older, (1.0, 0.0), 1.0);
        assert_eq!(lasting.fading(), None);
        assert_eq!(moves.older(540.0), None, "it has been the same for no longer than is recent");
        assert_eq!(RecentMoves::new(60.0).older(0.0), None);
    }
}
