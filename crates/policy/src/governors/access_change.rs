//! Whether the accesses of a process change: Algorithm 2 of Adaptive (section 4.3), by the number of
//! page-table entries seen accessed.
//!
//! Every few seconds a new count is held against the mean of those before it. At first the mean is to
//! level out; from then on a count that is off the mean is not taken into it, and several such in a
//! row are a change. A count that stands on few pieces of memory is off the mean by chance, which is not
//! counted: that of counts like those before it, or of so few pieces if that is less (ours: the paper
//! looks at an entry of every 2 MiB, a live watch at a tenth of memory at most).
//!
//! Phases that come again and again have counts on either side of their mean, each of them off it, and now and then several in
//! a row are. Who asks for it ([`ChangeRule::on_one_side`]; ours) counts only those in a row that lie on one side; so does, in
//! any case, a count that stands on few pieces, for chance lies on either side as well. Nor is for him a change what is like
//! all counts since the stop: six are off their true mean by chance, and what is as it was then needs no other placement. And
//! what changes before the mean has levelled out is one for him, or it would be taken for how the process has always been.
//!
//! The mean follows what changes slowly. Where that is loss, of entries in fast memory, it is `loss.rs` that notices.
//!
//! A process that has less of the CPUs than before accesses less in the same time, which is no change either (ours). Of
//! accesses that stay as they are, entries seen accessed grow with the time for which it runs, and ever more slowly: in half
//! of the time they are at least half as many, and at most as many.

use super::level::Level;
use super::{Entries, Watch};
use crate::options::{OptionInfo, Settings};

pub(crate) const OPTIONS: [OptionInfo; 6] = [
    OptionInfo {
        name: "watch",
        summary: "seconds between two counts of accessed entries while it is stopped",
        default: 5.0,
        range: (0.1, 1e6),
        whole: false,
    },
    OptionInfo {
        name: "window",
        summary: "counts that the mean is made of",
        default: 6.0,
        range: (1.0, 1000.0),
        whole: true,
    },
    OptionInfo {
        name: "settle",
        summary: "share by which a count may be off the mean once that has levelled out",
        default: 0.1,
        range: (0.0, 10.0),
        whole: false,
    },
    OptionInfo {
        name: "deviate",
        summary: "share by which a count must be off the mean to speak for a restart",
        default: 0.2,
        range: (0.0, 10.0),
        whole: false,
    },
    OptionInfo {
        name: "restart",
        summary: "counts in a row that must do so",
        default: 4.0,
        range: (1.0, 1000.0),
        whole: true,
    },
    OptionInfo {
        name: "backoff",
        summary: "factor on those counts after a restart that brought nothing; 1: none, as Adaptive is published",
        default: 2.0,
        range: (1.0, 100.0),
        whole: false,
    },
];

/// What goes on for so many windows is no pause, but how it is now.
pub(crate) const PAUSE: usize = 10;

/// So many counts at least are what those after them have left.
const BEFORE: usize = 3;

/// So many counts are kept, if no more are asked for: of an hour, where one takes 5 s.
const KEPT: usize = 720;

/// After restarts that brought nothing, at most so many times the counts in a row.
const LONGEST: f64 = 16.0;

/// Its parameters, and what restarts taught.
#[derive(Clone, Debug)]
pub(crate) struct ChangeRule {
    every_s: f64,
    window: usize,
    settle: f64,
    deviate: f64,
    restart: f64,
    backoff: f64,
    /// Factor on `restart`.
    patience: f64,
    /// Counts in a row must be off the mean on the same side of it.
    on_one_side: bool,
}

impl ChangeRule {
    /// From [`OPTIONS`].
    #[expect(clippy::cast_possible_truncation, reason = "range checked")]
    pub(crate) fn new(settings: &Settings<'_>) -> Self {
        Self {
            every_s: settings.get("watch"),
            window: settings.whole("window") as usize,
            settle: settings.get("settle"),
            deviate: settings.get("deviate"),
            restart: settings.get("restart"),
            backoff: settings.get("backoff"),
            patience: 1.0,
            on_one_side: false,
        }
    }

    /// The same, by which counts on either side of the mean are no change.
    pub(crate) fn on_one_side(self) -> Self {
        Self { on_one_side: true, ..self }
    }

    /// What the migration after the last restart was good for: one that brought nothing makes the
    /// next one harder, so that a program whose accesses come and go is not restarted for ever.
    pub(crate) fn learn(&mut self, it_paid: bool) {
        self.patience = if it_paid { 1.0 } else { (self.patience * self.backoff).min(LONGEST) };
    }

    /// Share by which a count may be off the mean and still be the same.
    pub(crate) fn settle(&self) -> f64 {
        self.settle
    }

    /// Share by which a count must be off the mean to speak for a restart.
    pub(crate) fn deviate(&self) -> f64 {
        self.deviate
    }

    /// Seconds between two counts.
    pub(crate) fn every_s(&self) -> f64 {
        self.every_s
    }

    /// Counts that a mean is made of.
    pub(crate) fn window(&self) -> usize {
        self.window
    }

    /// Counts in a row that are a change.
    pub(crate) fn needed(&self) -> f64 {
        (self.restart * self.patience).ceil()
    }
}

