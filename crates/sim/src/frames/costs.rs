//! What it takes to scan, to move and to allocate, in time. The figures are whoever's who asks; none is here.

use super::{Moved, Touched};

/// What things take, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Costs {
    /// A frame that a scanner looks at.
    pub scan_ns: f64,
    /// A block that is judged as a whole, by its flags or its part of a bit vector.
    pub block_ns: f64,
    /// A page taken off its list of used pages; it costs as much to put it back.
    pub isolate_ns: f64,
    /// A list of pages that is handed over to be moved, inside of the kernel.
    pub list_ns: f64,
    /// A request to move pages that comes from outside.
    pub request_ns: f64,
    /// To unmap a page, flush its translation, and map it again.
    pub page_ns: f64,
    /// A target page from the allocator; none where the free scanner has it already.
    pub allocate_ns: f64,
    /// To copy a page within DRAM.
    pub copy_ns: f64,
    /// To copy a page from persistent memory.
    pub copy_up_ns: f64,
}

impl Costs {
    /// Seconds that a compactor's work takes. Who finds no target gives up before it unmaps anything.
    #[must_use]
    pub fn compaction_s(&self, of: &Moved) -> f64 {
        let isolated = of.moved + 2 * (of.failed + of.released);
        1e-9 * (self.scan_ns * number(of.scanned + of.free_scanned)
            + self.block_ns * number(of.blocks)
            + self.isolate_ns * number(isolated)
            + self.list_ns * number(of.lists)
            + (self.page_ns + self.copy_ns) * number(of.moved))
    }

    /// Seconds to promote so many pages in so many requests, into pages of the allocator or of a free scanner.
    #[must_use]
    pub fn promotion_s(&self, pages: usize, requests: usize, allocated: bool) -> f64 {
        let target = if allocated { self.allocate_ns } else { 0.0 };
        let page = self.isolate_ns + target + self.page_ns + self.copy_up_ns;
        1e-9 * (self.request_ns * number(requests) + page * number(pages))
    }
}

/// What it takes to touch memory for the first time, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FaultCosts {
    /// A page fault, without what follows.
    pub fault_ns: f64,
    /// To halve a free block.
    pub halve_ns: f64,
    /// To clear 4 KiB.
    pub clear_ns: f64,
}

impl FaultCosts {
    /// Seconds for what was touched.
    #[must_use]
    pub fn touched_s(&self, of: &Touched) -> f64 {
        let frames = 512 * of.large + of.small;
        1e-9 * (self.fault_ns * number(of.large + of.small)
            + self.halve_ns * number(of.halved)
            + self.clear_ns * number(frames))
    }
}

fn number(count: usize) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_is_the_sum_of_what_was_done() {
        let costs = Costs {
            scan_ns: 1.0,
            block_ns: 10.0,
            isolate_ns: 100.0,
            list_ns: 1e3,
            request_ns: 1e4,
            page_ns: 1e5,
            allocate_ns: 1e6,
            copy_ns: 1e7,
            copy_up_ns: 1e8,
        };
        let done = Moved {
            moved: 1,
            failed: 1,
            released: 1,
            scanned: 2,
            free_scanned: 3,
            blocks: 2,
            lists: 4,
        };
        let ns = 1e9 * costs.compaction_s(&done);
        assert!((ns - 10_104_525.0).abs() < 1e-3, "{ns}");
        let ns = 1e9 * costs.promotion_s(2, 3, true);
        assert!((ns - 202_230_200.0).abs() < 1e-3, "{ns}");
        assert!(costs.promotion_s(2, 3, false) < costs.promotion_s(2, 3, true));
        let faults = FaultCosts { fault_ns: 1.0, halve_ns: 10.0, clear_ns: 100.0 };
        let ns = 1e9 * faults.touched_s(&Touched { large: 1, small: 2, halved: 3 });
        assert!((ns - 51_433.0).abs() < 1e-3, "{ns}");
    }
}
