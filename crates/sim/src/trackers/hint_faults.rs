//! Hint faults: in each interval all entries are made to fault; who touches one of them pays for the fault,
//! and is seen. (Linux's NUMA balancing, `task_numa_work`.)

use super::{Interval, Looked, Tracker, heat};
use crate::engine::{World, bit};

/// See the module.
#[derive(Clone, Debug)]
pub struct HintFaults {
    scan_ns: f64,
    /// By unit: marked in this interval, and touched since.
    marked: Vec<bool>,
    touched: Vec<bool>,
}

impl HintFaults {
    /// Marking an entry takes so long.
    #[must_use]
    pub fn new(scan_ns: f64) -> Self {
        Self { scan_ns, marked: Vec::new(), touched: Vec::new() }
    }

    /// Makes all units fault; how many entries that were.
    fn mark(&mut self, interval: &Interval<'_>, world: &mut World) -> usize {
        let mut entries = 0;
        for unit in 0..interval.units.len() {
            let pages = interval.units.range(unit);
            let entry = world.pages.entry(pages.start);
            if entry & bit::ABSENT == 0 {
                entries += if entry & bit::HUGE != 0 { 1 } else { pages.len() };
                world.pages.set_all(pages, bit::HINT);
                self.marked[unit] = true;
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
        Looked { heat, cpu_ns: entries as f64 * self.scan_ns, thread_ns: 0.0 }
    }

    fn fault(&mut self, unit: usize) {
        if let Some(touched) = self.touched.get_mut(unit) {
            *touched = true;
        }
    }
}
