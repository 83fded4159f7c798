//! No migration: memory lies where it was first touched, fast while there is room. What every system
//! is compared with.

use crate::engine::{Fault, System, World};
use crate::kernel::Nodes;

/// What mapping a page takes the thread that touches it first: a fault and a zeroed page, ns [I].
const FIRST_TOUCH_NS: f64 = 1_000.0;

/// See the module.
#[derive(Clone, Debug)]
pub struct NoMigration {
    nodes: Nodes,
}

impl NoMigration {
    /// On nodes of so many base pages, fastest first.
    #[must_use]
    pub fn new(pages: &[u64]) -> Self {
        // Linux's default: a thousandth of a node between its marks.
        Self { nodes: Nodes::new(pages, 10) }
    }
}

impl System for NoMigration {
    fn fault(&mut self, fault: Fault, world: &mut World) -> f64 {
        if fault.absent() {
            // Where memory is out the last node takes it: scenarios that do not fit are refused before.
            let node = self.nodes.allocate(1).unwrap_or(world.memory.len() - 1);
            world.pages.put(fault.page, u8::try_from(node).unwrap_or(u8::MAX));
        }
        fault.now_ns + FIRST_TOUCH_NS
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::{Access, Core, Engine, Pages};
    use crate::kernel::Watermarks;
    use pagetide_machine::Machine;

    #[test]
    fn memory_is_fast_while_there_is_room_and_stays_where_it_is() {
        let (fast, slow, touched) = (10_000, 100_000, 30_000u64);
        let system = NoMigration::new(&[fast, slow]);
        let machine = Machine::load("cxl").unwrap();
        let world = World::new(&machine, Pages::absent(touched << 12)).with(Box::new(system));
        let mut engine = Engine::new(world);
        // Twice over all pages, one line each.
        let mut at = 0;
        let program = move |_: f64| {
            at += 1;
            let address = ((at - 1) % touched) << 12;
            (at <= 2 * touched).then_some(Access { address, dependent: true, ..Access::default() })
        };
        engine.thread(program, 0, Core::default(), 0.0);
        let end = engine.run(f64::INFINITY);
        // The fast node fills to its low mark.
        let kept = Watermarks::of(fast, fast + slow, 10).low;
        let tiers: Vec<usize> = (0..30_000).map(|page| engine.world().pages.tier(page)).collect();
        let is_fast = tiers.iter().filter(|tier| **tier == 0).count() as u64;
        assert_eq!(is_fast, fast - kept);
        assert!(tiers.is_sorted(), "in the order of the first touch");
        let pass = is_fast as f64 * 100.0 + (touched - is_fast) as f64 * 250.0;
        let right = 2.0 * pass + touched as f64 * FIRST_TOUCH_NS;
        assert!((end / right - 1.0).abs() < 0.01, "{end} for {right}");
    }
}
