//! Accessed bits: each interval, of every mapped entry, was its bit set since it was cleared last? What
//! a huge page maps has one bit, whatever of it was accessed. (Idle page tracking of AMP, section 5;
//! `page_referenced` of Nimble's lists.)

use super::{Interval, Looked, Tracker, heat};
use crate::engine::{World, bit};

/// See the module.
#[derive(Clone, Copy, Debug)]
pub struct AccessedBits {
    /// Looking at an entry and clearing it, ns.
    scan_ns: f64,
}

impl AccessedBits {
    /// One that takes so long for an entry.
    #[must_use]
    pub fn new(scan_ns: f64) -> Self {
        Self { scan_ns }
    }
}

impl Tracker for AccessedBits {
    fn look(&mut self, interval: &Interval<'_>, world: &mut World) -> Looked {
        let mut entries = 0u64;
        // Units of base pages that a huge one maps share its bit.
        let mut shared = (0..0, false);
        let heat = heat(interval, world, |unit, world| {
            let pages = interval.units.range(unit);
            if !shared.0.contains(&pages.start) {
                let mapped = world.pages.mapped_with(pages.start);
                let huge = mapped.len() > 1;
                entries += if huge { 1 } else { pages.len() as u64 };
                let together = if huge { mapped } else { pages };
                let seen = world.pages.clear_all(together.clone(), bit::ACCESSED) != 0;
                shared = (together, seen);
            }
            (Some(shared.1), if shared.1 { interval.rate(1) } else { 0.0 })
        });
        Looked { heat, cpu_ns: entries as f64 * self.scan_ns }
    }
}
