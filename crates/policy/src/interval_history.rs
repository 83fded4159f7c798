//! Age and history of every unit for a policy that decides less often than every epoch: accessed
//! bits are gathered until it does, as the hardware's are until a scan clears them, and age and
//! history count its own intervals (AMP, sections 3.1 and 4.2: 4 B age, 8 B history per page).
//! A policy that decides at the end of every epoch finds the same in [`crate::AccessHistory`].

use crate::{Known, observed};
use pagetide_types::{EpochHeat, HeatFlags, UnitId};

/// Observed, and accessed, since the last interval ended.
const OBSERVED: u8 = 1;
const ACCESSED: u8 = 2;

/// The age of what was never observed.
const NEVER: u32 = u32::MAX;

#[derive(Clone, Copy)]
struct Unit {
    /// The last epoch in which it was alive, counted from 1.
    epoch: u32,
    age: u32,
    history: u64,
    bits: u8,
}

const BLANK: Unit = Unit { epoch: 0, age: NEVER, history: 0, bits: 0 };

/// All units of a tenant, by number. A unit that was absent for an epoch starts afresh.
#[derive(Default)]
pub(crate) struct IntervalHistory {
    epoch: u32,
    units: Vec<Unit>,
}

impl IntervalHistory {
    /// Takes in the epoch that just ended; once for each, in order.
    pub(crate) fn gather(&mut self, heat: &EpochHeat) {
        self.epoch += 1;
        let len = heat.unit.last().map_or(0, |last| last.index() + 1);
        if self.units.len() < len {
            self.units.resize(len, BLANK);
        }
        for (number, flags) in heat.unit.iter().zip(&heat.flags) {
            let unit = &mut self.units[number.index()];
            if unit.epoch + 1 != self.epoch {
                *unit = BLANK;
            }
            unit.epoch = self.epoch;
            if observed(*flags) {
                unit.bits |= OBSERVED;
                unit.bits |= if flags.has(HeatFlags::ACCESSED) { ACCESSED } else { 0 };
            }
        }
    }

    /// Ends the interval of a unit that was gathered: whether it was accessed in it, or `None` if
    /// it was not observed, which leaves age and history unchanged.
    pub(crate) fn end_interval(&mut self, number: UnitId) -> Option<bool> {
        let unit = &mut self.units[number.index()];
        if unit.bits & OBSERVED == 0 {
            return None;
        }
        let accessed = unit.bits & ACCESSED != 0;
        unit.bits = 0;
        let age = if unit.age == NEVER { 1 } else { unit.age.saturating_add(1) };
        unit.age = if accessed { 0 } else { age.min(NEVER - 1) };
        unit.history = unit.history >> 1 | u64::from(accessed) << 63;
        Some(accessed)
    }

    /// What is known of a unit that was gathered; `None` if no interval that observed it has
    /// ended.
    pub(crate) fn get(&self, number: UnitId) -> Option<Known> {
        let unit = &self.units[number.index()];
        (unit.age != NEVER).then_some(Known { age: unit.age, history: unit.history })
    }
}
