//! Whether a stopped process loses what it accesses in fast memory, slowly or together with other memory. Ours.
//!
//! What it accesses there is held against its first mean ([`super::access_change`] holds it against a mean that follows), less
//! what may have left without any change of its accesses: all that went down for room, and of what left otherwise (it was
//! freed, or others moved it) the part that was accessed of all. Two fifths fewer than that are a change.

use super::Entries;
use super::access_change::{ChangeRule, Changed, PAUSE};
use super::level::Level;
use std::collections::VecDeque;

/// So many times the share that is a change at once.
const LOST: f64 = 2.0;

/// What a process has of fast memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InFast {
    /// Entries, accessed or not.
    pub(crate) entries: Entries,
    /// As many as were moved so far.
    pub(crate) moved: f64,
}

/// See the module.
#[derive(Clone, Debug, Default)]
pub(crate) struct Loss {
    first: Option<First>,
    /// The last counts, as many as a mean is made of, and how many of them are still to come before the first mean is taken
    /// anew; none: it is not.
    counts: VecDeque<Entries>,
    anew_in: Option<usize>,
    /// Counts in a row that were far below it, and such of a pause.
    below: u32,
    paused: usize,
}

#[derive(Clone, Copy, Debug)]
struct First {
    level: Level,
    then: InFast,
}

impl First {
    /// What is to be left of it.
    fn left(&self, now: &InFast) -> Level {
        let went_down = now.moved - self.then.moved;
        let others = self.then.entries.count - went_down;
        let stayed = if others > 0.0 { (now.entries.count / others).min(1.0) } else { 1.0 };
        self.level.with(((self.level.count - went_down) * stayed).max(0.0))
    }
}

impl Loss {
    /// It has other memory in fast memory than before: the first mean is taken anew, unless fewer are accessed then than should
    /// be left.
    pub(crate) fn anew(&mut self, rule: &ChangeRule) {
        self.anew_in = Some(rule.window());
    }

    /// Takes in a count of entries accessed in fast memory, of which it has `now`.
    pub(crate) fn take(
        &mut self,
        rule: &ChangeRule,
        accessed: &Entries,
        now: InFast,
    ) -> Option<Changed> {
        if self.counts.len() == rule.window() && (self.first.is_none() || self.anew_in == Some(0)) {
            let level = Level::of(self.counts.make_contiguous());
            let least = self.first.map_or(0.0, |first| first.left(&now).count);
            if level.count >= least {
                self.first = Some(First { level, then: now });
            }
            self.anew_in = None;
        }
        let left = self.first.map(|first| first.left(&now));
        if left.is_some_and(|left| left.pauses(accessed)) {
            (self.paused, self.below) = (self.paused + 1, 0);
            if self.paused > PAUSE * rule.window() {
                *self = Self::default();
            }
            return None;
        }
        self.paused = 0;
        self.anew_in = self.anew_in.map(|counts| counts.saturating_sub(1));
        self.counts.push_back(*accessed);
        if self.counts.len() > rule.window() {
            self.counts.pop_front();
        }
        let left = left?;
        let (missing, of) = left.missing(accessed);
        let chance = accessed.chance(left.count).hypot(left.of_other_pieces(accessed));
        let is_lost = missing > (LOST * rule.deviate() * of).max(chance);
        self.below = if is_lost { self.below + 1 } else { 0 };
        let changed = f64::from(self.below) >= rule.needed();
        changed.then_some(Changed { mean: left.count, count: accessed.count })
    }
}
