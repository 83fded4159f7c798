//! What is to be expected of memory that is born, by what was born before it.

use crate::{EpochView, observed};
use pagetide_types::{EpochHeat, HeatFlags, KEEP};

/// How much is accessed in the epoch in which it is born. What was born longer ago counts less.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Births {
    accesses_per_s: f64,
    pages: f64,
}

/// What is born is written once, line by line, whatever becomes of it. That says nothing of what it is worth: 64 lines pay
/// for no move, let alone for one down to make room and two that undo it.
const WRITTEN_ONCE: f64 = 64.0;
/// In so many seconds it fades as much as the recorder's memory does in an epoch of the usual length.
const FADES_IN_S: f64 = 5.0;

impl Births {
    /// Learns from an epoch. By its accesses alone: what is expected of a unit stands on what was seen of other memory.
    pub(crate) fn observe(&mut self, view: &EpochView<'_>) {
        let kept = f64::from(KEEP).powf(view.length_s / FADES_IN_S);
        self.accesses_per_s *= kept;
        self.pages *= kept;
        if view.length_s > 0.0 {
            let (accesses_per_s, pages) = seen(view.heat, view.history.born(view.heat));
            self.accesses_per_s += accesses_per_s - WRITTEN_ONCE * pages / view.length_s;
            self.pages += pages;
        }
    }

    /// Accesses per second and page; none if nothing was born.
    pub(crate) fn rate(&self) -> Option<f64> {
        (self.pages > 0.0).then(|| self.accesses_per_s.max(0.0) / self.pages)
    }
}

/// Accesses per second and pages of those units that tell, all together. Traffic of base pages stands for those of the epoch that
/// nobody looked at, too (each look counts for as many as its chance was small); that of huge pages, and rates, for their own unit alone.
fn seen(heat: &EpochHeat, born: impl Iterator<Item = usize>) -> (f64, f64) {
    let tells = |row: &usize| {
        let flags = heat.flags[*row];
        let for_all = !heat.traffic.is_empty() && !flags.has(HeatFlags::HUGE);
        observed(flags) || for_all && !flags.has(HeatFlags::UNCLEARED)
    };
    born.filter(tells).fold((0.0, 0.0), |(accesses, pages), row| {
        (accesses + f64::from(heat.memory_rate(row)), pages + f64::from(heat.pages[row]))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::AccessHistory;
    use pagetide_types::{EpochId, HeatRow, NodeId, UnitId};

    /// What is expected after ten units of 100 pages were born in an epoch of 5 s, each with the traffic that
    /// `traffic` says, if it was looked at.
    fn expected(huge: bool, traffic: impl Fn(u32) -> Option<f32>) -> Option<f64> {
        let (mut births, mut history) = (Births::default(), AccessHistory::default());
        for (epoch, units) in [(0, 1), (1, 11)] {
            let mut heat = EpochHeat::new(EpochId(epoch));
            for unit in 0..units {
                let seen = traffic(unit);
                let mut flags =
                    if seen.is_some() { HeatFlags::SAMPLED } else { HeatFlags::default() };
                if huge {
                    flags |= HeatFlags::HUGE;
                }
                let (unit, node) = (UnitId(unit), NodeId(0));
                let (pages, watched, touched) = (100, 0, 0);
                heat.push(HeatRow { unit, rate: 7.0, flags, pages, watched, touched, node });
                heat.traffic.push(seen.unwrap_or(0.0));
            }
            history.update(&heat);
            births.observe(&EpochView {
                heat: &heat,
                history: &history,
                length_s: 5.0,
                free_moves: false,
                one_unit_in: 1,
                oracle: None,
                placement: None,
            });
        }
        births.rate()
    }

    #[test]
    fn a_look_at_base_pages_stands_for_what_was_not_looked_at() {
        let written_once = 64.0 / 5.0;
        assert_eq!(expected(false, |_| Some(5000.0)), Some(50.0 - written_once));
        let every_other = |unit: u32| unit.is_multiple_of(2).then_some(10_000.0);
        assert_eq!(expected(false, every_other), Some(50.0 - written_once));
        assert_eq!(expected(true, every_other), Some(100.0 - written_once), "huge pages do not");
    }

    #[test]
    fn one_writing_of_each_line_says_nothing() {
        assert_eq!(expected(false, |_| Some(1280.0)), Some(0.0));
    }
}
