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

/// The paper's machine after a change, as the inline table of a scenario.
pub(super) fn table(change: impl FnOnce(&mut toml::Table)) -> Result<String, ReproduceError> {
    let text = include_str!("../../../../machines/nimble-xeon.toml");
    let wrong = |error: toml::de::Error| ReproduceError::Other(error.to_string());
    let mut table: toml::Table = text.parse().map_err(wrong)?;
    change(&mut table);
    Ok(toml::Value::Table(table).to_string())
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
    fn a_changed_machine_is_one() {
        let text = table(|machine| machine["core"]["outstanding"] = 3.into()).unwrap();
        let scenario = format!(
            "machine = {text}\nseconds = 0.001\n[system]\nname = \"all-slow\"\n[[tenant]]\n\
             memory = \"4M\"\npattern = {{ kind = \"uniform\" }}\n"
        );
        let scenario = pagetide_sim::scenario::parse(&scenario, "x").unwrap();
        let outcome = pagetide_sim::scenario::run(&scenario, None, "x").unwrap();
        // Three under way at 199.2 ns.
        let per_s = outcome.tenants[0].accesses_per_s;
        assert!((per_s / (3e9 / 199.2) - 1.0).abs() < 0.02, "{per_s}");
    }

    #[test]
    fn the_two_cells_that_were_calibrated_on_are_met() {
        let base = Moves::serial(false).up(512).unwrap().gb_s();
        let huge = Moves::serial(true).up(1).unwrap().gb_s();
        assert!((base / 0.75 - 1.0).abs() < 0.01, "{base}");
        assert!((huge / 2.15 - 1.0).abs() < 0.01, "{huge}");
    }
}
