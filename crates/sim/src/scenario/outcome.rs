//! What came of a scenario.

use crate::systems::{DecisionLog, MovedBytes};
use pagetide_policy::{Change, Verdict};
use serde::{Deserialize, Serialize};

/// What came of it: times and sizes are those of the machine that is modelled, not those of the
/// scaled one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// The system's name.
    pub system: String,
    /// Seconds that were counted.
    pub seconds: f64,
    /// The tenants, in order.
    pub tenants: Vec<TenantOutcome>,
    /// CPU time of the kernel, in cores.
    pub kernel_cores: f64,
    /// Of that, and of interrupts, what programs lost, in cores.
    pub stolen_cores: f64,
    /// By tier, the share of the time in which its channel was busy.
    pub busy: Vec<f64>,
    /// All decisions; empty for systems that take none.
    #[serde(skip)]
    pub decisions: Vec<DecisionLog>,
    /// Accesses that were simulated, warm-up included.
    #[serde(skip)]
    pub simulated: u64,
}

/// What came of one tenant.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TenantOutcome {
    /// Its name.
    pub name: String,
    /// Accesses in the time that was counted, those that caches served included.
    pub accesses: u64,
    /// Accesses a second: what others call its performance.
    pub accesses_per_s: f64,
    /// Mean time from one access of a thread to its next, nanoseconds; none without an access.
    pub ns_per_access: Option<f64>,
    /// Of its accesses that went to memory, the share that the fast tier served.
    pub fast_share: f64,
    /// Bytes that moved, warm-up included.
    #[serde(rename = "promoted_bytes")]
    pub promoted: u64,
    /// See [`Self::promoted`].
    #[serde(rename = "demoted_bytes")]
    pub demoted: u64,
    /// When it ended, if it did, seconds from its start.
    pub ended_s: Option<f64>,
    /// When its governor changed its mind.
    #[serde(default)]
    pub turns: Vec<Turn>,
}

/// A governor changed its mind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Turn {
    /// Seconds from the beginning of the scenario.
    pub at_s: f64,
    /// Whether pages move from now on.
    pub migrates: bool,
    /// Why, with its numbers.
    pub reason: String,
}

impl Turn {
    /// That of a decision, if it was one, where time is shortened by `scale`.
    pub(super) fn of(log: &DecisionLog, scale: f64) -> Option<Self> {
        let Change { verdict, reason, .. } = log.turn.clone()?;
        Some(Self { at_s: log.at_s * scale, migrates: verdict == Verdict::Migrate, reason })
    }
}

impl MovedBytes {
    /// As if nothing had been scaled down.
    pub(super) fn unscaled(self, scale: f64) -> Self {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "bytes")]
        let full = |bytes: u64| (bytes as f64 * scale) as u64;
        Self {
            promoted: full(self.promoted),
            demoted: full(self.demoted),
            promoted_then_demoted: full(self.promoted_then_demoted),
        }
    }
}
