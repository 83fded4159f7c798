//! A process that `gain` stopped: when it goes on.

use super::access_change::{AccessChange, ChangeRule};
use super::counting::Counting;
use super::level::Level;
use super::loss::{InFast, Loss};
use super::{Counters, Entries};
use crate::Watch;

/// See the module.
pub(crate) struct Watched {
    /// Of entries accessed, of those in fast memory, and of all in fast memory.
    counting: [Counting; 3],
    accessed: AccessChange,
    accessed_fast: AccessChange,
    loss: Loss,
    /// Of fast memory it had so much when those accessed there began to be counted.
    began: Option<InFast>,
    /// And at the last count.
    last: Option<InFast>,
    room: Room,
    until_s: f64,
}

/// What it counts.
struct Counts {
    accessed: Entries,
    accessed_fast: Entries,
    in_fast: InFast,
}

/// Why it goes on.
#[derive(Clone, Copy)]
pub(crate) enum Restart {
    Changed,
    Room,
    Again,
}

impl Watched {
    /// It was stopped just now, and tries again at that time in any case.
    pub(crate) fn new(rule: &ChangeRule, until_s: f64) -> Self {
        Self {
            counting: std::array::from_fn(|_| Counting::new(rule.every_s())),
            accessed: AccessChange::default(),
            accessed_fast: AccessChange::default(),
            loss: Loss::default(),
            began: None,
            last: None,
            room: Room::default(),
            until_s,
        }
    }

    /// Why to migrate again, if it is time to.
    pub(crate) fn look(
        &mut self,
        rule: &ChangeRule,
        counters: &Counters,
    ) -> Option<(Restart, String)> {
        let found = self.count(counters).and_then(|counts| {
            let changed = self.changed(rule, &counts).map(|told| (Restart::Changed, told));
            let room = counters.room.and_then(|room| self.room.take(rule, &counts, room));
            changed.or(room.map(|told| (Restart::Room, told)))
        });
        let again = || (Restart::Again, "tries again after a while".to_owned());
        found.or_else(|| (counters.now_s >= self.until_s).then(again))
    }

    /// What the looks since the last count showed, if it is time for one.
    fn count(&mut self, counters: &Counters) -> Option<Counts> {
        let looks = [
            counters.accessed_entries(),
            counters.accessed_fast_entries(),
            counters.fast_entries(),
        ];
        let mut looks = looks.into_iter();
        let counts = self
            .counting
            .each_mut()
            .map(|counting| counting.take(looks.next()?, counters.length_s));
        let [accessed, accessed_fast, entries] = counts;
        let moved = (counters.promoted + counters.demoted).as_f64() / Watch::STRIDE.as_f64();
        let in_fast = InFast { entries: entries?, moved };
        Some(Counts { accessed: accessed?, accessed_fast: accessed_fast?, in_fast })
    }

    fn changed(&mut self, rule: &ChangeRule, counts: &Counts) -> Option<String> {
        let Counts { accessed, accessed_fast, in_fast } = counts;
        let began = *self.began.get_or_insert(*in_fast);
        let last = self.last.replace(*in_fast).unwrap_or(*in_fast);
        if counts.are_of_other_memory(rule, &began, &last) {
            self.began = Some(*in_fast);
            self.accessed_fast = AccessChange::default();
            self.loss.anew(rule);
        }
        let lost = self.loss.take(rule, accessed_fast, *in_fast);
        let of_fast = self.accessed_fast.take(rule, accessed_fast);
        let of_all = self.accessed.take(rule, accessed);
        of_all
            .map(|is| is.told("seen accessed"))
            .or(lost.or(of_fast).map(|is| is.told("seen accessed in fast memory")))
    }
}

impl Counts {
    /// Whether other memory is in fast memory than as its counts there began, or at the last one, whatever is accessed: much
    /// went down for room, or what it has there is more or less than by chance. (A unit that lies in both counts for where most
    /// of it is, so a little may change many.)
    fn are_of_other_memory(&self, rule: &ChangeRule, began: &InFast, last: &InFast) -> bool {
        let now = &self.in_fast.entries;
        let differs = |then: &Entries| {
            let chance = Level::of(&[*then]).of_other_pieces(now);
            (now.count - then.count).abs() > (rule.settle() * then.count).max(chance)
        };
        let went_down = self.in_fast.moved - began.moved > rule.settle() * self.accessed_fast.count;
        went_down || differs(&began.entries) || differs(&last.entries)
    }
}

/// Whether there is room in fast memory that was not there at some time since it stopped, for what it accesses in slow memory.
/// Room that it made itself, by what of it went down, does not count.
#[derive(Default)]
struct Room {
    /// Entries.
    least: Option<f64>,
    /// Counts in a row with so much more.
    more: u32,
}

impl Room {
    /// `room`: bytes, below 0 where there is too little.
    fn take(&mut self, rule: &ChangeRule, counts: &Counts, room: f64) -> Option<String> {
        let now = room / Watch::STRIDE.as_f64() - counts.in_fast.moved;
        let least = self.least.map_or(now, |least| least.min(now));
        self.least = Some(least);
        let (accessed, fast) = (counts.accessed.count, counts.accessed_fast.count);
        let slow = accessed - fast;
        let grown = now - least;
        let is_more = slow > rule.settle() * accessed && grown > rule.deviate() * slow;
        self.more = if is_more { self.more + 1 } else { 0 };
        let each = Watch::STRIDE.0 >> 20;
        (f64::from(self.more) >= rule.needed()).then(|| {
            format!("room for {grown:.0} more entries of {each} MiB in fast memory; {slow:.0} are seen accessed in slow memory")
        })
    }
}
