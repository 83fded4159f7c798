//! Nimble's Xeon, and how long moves take on it. Two numbers of the text are calibrated on (512 base
//! pages at 0.75 GB/s, one whole huge page at 2.15 GB/s): machines/nimble-xeon.toml.

use crate::{ReproduceError, Tolerance};
use pagetide_machine::Machine;
use pagetide_sim::movers::{Mechanism, Timing, time_of};

/// What section 4.2's numbers are held to.
pub(super) const WITHIN: Tolerance = Tolerance::Percent(15.0);

/// Table 1.
pub(super) fn machine() -> Result<Machine, ReproduceError> {
    Machine::load("nimble-xeon").map_err(|error| ReproduceError::Other(error.to_string()))
}

/// Moves of one kind.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moves {
    /// Whole huge pages, else base pages.
    pub(super) huge: bool,
    /// Threads that copy.
    pub(super) threads: u32,
    /// All of a request at once, else one after the other.
    pub(super) together: bool,
}

impl Moves {
    /// As Linux moved pages.
    pub(super) const fn serial(huge: bool) -> Self {
        Self { huge, threads: 1, together: false }
    }

    /// Parallel and concurrent, in four threads.
    pub(super) const fn concurrent(huge: bool) -> Self {
        Self { huge, threads: 4, together: true }
    }

    fn mechanism(self) -> Mechanism {
        let together = if self.together { 0 } else { 1 };
        Mechanism { threads: self.threads, together, ..Mechanism::EXCHANGE_HUGE }
    }

    /// So many pages go up.
    pub(super) fn up(self, pages: usize) -> Result<Timing, ReproduceError> {
        Ok(time_of(&machine()?, self.mechanism(), (pages, self.huge), false))
    }

    /// So many pairs change places.
    pub(super) fn exchange(self, pairs: usize) -> Result<Timing, ReproduceError> {
        Ok(time_of(&machine()?, self.mechanism(), (pairs, self.huge), true))
    }
}

/// Huge pages that are split, and moved as base pages.
pub(super) fn split(pages: usize) -> Result<Timing, ReproduceError> {
    let mechanism = Mechanism { together: 0, ..Mechanism::BASE };
    Ok(time_of(&machine()?, mechanism, (pages, true), false))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_two_cells_that_were_calibrated_on_are_met() {
        let base = Moves::serial(false).up(512).unwrap().gb_s();
        let huge = Moves::serial(true).up(1).unwrap().gb_s();
        assert!((base / 0.75 - 1.0).abs() < 0.01, "{base}");
        assert!((huge / 2.15 - 1.0).abs() < 0.01, "{huge}");
    }
}
