//! What the loop remembers of earlier rounds: who refused, what went up, and what the governor is
//! shown.

use crate::Counters;
use pagetide_migrate::{BackOff, Report, Work};
use pagetide_types::{Bytes, EpochHeat, HeatFlags, UnitId};
use std::collections::BTreeSet;

#[derive(Default)]
pub(crate) struct History {
    refused: BackOff<UnitId>,
    /// Units that went up and did not come down yet.
    promoted: BTreeSet<UnitId>,
    counters: Counters,
}

impl History {
    /// Begins the next round.
    pub(crate) fn next_round(&mut self) {
        self.refused.next_round();
    }

    /// Which rows may be asked to move.
    pub(crate) fn movable(&self, heat: &EpochHeat) -> Vec<bool> {
        heat.unit.iter().map(|unit| !self.refused.waits(unit)).collect()
    }

    /// Takes in an epoch; what the governor is shown at its end.
    pub(crate) fn count(&mut self, heat: &EpochHeat, length_s: f64) -> &Counters {
        let with = |flag: HeatFlags| {
            (0..heat.len()).filter(move |row| heat.flags[*row].has(flag)).map(|row| heat.bytes(row))
        };
        self.counters.epoch = heat.epoch.0;
        self.counters.length_s = length_s;
        self.counters.accessed = with(HeatFlags::ACCESSED).sum();
        self.counters.watched = with(HeatFlags::SAMPLED).sum();
        &self.counters
    }

    /// Takes in what became of orders, whose tags are rows.
    pub(crate) fn learn(&mut self, heat: &EpochHeat, work: &Work, report: &Report) {
        for (i, order) in report.orders.iter().enumerate() {
            let Some(unit) = heat.unit.get(order.tag as usize) else { continue };
            if order.moved > 0 {
                self.refused.obeyed(unit);
            } else if order.refused > 0 {
                self.refused.refused(*unit);
            }
            let up = i < work.promote.len();
            if up && order.moved > 0 {
                self.promoted.insert(*unit);
            } else if !up && order.moved > 0 && self.promoted.remove(unit) {
                self.counters.promoted_then_demoted += Bytes(order.moved << 12);
            }
        }
        self.counters.promoted += report.promoted.bytes();
        self.counters.demoted += report.demoted.bytes();
        self.counters.moved_back += report.moved_back.bytes();
    }

    /// Bytes that went down after they had gone up.
    pub(crate) fn promoted_then_demoted(&self) -> Bytes {
        self.counters.promoted_then_demoted
    }
}