/// Counts since a process was stopped.
#[derive(Clone, Debug, Default)]
pub(crate) struct AccessChange {
    /// Counts that were like those before them; the mean is of the last ones.
    counts: Vec<Entries>,
    /// Of the last of these so many came in a row.
    in_row: usize,
    /// Counts of a pause, since one that was like those before it.
    paused: usize,
    /// The mean has levelled out.
    stabilized: bool,
    /// Counts in a row that were off the mean, and whether the last one was above it.
    deviating: u32,
    above: bool,
}

/// A mean, and the count that is off it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Changed {
    pub(crate) mean: f64,
    pub(crate) count: f64,
}

impl Changed {
    /// It in words: of entries accessed as `what` says. An entry stands for as much as is looked at by one
    /// ([`Watch::STRIDE`]).
    pub(crate) fn told(&self, what: &str) -> String {
        let Self { mean, count } = self;
        let digits = |digits: usize| [count, mean].map(|number| format!("{number:.digits$}"));
        // So many that a change is not told as none.
        let told = (0..6).map(digits).find(|[count, mean]| count != mean);
        let [count, mean] = told.unwrap_or_else(|| digits(6));
        let entries = if count == "1" { "entry" } else { "entries" };
        let each = Watch::STRIDE.0 >> 20;
        format!(
            "accesses changed: {count} {entries} of {each} MiB {what}, {mean} on average before"
        )
    }
}

impl AccessChange {
    /// Takes in one count more.
    pub(crate) fn take(&mut self, rule: &ChangeRule, entries: &Entries) -> Option<Changed> {
        // Without the newest one: it is what is judged.
        let window = &self.counts[self.counts.len().saturating_sub(rule.window)..];
        let level = Level::of(window);
        let mean = level.count;
        let (count, chance) = (entries.count, level.chance(entries));
        let (above, (off, of)) = (count > mean, level.off(entries));
        let is_full = window.len() == rule.window;
        let stepped = self.stepped(rule, entries);
        if !self.stabilized {
            self.stabilized = is_full && off <= (rule.settle * of).max(chance);
        } else if off > (rule.deviate * of).max(chance) && self.is_new(rule, entries, above) {
            // The mean stays as it was, or it would follow the change.
            let turned = std::mem::replace(&mut self.above, above) != self.above;
            let anew = turned && (rule.on_one_side || entries.pieces.is_some());
            self.deviating = if anew { 1 } else { self.deviating + 1 };
            self.in_row = 0;
            let changed = f64::from(self.deviating) >= rule.needed();
            return changed.then_some(Changed { mean, count }).or(stepped);
        }
        self.deviating = 0;
        let pauses = self.stabilized && level.pauses(entries);
        self.paused = if pauses { self.paused + 1 } else { 0 };
        if pauses && self.paused < PAUSE * rule.window {
            // What goes on as before after a pause is held against what was before the pause.
            self.in_row = 0;
            return None;
        }
        if pauses {
            self.counts.clear();
            self.in_row = 0;
            (self.stabilized, self.paused) = (false, 0);
        }
        if self.counts.len() == KEPT.max(rule.window) {
            self.counts.remove(0);
        }
        self.counts.push(*entries);
        self.in_row += 1;
        stepped
    }

    /// Whether a count that is off the mean is as far off that of all counts, to the same side, where it is asked that changes
    /// lie on one.
    fn is_new(&self, rule: &ChangeRule, entries: &Entries, above: bool) -> bool {
        let all = Level::of(&self.counts);
        let (off, of) = all.off(entries);
        !rule.on_one_side || off > rule.deviate * of && (entries.count > all.count) == above
    }

    /// Whether so many counts in a row, with this one, are all far above or all far below each one before them, of which there
    /// are [`BEFORE`] at least, where it is asked that changes lie on one side. It is asked at any time: what changes while the
    /// mean is still to level out would be what it levels out at.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a small number")]
    fn stepped(&self, rule: &ChangeRule, entries: &Entries) -> Option<Changed> {
        let needed = rule.needed() as usize;
        // Those between which others were off the mean are not in a row.
        let in_row = self.in_row + 1 >= needed;
        let before = (self.counts.len() + 1).checked_sub(needed);
        let before = before.filter(|before| in_row && *before >= BEFORE)?;
        let (before, after) = self.counts.split_at(before);
        let level = Level::of(before);
        let far = |old: &Entries, new: &Entries| {
            let (off, of) = Level::of(&[*old]).off(new);
            let is_far = off > (rule.deviate * of).max(level.chance(new));
            is_far.then_some(new.count > old.count)
        };
        let mut pairs = before
            .iter()
            .flat_map(|old| after.iter().chain([entries]).map(move |new| far(old, new)));
        let first = pairs.next()??;
        let stepped = rule.on_one_side && pairs.all(|far| far == Some(first));
        stepped.then_some(Changed { mean: level.count, count: entries.count })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_told_with_its_unit_and_so_that_it_shows() {
        let told = |count, mean| Changed { mean, count }.told("seen accessed");
        for (count, mean, said) in [
            (15342.0, 6764.4, "15342 entries of 2 MiB seen accessed, 6764 on average before"),
            (1.3, 0.8, "1.3 entries of 2 MiB seen accessed, 0.8 on average before"),
            (2.0, 1.6, "2.0 entries of 2 MiB seen accessed, 1.6 on average before"),
            (1.0, 3.2, "1 entry of 2 MiB seen accessed, 3 on average before"),
        ] {
            assert_eq!(told(count, mean), format!("accesses changed: {said}"));
        }
    }
}
