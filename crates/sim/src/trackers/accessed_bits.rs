//! Accessed bits: each interval, of every mapped entry, was its bit set since it was cleared last? What
//! a huge page maps has one bit, whatever of it was accessed. (Idle page tracking of AMP, section 5;
//! `page_referenced` of Nimble's lists.)
//!
//! Where a TLB is modelled, hardware sets a bit only when it walks to the entry, so translations that
//! are cached hide accesses. Linux on x86 clears the bits without a flush (`ptep_clear_flush_young`);
//! over an interval of seconds translations leave by context switches and eviction. A scaled machine
//! has no switches and little memory, and would keep them for ever: so all of the tenant's are
//! flushed after each look, for nothing [I].

use super::{Interval, Looked, Tracker, heat};
use crate::engine::World;
use crate::kernel::AccessedScanner;

/// See the module.
#[derive(Clone, Debug)]
pub struct AccessedBits {
    /// Looking at an entry and clearing it, ns.
    scan_ns: f64,
    /// By unit, whether it was accessed.
    seen: Vec<bool>,
}

impl AccessedBits {
    /// One that takes so long for an entry.
    #[must_use]
    pub fn new(scan_ns: f64) -> Self {
        Self { scan_ns, seen: Vec::new() }
    }
}

impl Tracker for AccessedBits {
    fn look(&mut self, interval: &Interval<'_>, world: &mut World) -> Looked {
        let (units, seen) = (interval.units, &mut self.seen);
        seen.clear();
        seen.resize(units.len(), false);
        let all = units.range(0).start..units.range(units.len().saturating_sub(1)).end;
        let mut scanner = AccessedScanner::new(all, self.scan_ns, 0.0);
        let cpu_ns = scanner.round(world, |pages, accessed| {
            if accessed {
                // A huge page may be several units, and a unit several entries.
                seen[units.of(pages.start)..=units.of(pages.end - 1)].fill(true);
            }
        });
        let heat = heat(interval, world, |unit, _| {
            (Some(seen[unit]), if seen[unit] { interval.rate(1) } else { 0.0 })
        });
        world.cores.flush(interval.tenant);
        Looked { heat, cpu_ns, thread_ns: 0.0 }
    }
}
