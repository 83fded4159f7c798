//! What the kernel's work takes. The paper gives ratios only; moves are timed as on Nimble's Xeon, which is
//! calibrated on that paper's text.

use crate::ReproduceError;
use pagetide_machine::{Kernel, Machine};
use pagetide_sim::frames::{Costs, FaultCosts};

/// A line of 64 bytes at 10 GB/s [I]: scanners go through page structures in order.
const SCAN_NS: f64 = 6.4;
/// Two lines of the bit vector of a block of 4 MiB, or its flags [I].
const BLOCK_NS: f64 = 13.0;
/// To take a page off its list under a lock [I].
const ISOLATE_NS: f64 = 100.0;
/// `lru_add_drain` and a call of `migrate_pages` [I].
const LIST_NS: f64 = 1000.0;
/// To halve a free block [I].
const HALVE_NS: f64 = 20.0;
/// Persistent memory is read this many times slower [I]: its latency (section 1: twice).
const READ_UP: f64 = 2.0;
const PAGE: f64 = 4096.0;

fn kernel() -> Result<Kernel, ReproduceError> {
    let machine =
        Machine::load("nimble-xeon").map_err(|error| ReproduceError::Other(error.to_string()))?;
    Ok(machine.kernel.unwrap_or_default())
}

/// Of scanning and moving.
pub(super) fn costs() -> Result<Costs, ReproduceError> {
    let kernel = kernel()?;
    let page_ns = 1e3 * kernel.page_us;
    let copy_ns = PAGE / kernel.copy_gb_s;
    Ok(Costs {
        scan_ns: SCAN_NS,
        block_ns: BLOCK_NS,
        isolate_ns: ISOLATE_NS,
        list_ns: LIST_NS,
        request_ns: 1e3 * kernel.call_us,
        page_ns: page_ns * (1.0 - kernel.allocation_share),
        allocate_ns: page_ns * kernel.allocation_share,
        copy_ns,
        copy_up_ns: READ_UP * copy_ns,
    })
}

/// Of touching memory for the first time: 1 us for a base page and 120 us for a huge one, which is zeroed, as all
/// simulations here have it.
pub(super) fn fault_costs() -> Result<FaultCosts, ReproduceError> {
    let kernel = kernel()?;
    // f + c = base, f + 512 c = huge.
    let (base, huge) = (1e3 * kernel.first_touch_4k_us, 1e3 * kernel.first_touch_2m_us);
    let clear_ns = (huge - base) / 511.0;
    Ok(FaultCosts { fault_ns: base - clear_ns, halve_ns: HALVE_NS, clear_ns })
}

#[cfg(test)]
mod tests {
    use super::*;
    use pagetide_sim::frames::Touched;

    #[test]
    fn single_touches_take_what_the_machine_says() {
        let costs = fault_costs().unwrap();
        let us = |large, small| 1e6 * costs.touched_s(&Touched { large, small, halved: 0 });
        assert!((us(0, 1) - 1.0).abs() < 1e-9 && (us(1, 0) - 120.0).abs() < 1e-9);
    }

    #[test]
    fn a_page_of_a_long_list_moves_at_nimbles_three_quarters_of_a_gigabyte_per_second() {
        let costs = costs().unwrap();
        let ns = costs.page_ns + costs.allocate_ns + costs.copy_ns + costs.request_ns / 512.0;
        assert!((4096.0 / ns / 0.75 - 1.0).abs() < 0.02, "{ns}");
    }
}
