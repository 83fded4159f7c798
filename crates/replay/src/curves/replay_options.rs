//! What a replay needs to know beforehand.

use pagetide_types::{Bytes, UnitSize};

/// What a replay needs to know beforehand.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReplayOptions {
    /// The recording's unit; the distance between two capacities while they are few.
    pub unit: UnitSize,
    /// Largest resident memory of any epoch; the curves end there.
    pub footprint: Bytes,
    /// Position in the stream of the first epoch to evaluate. Epochs before it are shown to the
    /// policies and not counted; the very first never counts, since no decision is in force.
    pub first_epoch: usize,
    /// The program ran for long before the recording began: policies may forgo their thrift until
    /// the first epoch to evaluate.
    pub ran_before: bool,
    /// Steps between the capacities at which policies are replayed whose order depends on the
    /// capacity; the others get every capacity.
    pub capacities: usize,
    /// Those policies are replayed on a sample of at most about so many units if there are more.
    pub most_units: usize,
}

impl Default for ReplayOptions {
    fn default() -> Self {
        Self {
            unit: UnitSize::Huge,
            footprint: Bytes(0),
            first_epoch: 0,
            ran_before: false,
            capacities: 32,
            most_units: 1 << 15,
        }
    }
}
