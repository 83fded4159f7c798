//! Calls, and the time in them.

use std::ops::AddAssign;

/// What calls cost; of one batch, or of several added up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    /// Calls that move.
    pub(crate) calls: u64,
    /// Time in them.
    pub(crate) moving_ns: u64,
    /// The longest of them.
    pub(crate) longest_call_ns: u64,
    /// Time in calls that only look where pages are.
    pub(crate) looking_ns: u64,
    /// Pages said to be huge that were found in pieces.
    pub(crate) found_split: u64,
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        self.calls += other.calls;
        self.moving_ns += other.moving_ns;
        self.longest_call_ns = self.longest_call_ns.max(other.longest_call_ns);
        self.looking_ns += other.looking_ns;
        self.found_split += other.found_split;
    }
}
