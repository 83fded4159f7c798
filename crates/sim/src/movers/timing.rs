//! How long a request takes on an idle machine: what a benchmark of `move_pages(2)` measures.

use super::mechanism::Mechanism;
use super::mover::Mover;
use crate::engine::{HUGE_PAGES, Pages, World};
use pagetide_machine::Machine;
use std::ops::Range;

/// What is moved, and what it took.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Timing {
    /// Bytes that moved, those of both directions.
    pub bytes: f64,
    /// From the request to its end, ns.
    pub total_ns: f64,
    /// Of that, beside the copies.
    pub kernel_ns: f64,
}

impl Timing {
    /// 10^9 bytes per second.
    #[must_use]
    pub fn gb_s(&self) -> f64 {
        self.bytes / self.total_ns
    }
}

/// Moves `count` pages up, huge or base ones; or, with `pairs`, exchanges so many with as many.
#[must_use]
pub fn time_of(
    machine: &Machine,
    mechanism: Mechanism,
    (count, huge): (usize, bool),
    pairs: bool,
) -> Timing {
    let size = if huge { HUGE_PAGES } else { 1 };
    let all = if pairs { 2 * count } else { count };
    let mut pages = Pages::all_in(1, ((all * size).next_multiple_of(HUGE_PAGES) as u64) << 12);
    if huge {
        (0..all).for_each(|page| pages.put_huge(page * size, 1));
    }
    let unit = |number: usize| -> Range<usize> { number * size..(number + 1) * size };
    (count..all).for_each(|number| pages.transfer(unit(number), 0));
    let mut world = World::new(machine, pages);
    let mut mover = Mover::new(0, mechanism, machine.kernel.clone().unwrap_or_default());
    if pairs {
        mover.request((0..count).map(|number| (unit(number), unit(count + number))), [], []);
    } else {
        mover.request([], [], (0..count).map(unit));
    }
    let mut total_ns = 0.0;
    while let Some(next) = mover.step(total_ns, &mut world) {
        total_ns = next;
    }
    Timing { bytes: (all * size * 4096) as f64, total_ns, kernel_ns: mover.kernel_ns() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::movers::Exchange;
    use pagetide_machine::Kernel;

    /// 50 us a request, 4 us a page, a quarter of it for frames; 2 GB/s a thread, 7.5 us to launch it.
    fn machine() -> Machine {
        let kernel = Kernel {
            call_us: 50.0,
            page_us: 4.0,
            allocation_share: 0.25,
            split_us: 10.0,
            copy_gb_s: 2.0,
            launch_us: 7.5,
            ..Kernel::default()
        };
        Machine { kernel: Some(kernel), ..Machine::load("cxl").unwrap() }
    }

    /// The formula is met within 1 %, from both sides; us.
    fn takes(mechanism: Mechanism, pages: (usize, bool), pairs: bool, right_us: f64) {
        let found = time_of(&machine(), mechanism, pages, pairs);
        let us = found.total_ns / 1e3;
        assert!((us / right_us - 1.0).abs() < 0.01, "{mechanism:?} {pages:?}: {us} for {right_us}");
    }

    const HUGE_US: f64 = 2_097_152.0 / 2e3;
    const BASE_US: f64 = 4096.0 / 2e3;

    #[test]
    fn pages_one_after_the_other_cost_their_number_and_the_request_once() {
        let serial = Mechanism::HUGE;
        takes(serial, (1, true), false, 50.0 + 4.0 + HUGE_US);
        takes(serial, (8, true), false, 50.0 + 8.0 * (4.0 + HUGE_US));
        // The last line of each page is there an idle read and write after it was asked for.
        takes(serial, (512, false), false, 50.0 + 512.0 * (4.0 + BASE_US + 0.1));
    }

    #[test]
    fn a_huge_page_that_is_split_costs_as_its_base_pages() {
        let right = 50.0 + 10.0 + 512.0 * (4.0 + BASE_US);
        let all = Mechanism { together: 0, ..Mechanism::BASE };
        takes(all, (1, true), false, right);
    }

    #[test]
    fn threads_share_the_copy_and_cost_a_launch_for_every_batch() {
        let four = Mechanism { threads: 4, ..Mechanism::HUGE };
        takes(four, (8, true), false, 50.0 + 8.0 * (4.0 + 30.0 + HUGE_US / 4.0));
        let together = Mechanism { together: 8, ..four };
        takes(together, (8, true), false, 50.0 + 30.0 + 8.0 * (4.0 + HUGE_US / 4.0));
        takes(together, (12, true), false, 50.0 + 60.0 + 12.0 * (4.0 + HUGE_US / 4.0));
        let unbounded = Mechanism { together: 0, ..four };
        takes(unbounded, (32, true), false, 50.0 + 30.0 + 32.0 * (4.0 + HUGE_US / 4.0));
    }

    #[test]
    fn many_threads_are_as_fast_as_the_slower_tier() {
        let many = Mechanism { threads: 64, together: 0, ..Mechanism::HUGE };
        // CXL: 28 GB/s are read.
        let right = 50.0 + 64.0 * 7.5 + 16.0 * (4.0 + 2_097.152 / 28.0);
        takes(many, (16, true), false, right);
    }

    #[test]
    fn an_exchange_goes_without_frames_and_a_pair_of_moves_does_not() {
        let exchange =
            Mechanism { threads: 4, together: 0, exchange: Exchange::True, split: false };
        let pairs = 16.0 * (2.0 * 3.0 + 2.0 * HUGE_US / 4.0);
        takes(exchange, (16, true), true, 80.0 + pairs);
        let paired = Mechanism { exchange: Exchange::Paired, ..exchange };
        takes(paired, (16, true), true, 80.0 + 16.0 * (2.0 * 4.0 + 2.0 * HUGE_US / 4.0));
        let found = time_of(&machine(), exchange, (16, true), true);
        assert_eq!(found.bytes, 2.0 * 16.0 * 2_097_152.0);
        assert!((found.kernel_ns - (50.0 + 16.0 * 6.0) * 1e3).abs() < 1.0);
    }
}
