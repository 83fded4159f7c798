//! Moving a page inside of the fault that asked for it: its thread waits for all of it, and no other
//! does (`migrate_misplaced_folio` of Linux's mm/migrate.c).
//!
//! Simpler than Linux: another thread finds the page in its new place at once.

use crate::engine::{World, bit};
use pagetide_machine::Kernel;
use std::ops::Range;

/// Moves what one entry maps, a base page or a huge one of a tenant, at `now_ns`; when it is there,
/// ns. What the fault itself costs is not in it.
pub fn move_in_fault(
    world: &mut World,
    (tenant, pages): (usize, Range<usize>),
    up: bool,
    costs: &Kernel,
    now_ns: f64,
) -> f64 {
    let (from, to) = if up { (1, 0) } else { (0, 1) };
    let bytes = (pages.len() * 4096) as f64;
    world.cores.interrupt(tenant, costs.interrupt_us * 1e3);
    let half_ns = costs.page_us * 1e3 / 2.0;
    let begun = now_ns + half_ns;
    let read = world.memory[from].serve(begun, bytes, false);
    let written = world.memory[to].serve(read, bytes, true);
    world.pages.transfer(pages.clone(), u8::from(!up));
    world.pages.clear_all(pages, bit::HINT);
    written.max(begun + bytes / costs.copy_gb_s) + half_ns
}

#[cfg(test)]
mod tests {
    use super::super::{Mechanism, time_of};
    use super::*;
    use crate::engine::Pages;
    use pagetide_machine::Machine;

    #[test]
    fn a_move_in_a_fault_takes_what_a_page_costs_and_its_copy() {
        let costs = Kernel { page_us: 7.0, copy_gb_s: 4.0, ..Kernel::default() };
        for huge in [false, true] {
            let mut pages = Pages::all_in(1, 2 << 21);
            if huge {
                pages.put_huge(0, 1);
            }
            let mut world = World::new(&Machine::load("cxl").unwrap(), pages);
            let mapped = world.pages.mapped_with(7);
            world.pages.set_all(mapped.clone(), bit::HINT | bit::DIRTY);
            let done = move_in_fault(&mut world, (0, mapped.clone()), true, &costs, 5e3);
            let right = 5e3 + 7e3 + (mapped.len() * 4096) as f64 / 4.0;
            assert!((done / right - 1.0).abs() < 0.01, "{done} for {right}");
            let moved = |page| world.pages.entry(page) & (bit::TIER | bit::HINT | bit::DIRTY);
            assert!(mapped.clone().all(|page| moved(page) == bit::DIRTY));
            assert_eq!(world.pages.tier(mapped.end), 1);
        }
    }

    #[test]
    fn on_the_machine_of_adaptive_a_page_takes_what_was_measured_there() {
        let machine = Machine::load("adaptive-cxl").unwrap();
        let costs = machine.kernel.clone().unwrap();
        let mut world = World::new(&machine, Pages::all_in(1, 1 << 21));
        let fault_us = costs.hint_fault_us;
        assert!((4.0..5.0).contains(&fault_us), "{fault_us}");
        let move_us = move_in_fault(&mut world, (0, 0..1), true, &costs, 0.0) / 1e3;
        assert!((13.0..28.0).contains(&(fault_us + move_us)), "{move_us}");
        let one = Mechanism { together: 0, ..Mechanism::HUGE };
        let demotion_us =
            (time_of(&machine, one, (32, false), false).total_ns / 1e3 - costs.call_us) / 32.0;
        assert!((9.0..14.0).contains(&demotion_us), "{demotion_us}");
    }
}
