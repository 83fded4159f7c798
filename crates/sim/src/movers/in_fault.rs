//! Moving a base page inside of the fault that asked for it: its thread waits for all of it.

use crate::engine::{World, bit};
use pagetide_machine::Kernel;

/// Moves a page of a tenant at `now_ns`; when it is there, ns. What the fault itself costs is not
/// in it.
pub fn move_in_fault(
    world: &mut World,
    (tenant, page): (usize, usize),
    up: bool,
    costs: &Kernel,
    now_ns: f64,
) -> f64 {
    let (from, to) = if up { (1, 0) } else { (0, 1) };
    world.cores.interrupt(tenant, costs.interrupt_us * 1e3);
    let half_ns = costs.page_us * 1e3 / 2.0;
    let begun = now_ns + half_ns;
    let read = world.memory[from].serve(begun, 4096.0, false);
    let written = world.memory[to].serve(read, 4096.0, true);
    world.pages.transfer(page..page + 1, u8::from(!up));
    world.pages.clear(page, bit::HINT);
    written.max(begun + 4096.0 / costs.copy_gb_s) + half_ns
}
