//! Hint faults: each interval a part of the entries is made to fault, in turn; who touches one of them
//! pays for the fault, and is seen. (Linux's NUMA balancing, `task_numa_work`.)

use super::{Interval, Looked, Tracker, heat};
use crate::engine::{World, bit};

/// See the module.
#[derive(Clone, Debug)]
pub struct HintFaults {
    /// Share of the units that an interval marks.
    share: f64,
    scan_ns: f64,
    /// By unit: marked in this interval, and touched since.
    marked: Vec<bool>,
    touched: Vec<bool>,
    /// The unit that is marked next.
    at: usize,
}

impl HintFaults {
    /// Marks a share of all units in each interval; marking an entry takes so long.
    #[must_use]
    pub fn new(share: f64, scan_ns: f64) -> Self {
        Self { share, scan_ns, marked: Vec::new(), touched: Vec::new(), at: 0 }
    }

    /// Makes the next units fault; how many entries that were.
    fn mark(&mut self, interval: &Interval<'_>, world: &mut World) -> usize {
        let len = interval.units.len();
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share")]
        let next = ((len as f64 * self.share).ceil() as usize).min(len);
        let mut entries = 0;
        for _ in 0..next {
            self.at = (self.at + 1) % len;
            let pages = interval.units.range(self.at);
            let entry = world.pages.entry(pages.start);
            if entry & bit::ABSENT == 0 {
                entries += if entry & bit::HUGE != 0 { 1 } else { pages.len() };
                world.pages.set_all(pages, bit::HINT);
                self.marked[self.at] = true;
            }
        }
        entries
    }
}

impl Tracker for HintFaults {
    fn look(&mut self, interval: &Interval<'_>, world: &mut World) -> Looked {
        let len = interval.units.len();
        self.marked.resize(len, false);
        self.touched.resize(len, false);
        let heat = heat(interval, world, |unit, _| {
            let seen = self.marked[unit].then_some(self.touched[unit]);
            (seen, if seen == Some(true) { interval.rate(1) } else { 0.0 })
        });
        self.marked.fill(false);
        self.touched.fill(false);
        let entries = self.mark(interval, world);
        Looked { heat, cpu_ns: entries as f64 * self.scan_ns }
    }

    fn fault(&mut self, unit: usize) {
        if let Some(touched) = self.touched.get_mut(unit) {
            *touched = true;
        }
    }
}
