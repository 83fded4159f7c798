//! What a recording is as a whole: what a plan's answer stands on.

use crate::answer::sentence::percent;
use pagetide_trace::{Source, Window};
use pagetide_types::{Bytes, UnitSize};
use serde::Serialize;

/// From this share of the memory on it is worth a word that its heat is unknown, and from this on worth
/// one before anything else.
pub(crate) const SOME: f64 = 0.005;
const MUCH: f64 = 0.1;

/// Whether so much of the memory has an unknown heat that it has to be said first.
#[must_use]
pub fn much_is_unknown(share: f64) -> bool {
    share >= MUCH
}

/// That the heat of a share of the memory is unknown, and what helps where that is much. Who records,
/// plans or runs says it in these words. `clear_shared`: that was asked for already.
#[must_use]
pub fn unknown_heat(share: f64, clear_shared: bool) -> String {
    let (why, remedy) = if clear_shared {
        (
            "it is of the hugetlb pool, had no turn within the budget, or was not seen for certain",
            "a larger --budget gives more of it a turn",
        )
    } else {
        (
            "its accessed bits cannot be cleared, for it is mapped more than once (by several processes, or \
             twice by one), locked, or of the hugetlb pool",
            "--clear-shared watches what is mapped more than once or locked, for which page faults of the \
             program wait about 10 ms per GiB",
        )
    };
    let remedy = if much_is_unknown(share) { format!("; {remedy}") } else { String::new() };
    format!("the heat of {} of the memory is unknown: {why}{remedy}", percent(share))
}

/// That no process of the target maps some shared memory, and what that counts as. Who records, plans or runs says it
/// in these words.
#[must_use]
pub fn unmapped_memory(bytes: Bytes) -> String {
    format!(
        "{bytes} of shared memory are mapped by no process of the target (cold pages of a buffer pool): \
         they count as in use and cold, for whoever accesses a page maps it"
    )
}

/// What is known of a recording as a whole. Sums and means run over the evaluated epochs.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct RecordingFacts {
    /// The recording's name: its path as given.
    pub name: String,
    /// What was recorded: the command line, a process, a cgroup.
    pub target: String,
    /// Start, seconds since the Unix epoch.
    pub started_unix_s: u64,
    /// How heat was observed.
    pub source: Source,
    /// What a unit is.
    pub unit: UnitSize,
    /// Nominal length of an epoch, seconds.
    pub epoch_s: f64,
    /// Length of the shortest epoch, seconds, but for the last, in which the target or the time may have ended.
    pub shortest_epoch_s: f64,
    /// Length of the longest of these, seconds.
    pub longest_epoch_s: f64,
    /// The part that was planned for; none: all of it.
    pub window: Option<Window>,
    /// All epochs of the recording.
    pub epochs: usize,
    /// Epochs that the answer stands on.
    pub evaluated_epochs: usize,
    /// Their length together, seconds.
    pub seconds: f64,
    /// Most units alive in one epoch.
    pub units: usize,
    /// Most resident bytes in one epoch: what all-fast needs.
    pub footprint_bytes: Bytes,
    /// Estimated accesses per second.
    pub accesses_per_s: f64,
    /// Of these, accesses past the CPU caches per second: what a plan charges.
    pub traffic_per_s: f64,
    /// Of the traffic, what no prefetcher can have fetched; only where it was counted.
    pub leads_per_s: Option<f64>,
    /// CPU cache per busy core that the program is taken to have.
    pub cache_per_core: Bytes,
    /// Share of the accesses that it serves: no traffic to memory.
    pub cached_share: f64,
    /// Share of the memory traffic that went to saturated units (a lower bound).
    pub saturated_share: f64,
    /// Share of the resident bytes in units that were watched and never seen accessed.
    pub unseen_share: f64,
    /// Share of the resident pages that were watched for accesses.
    pub watched_share: f64,
    /// Share of the memory that had not been watched yet: no policy knows it, and nothing of it is
    /// charged.
    pub unwatched_share: f64,
    /// What is born in an epoch, on the mean.
    pub born_bytes: Bytes,
    /// What dies in an epoch that had been there for half of the recording so far or more, on the mean.
    pub died_bytes: Bytes,
    /// Share of the resident bytes whose accessed bits cannot be cleared: their heat is unknown.
    pub uncleared_share: f64,
    /// Shared and locked memory was cleared as well, as far as that could be done.
    pub clear_shared: bool,
    /// Share of the resident bytes that huge pages map.
    pub huge_share: f64,
    /// Shared memory that no process of the target mapped, mean over the epochs: part of the memory in use.
    pub unmapped_bytes: Bytes,
    /// Whether all of it was counted. If not, it comes on top.
    pub unmapped_counted: bool,
    /// CPU time of the target over wall time: cores kept busy.
    pub target_cores: f64,
    /// CPU time of the recorder over wall time.
    pub recorder_cores: f64,
    /// Share of cycles stalled on memory, where the hardware counted them.
    pub stall_share: Option<f64>,
}

impl RecordingFacts {
    /// Which part of the recording was planned for, where that is not all of it.
    #[must_use]
    pub fn part(&self) -> Option<String> {
        self.window.map(|window| format!("only the part {window} of the recording was planned for"))
    }

    /// Whether memory is born, worth mentioning.
    pub(crate) fn some_is_born(&self) -> bool {
        self.born_bytes.as_f64() >= SOME * self.footprint_bytes.as_f64()
    }

    /// Whether memory that was there for most of the recording goes, and other memory takes its place. What dies then lies
    /// where the program began, and so does what is born in its place: that ends once all has been renewed.
    pub(crate) fn is_being_renewed(&self) -> bool {
        self.some_is_born() && self.died_bytes.as_f64() >= SOME * self.footprint_bytes.as_f64()
    }

    /// How much of the memory has an unknown heat, and what helps where that is much; none where it is
    /// next to nothing.
    pub(crate) fn unknown(&self) -> Option<String> {
        let share = self.uncleared_share;
        (share >= SOME).then(|| unknown_heat(share, self.clear_shared))
    }

    /// Whether so much is unknown that it has to be said first.
    pub(crate) fn much_is_unknown(&self) -> bool {
        much_is_unknown(self.uncleared_share)
    }

    /// Traffic was measured by sampling: nothing of the recorded accesses is taken off for the caches.
    pub(crate) fn traffic_was_sampled(&self) -> bool {
        self.cache_per_core.0 > 0 && self.cached_share <= 0.0
    }
}
