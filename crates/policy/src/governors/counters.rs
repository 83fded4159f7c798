//! What a governor is shown of a process.

use crate::Watch;
use pagetide_types::Bytes;

/// A process at the end of an epoch. What moved counts since it has memory; the rest is of this
/// epoch.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Counters {
    /// Seconds since the tenant was first seen.
    pub now_s: f64,
    /// Length of the epoch, seconds.
    pub length_s: f64,
    /// When what it accesses was last seen to become another thing, in those seconds; 0: never.
    pub changed_s: f64,
    /// Bytes promoted so far.
    pub promoted: Bytes,
    /// Bytes demoted so far.
    pub demoted: Bytes,
    /// Of those, what had been promoted before: it went up for nothing.
    pub promoted_then_demoted: Bytes,
    /// Bytes that somebody else moved back.
    pub moved_back: Bytes,
    /// CPU seconds that watching it took so far.
    pub watching_s: f64,
    /// How it was to be watched in this epoch.
    pub watch: Watch,
    /// Its memory.
    pub resident: Bytes,
    /// Bytes of pages that were watched for accesses, and whose accessed bits can be cleared.
    pub watched: Bytes,
    /// Of those, what lies in fast memory.
    pub watched_fast: Bytes,
    /// Of those that were watched, bytes of pages seen accessed.
    pub accessed: Bytes,
    /// Of those, what lies in fast memory.
    pub accessed_fast: Bytes,
    /// In how many pieces that lie apart it was watched; none: in as many as anybody would want.
    pub pieces: Option<f64>,
    /// Cores that it kept busy; none: nobody says.
    pub cores: Option<f64>,
    /// Fast memory that its tenant could still take, bytes, below 0 where it has more than it is to have; none: nobody says.
    pub room: Option<f64>,
    /// What moves brought and cost; none where nobody knows what an access and a move take.
    pub balance: Option<Balance>,
}

/// What moves brought and cost, in seconds of the process.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Balance {
    /// By how many seconds a second it waits less for memory than if nothing of it had moved
    /// recently ([`crate::Governor::recent_s`]): measured accesses to what is fast and was not,
    /// less those to what is slow and was not. Below 0 if it waits more.
    pub gained: f64,
    /// What moving took so far: moved pages at the prices of the time, and making room for them.
    pub moving_s: f64,
    /// The part of what recent moves bring that those before them, of five times as long, for what they cost do not bring any
    /// more: 0 if what goes up stays hot, 1 if it does not stay so for longer than is recent. A moving average.
    pub fading: f64,
}

/// Page-table entries that a sparse watch of all memory would have seen accessed, told from a sample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Entries {
    /// So many.
    pub count: f64,
    /// Of so many.
    pub all: f64,
    /// As [`Counters::pieces`].
    pub pieces: Option<f64>,
    /// As [`Counters::cores`].
    pub cores: Option<f64>,
}

impl Entries {
    /// How far the count may be off another one by chance: twice the standard deviation of what the
    /// pieces show, each of which is accessed or not (the pooled share of both counts).
    #[must_use]
    pub fn chance(&self, other: f64) -> f64 {
        let share = (f64::midpoint(self.count, other) / self.all).clamp(0.0, 1.0);
        let deviation = |pieces: f64| self.all * (share * (1.0 - share) / pieces.max(1.0)).sqrt();
        2.0 * self.pieces.map_or(0.0, deviation)
    }
}

impl Counters {
    /// Those seen accessed: the count of Adaptive's Algorithm 2. None if nothing was watched.
    #[must_use]
    pub fn accessed_entries(&self) -> Option<Entries> {
        self.entries(self.accessed)
    }

    /// Of those, the ones in fast memory.
    #[must_use]
    pub fn accessed_fast_entries(&self) -> Option<Entries> {
        self.entries(self.accessed_fast)
    }

    /// All in fast memory, accessed or not.
    #[must_use]
    pub fn fast_entries(&self) -> Option<Entries> {
        self.entries(self.watched_fast)
    }

    /// Part of its memory that was watched in this epoch.
    #[must_use]
    pub fn watched_share(&self) -> f64 {
        self.watched.as_f64() / self.resident.as_f64().max(1.0)
    }

    fn entries(&self, seen: Bytes) -> Option<Entries> {
        let all = self.resident.as_f64() / Watch::STRIDE.as_f64();
        let count = || all * seen.as_f64() / self.watched.as_f64();
        let Self { pieces, cores, .. } = *self;
        (self.watched > Bytes(0)).then(|| Entries { count: count(), all, pieces, cores })
    }
}
