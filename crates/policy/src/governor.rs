//! Whether a process's pages move at all: asked at the end of every epoch, outside of the policies,
//! and judged by what its moves brought so far.

use pagetide_types::Bytes;

/// What a governor is shown of a process at the end of an epoch.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Counters {
    /// Seconds since the tenant was first seen.
    pub now_s: f64,
    /// Length of the epoch, seconds.
    pub length_s: f64,
    /// Bytes promoted so far.
    pub promoted: Bytes,
    /// Bytes demoted so far.
    pub demoted: Bytes,
    /// Of those, what had been promoted before: it went up for nothing.
    pub promoted_then_demoted: Bytes,
    /// Bytes that somebody else moved back.
    pub moved_back: Bytes,
    /// Bytes of units seen accessed in this epoch.
    pub accessed: Bytes,
    /// Bytes of units that were watched for accesses.
    pub watched: Bytes,
}

/// A governor's answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Pages move as the policy decides.
    Migrate,
    /// Nothing is promoted; what is over the budget still goes.
    StandStill,
}

/// Says whether a process migrates. It is asked once per epoch and process, in order; it decides
/// nothing about single pages, reads no clock, and counts in seconds, not in epochs.
pub trait Governor: Send {
    /// The answer for the decision at the end of this epoch. `process`: its number in the tenant.
    fn judge(&mut self, process: u32, counters: &Counters) -> Verdict;

    /// Its name, for the summary.
    fn name(&self) -> &'static str;
}

/// The governor that never stops anything.
#[derive(Clone, Copy, Debug, Default)]
pub struct AlwaysMigrate;

impl Governor for AlwaysMigrate {
    fn judge(&mut self, _: u32, _: &Counters) -> Verdict {
        Verdict::Migrate
    }

    fn name(&self) -> &'static str {
        "none"
    }
}
