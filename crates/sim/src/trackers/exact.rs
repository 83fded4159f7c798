//! Exact counts: every access, for nothing. No machine has this; it shows what a policy could do if it
//! saw all, and is what others are held against.

use super::{Interval, Looked, Tracker, heat};
use crate::engine::World;

/// See the module.
#[derive(Clone, Copy, Debug, Default)]
pub struct Exact;

impl Tracker for Exact {
    fn begin(&mut self, world: &mut World) {
        world.count_pages();
    }

    fn look(&mut self, interval: &Interval<'_>, world: &mut World) -> Looked {
        let heat = heat(interval, world, |unit, world| {
            let count = world.take_count(interval.units.range(unit));
            (Some(count > 0), interval.rate(count))
        });
        Looked { heat, cpu_ns: 0.0, thread_ns: 0.0 }
    }
}
