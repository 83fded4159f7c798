//! What a governor is: asked at the end of every epoch, outside of the policies, whether anything of
//! a process may go up; judged by what its moves brought so far.

use crate::Counters;
use crate::options::{OptionInfo, Settings};
use pagetide_types::Bytes;

/// A governor's answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Verdict {
    /// Pages move as the policy decides.
    #[default]
    Migrate,
    /// Nothing is promoted; what is over the budget still goes.
    StandStill,
}

impl Verdict {
    /// How the process is to be watched from now on.
    #[must_use]
    pub fn watch(self) -> Watch {
        match self {
            Self::Migrate => Watch::Full,
            Self::StandStill => Watch::Sparse,
        }
    }
}

/// How a process is watched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Watch {
    /// As well as the budget allows: a policy is to rank its units.
    #[default]
    Full,
    /// In the simulator one page-table entry of every 2 MiB, live a tenth of its regions: whole huge pages only, so nothing is
    /// cleared that would split one. Enough to see that the pattern of accesses changes.
    Sparse,
}

impl Watch {
    /// A sparse watch in the simulator looks at one entry of so much memory (Adaptive, section 4.3).
    pub const STRIDE: Bytes = Bytes::mib(2);

    /// The part of the budget for watching that it may take.
    #[must_use]
    pub fn budget_share(self) -> f64 {
        match self {
            Self::Full => 1.0,
            Self::Sparse => 0.1,
        }
    }
}

/// Says whether one process migrates. It is asked once per epoch, in order; it decides nothing about
/// single pages, reads no clock, and counts in seconds, not in epochs. A process that returns after
/// an epoch without memory is a new one, with a governor of its own.
pub trait Governor: Send {
    /// The answer for the decision at the end of this epoch.
    fn judge(&mut self, counters: &Counters) -> Verdict;

    /// Why the last answer was another than the one before: a short sentence with its numbers.
    fn reason(&self) -> String {
        String::new()
    }

    /// Whether it let the process go on although that accesses what it did before: what has lasted is taken to last on.
    fn does_the_same(&self) -> bool {
        false
    }

    /// For how long what was moved counts as recent in [`Counters::balance`], seconds.
    fn recent_s(&self) -> f64 {
        0.0
    }
}

/// A governor's entry in the registry.
#[derive(Debug)]
pub struct GovernorInfo {
    /// Unique; lower case and hyphens.
    pub name: &'static str,
    /// What it does, one line without a full stop.
    pub summary: &'static str,
    /// Paper and section it comes from, or that it is ours.
    pub source: &'static str,
    /// It judges by what moves bring and cost, and stops nobody of whom that is not known
    /// ([`crate::Counters::balance`]).
    pub needs_balance: bool,
    /// Its parameters.
    pub options: &'static [OptionInfo],
    /// Makes one for one process from checked options.
    pub(crate) build: fn(&Settings<'_>) -> Box<dyn Governor>,
}
