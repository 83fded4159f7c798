//! Whether a target's pages move at all: asked every epoch, outside of the policies.

use pagetide_types::Bytes;

/// What a governor is shown at the end of an epoch.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Counters {
    /// The epoch's number, from 0.
    pub epoch: u32,
    /// Its length, seconds.
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
    /// Bytes that were watched for accesses.
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

/// Says whether a target migrates. It is asked once per epoch, in order; it decides nothing about
/// single pages.
pub trait Governor {
    /// The answer for the decision at the end of this epoch.
    fn judge(&mut self, counters: &Counters) -> Verdict;

    /// Its name, for the summary.
    fn name(&self) -> &'static str;
}

/// The governor that never stops anything.
#[derive(Clone, Copy, Debug, Default)]
pub struct AlwaysMigrate;

impl Governor for AlwaysMigrate {
    fn judge(&mut self, _: &Counters) -> Verdict {
        Verdict::Migrate
    }

    fn name(&self) -> &'static str {
        "none"
    }
}
