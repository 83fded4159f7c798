//! The access history: what is remembered of every unit over epochs. Kept once per tenant and shown to
//! all policies. Age and 64-bit history are AMP's (section 3.1), the marks for what was not
//! observed are ours.

use pagetide_types::{EpochHeat, HeatFlags, UnitId};

/// Whether an epoch says anything about the unit's accesses: it was looked at, and its accessed
/// bits could be cleared before.
#[must_use]
pub fn observed(flags: HeatFlags) -> bool {
    flags.has(HeatFlags::SAMPLED) && !flags.has(HeatFlags::UNCLEARED)
}

/// What is known of a unit that was observed at least once since it was born.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Known {
    /// Observed epochs since the last one in which it was accessed; 0: in the last observed one.
    pub age: u32,
    /// One bit per observed epoch, the newest at the top: was it accessed?
    pub history: u64,
}

impl Known {
    /// In how many of the last `window` observed epochs it was accessed, 1 <= `window` <= 64.
    #[must_use]
    pub fn frequency(self, window: u32) -> u32 {
        (self.history >> (64 - window)).count_ones()
    }
}

/// Age and history of every unit, indexed by its number.
///
/// Epochs in which a unit is not [`observed`] leave its entry unchanged. A unit that was absent
/// for an epoch and returns is new memory at an old address: its entry starts afresh.
#[derive(Clone, Debug, Default)]
pub struct AccessHistory {
    epochs: u32,
    /// Of units it is known who was born, and no more.
    births_only: bool,
    /// Units alive in the last epoch.
    alive: Vec<UnitId>,
    /// Units born in it, ascending.
    newborn: Vec<UnitId>,
    entries: Vec<Entry>,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    history: u64,
    /// [`NEVER`] until observed, and while dead.
    age: u32,
}

const NEVER: u32 = u32::MAX;
const BLANK: Entry = Entry { history: 0, age: NEVER };

impl AccessHistory {
    /// One that tells who was born, and of each unit nothing: for policies that ask for no more, as of many units it is
    /// large.
    #[must_use]
    pub fn of_births() -> Self {
        Self { births_only: true, ..Self::default() }
    }

    /// Takes in the epoch that just ended; before any policy is asked about it.
    pub fn update(&mut self, heat: &EpochHeat) {
        self.epochs += 1;
        self.newborn.clear();
        if self.alive != heat.unit {
            self.bear_and_bury(&heat.unit);
        }
        if self.births_only {
            return;
        }
        for (unit, flags) in heat.unit.iter().zip(&heat.flags) {
            if observed(*flags) {
                let entry = &mut self.entries[unit.index()];
                let accessed = flags.has(HeatFlags::ACCESSED);
                entry.history = entry.history >> 1 | u64::from(accessed) << 63;
                let age = if entry.age == NEVER { 1 } else { entry.age + 1 };
                entry.age = if accessed { 0 } else { age };
            }
        }
    }

    /// Blanks the entries of units that died and finds the newborn.
    fn bear_and_bury(&mut self, now: &[UnitId]) {
        let Self { alive, newborn, entries, .. } = self;
        let len = now.last().map_or(0, |last| last.index() + 1);
        if !self.births_only && entries.len() < len {
            entries.resize(len, BLANK);
        }
        let mut bury = |dead: &UnitId| {
            if let Some(entry) = entries.get_mut(dead.index()) {
                *entry = BLANK;
            }
        };
        let mut old = alive.iter().peekable();
        for unit in now {
            while let Some(dead) = old.next_if(|other| *other < unit) {
                bury(dead);
            }
            if old.next_if_eq(&unit).is_none() {
                newborn.push(*unit);
            }
        }
        old.for_each(bury);
        alive.clear();
        alive.extend_from_slice(now);
    }

    /// What is known of a unit; `None` if it was never observed.
    #[must_use]
    pub fn get(&self, unit: UnitId) -> Option<Known> {
        self.entries
            .get(unit.index())
            .filter(|entry| entry.age != NEVER)
            .map(|entry| Known { age: entry.age, history: entry.history })
    }

    /// The units born in the epoch that just ended, ascending.
    #[must_use]
    pub fn newborn(&self) -> &[UnitId] {
        &self.newborn
    }

