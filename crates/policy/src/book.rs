//! The book: what is remembered of every unit over epochs. Kept once per tenant and shown to
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
pub struct UnitBook {
    epochs: u32,
    notes: Vec<Note>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Note {
    history: u64,
    /// [`NEVER`] until observed.
    age: u32,
    /// Number of the epoch in which it was born; epochs count from 1.
    born: u32,
    /// Number of the last epoch in which it was alive, 0 for none.
    alive: u32,
}

const NEVER: u32 = u32::MAX;

impl UnitBook {
    /// Takes in the epoch that just ended; before any policy is asked about it.
    pub fn update(&mut self, heat: &EpochHeat) {
        self.epochs += 1;
        let len = heat.unit.last().map_or(0, |last| last.index() + 1);
        if self.notes.len() < len {
            self.notes.resize(len, Note::default());
        }
        for (unit, flags) in heat.unit.iter().zip(&heat.flags) {
            let note = &mut self.notes[unit.index()];
            if note.alive + 1 != self.epochs || note.alive == 0 {
                *note = Note { history: 0, age: NEVER, born: self.epochs, alive: 0 };
            }
            note.alive = self.epochs;
            if observed(*flags) {
                let accessed = flags.has(HeatFlags::ACCESSED);
                note.history = note.history >> 1 | u64::from(accessed) << 63;
                note.age = match note.age {
                    _ if accessed => 0,
                    NEVER => 1,
                    age => age + 1,
                };
            }
        }
    }

    /// What is known of a unit; `None` if it was never observed.
    #[must_use]
    pub fn get(&self, unit: UnitId) -> Option<Known> {
        self.notes
            .get(unit.index())
            .filter(|note| note.alive != 0 && note.age != NEVER)
            .map(|note| Known { age: note.age, history: note.history })
    }

    /// Whether the unit was born in the epoch that just ended.
    #[must_use]
    pub fn newborn(&self, unit: UnitId) -> bool {
        self.notes.get(unit.index()).is_some_and(|note| note.born == self.epochs)
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

    fn book(epochs: &[&[(u32, HeatFlags)]]) -> UnitBook {
        let mut book = UnitBook::default();
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
            book.update(&heat);
        }
        book
    }

    #[test]
    fn age_counts_epochs_since_the_last_access_and_history_shifts() {
        let book = book(&[
            &[(0, ACCESSED), (1, SAMPLED)],
            &[(0, ACCESSED), (1, SAMPLED)],
            &[(0, SAMPLED), (1, ACCESSED)],
        ]);
        let known = book.get(UnitId(0)).unwrap();
        assert_eq!(known, Known { age: 1, history: 0b011 << 61 });
        assert_eq!((known.frequency(64), known.frequency(2), known.frequency(1)), (2, 1, 0));
        assert_eq!(book.get(UnitId(1)), Some(Known { age: 0, history: 1 << 63 }));
        assert_eq!(book.get(UnitId(2)), None);
    }

    #[test]
    fn what_was_not_observed_changes_nothing() {
        let book =
            book(&[&[(0, ACCESSED), (1, UNCLEARED)], &[(0, HeatFlags::default()), (1, UNCLEARED)]]);
        assert_eq!(book.get(UnitId(0)), Some(Known { age: 0, history: 1 << 63 }));
        assert_eq!(book.get(UnitId(1)), None);
        assert!(!book.newborn(UnitId(1)));
    }

    #[test]
    fn a_unit_that_returns_starts_afresh() {
        let book = book(&[
            &[(0, ACCESSED), (1, ACCESSED)],
            &[(1, ACCESSED)],
            &[(0, SAMPLED), (1, ACCESSED)],
        ]);
        assert_eq!(book.get(UnitId(0)), Some(Known { age: 1, history: 0 }));
        assert!(book.newborn(UnitId(0)) && !book.newborn(UnitId(1)));
    }
}