    /// The rows of units born in the epoch that just ended, of which this is the heat, but for those that are new as
    /// units alone; in the first epoch nothing was born.
    pub fn born<'a>(&'a self, heat: &'a EpochHeat) -> impl Iterator<Item = usize> + 'a {
        let newborn = if self.epochs > 1 { &self.newborn[..] } else { &[] };
        let rows = newborn.iter().filter_map(|unit| heat.unit.binary_search(unit).ok());
        rows.filter(|row| !heat.flags[*row].has(HeatFlags::RENUMBERED))
    }

    /// Epochs taken in.
    #[must_use]
    pub fn epochs(&self) -> u32 {
        self.epochs
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pagetide_types::{EpochId, HeatRow, NodeId};

    const SAMPLED: HeatFlags = HeatFlags::SAMPLED;
    const ACCESSED: HeatFlags = HeatFlags(HeatFlags::SAMPLED.0 | HeatFlags::ACCESSED.0);
    const UNCLEARED: HeatFlags = HeatFlags(ACCESSED.0 | HeatFlags::UNCLEARED.0);

    fn history(epochs: &[&[(u32, HeatFlags)]]) -> AccessHistory {
        let mut history = AccessHistory::default();
        for (epoch, rows) in (0..).zip(epochs) {
            let mut heat = EpochHeat::new(EpochId(epoch));
            for (unit, flags) in *rows {
                heat.push(HeatRow {
                    unit: UnitId(*unit),
                    rate: 0.0,
                    flags: *flags,
                    pages: 1,
                    watched: 0,
                    touched: 0,
                    node: NodeId(0),
                });
            }
            history.update(&heat);
        }
        history
    }

    #[test]
    fn age_counts_epochs_since_the_last_access_and_history_shifts() {
        let history = history(&[
            &[(0, ACCESSED), (1, SAMPLED)],
            &[(0, ACCESSED), (1, SAMPLED)],
            &[(0, SAMPLED), (1, ACCESSED)],
        ]);
        let known = history.get(UnitId(0)).unwrap();
        assert_eq!(known, Known { age: 1, history: 0b011 << 61 });
        assert_eq!((known.frequency(64), known.frequency(2), known.frequency(1)), (2, 1, 0));
        assert_eq!(history.get(UnitId(1)), Some(Known { age: 0, history: 1 << 63 }));
        assert_eq!(history.get(UnitId(2)), None);
    }

    #[test]
    fn what_was_not_observed_changes_nothing() {
        let history = history(&[
            &[(0, ACCESSED), (1, UNCLEARED)],
            &[(0, HeatFlags::default()), (1, UNCLEARED)],
        ]);
        assert_eq!(history.get(UnitId(0)), Some(Known { age: 0, history: 1 << 63 }));
        assert_eq!(history.get(UnitId(1)), None);
        assert_eq!(history.newborn(), []);
    }

    #[test]
    fn one_of_births_tells_the_same_births_and_nothing_else() {
        let mut heat = EpochHeat::new(EpochId(0));
        let (unit, node) = (UnitId(3), NodeId(0));
        let row =
            HeatRow { unit, rate: 0.0, flags: ACCESSED, pages: 1, watched: 0, touched: 0, node };
        let mut history = AccessHistory::of_births();
        history.update(&heat);
        heat.push(row);
        history.update(&heat);
        assert_eq!((history.newborn(), history.epochs()), (&[UnitId(3)][..], 2));
        assert_eq!(history.born(&heat).collect::<Vec<_>>(), [0]);
        assert_eq!(history.get(UnitId(3)), None);
        history.update(&EpochHeat::new(EpochId(2)));
        history.update(&heat);
        assert_eq!(history.newborn(), [UnitId(3)], "it returned");
    }

    #[test]
    fn a_unit_that_returns_starts_afresh() {
        let history = history(&[
            &[(0, ACCESSED), (1, ACCESSED)],
            &[(1, ACCESSED)],
            &[(0, SAMPLED), (1, ACCESSED)],
        ]);
        assert_eq!(history.get(UnitId(0)), Some(Known { age: 1, history: 0 }));
        assert_eq!(history.newborn(), [UnitId(0)]);
    }
}
