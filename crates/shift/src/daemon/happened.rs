//! What a check of the daemon saw and did, as it is told.

use crate::{Compacted, JournalError, LockError, Trigger};
use pagetide_types::{Bytes, NodeId};
use serde::Serialize;

/// What a check did or found.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "event")]
pub enum Happened {
    /// A device became memory.
    Grew {
        /// The device.
        device: String,
        /// How much memory it has.
        bytes: Bytes,
        /// Why.
        why: Trigger,
        /// How long it took.
        seconds: f64,
    },
    /// A device is no memory any more, and not storage yet.
    Shrank {
        /// The device.
        device: String,
        /// How much memory it had.
        bytes: Bytes,
        /// Of what programs had on it, how much we moved to DRAM; the kernel moved the rest.
        moved: Bytes,
        /// How long it took.
        seconds: f64,
    },
    /// It is storage.
    Zeroed {
        /// The device.
        device: String,
        /// How long that took since it was memory.
        seconds: f64,
    },
    /// It is memory again, before it was storage: programs want it.
    Again {
        /// The device.
        device: String,
        /// How much memory it has.
        bytes: Bytes,
        /// How long it took.
        seconds: f64,
    },
    /// A device is memory again whose conversion had been left in the middle.
    Restored {
        /// The device.
        device: String,
        /// How much memory it has.
        bytes: Bytes,
    },
    /// A device would not be converted.
    Refused {
        /// The device.
        device: String,
        /// Why.
        why: String,
    },
    /// More memory is wanted, and no device is left: the kernel swaps as usual.
    Exhausted {
        /// How much more is wanted.
        wanted: Bytes,
    },
    /// The machine has no dax device; it is looked for at every check.
    NoDevice,
    /// A node's pages were moved together.
    Compacted(Compacted),
    /// In a dry run: this would be done.
    Would {
        /// `grow` or `shrink`.
        what: &'static str,
        /// The device.
        device: String,
        /// How much memory it has.
        bytes: Bytes,
    },
}

/// A pair after a check.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PairSeen {
    /// Its DRAM.
    pub dram: NodeId,
    /// The nodes of the memory behind it.
    pub behind: Vec<NodeId>,
    /// Memory that programs could be given.
    pub free: Bytes,
    /// The same, smoothed.
    pub smoothed: Bytes,
    /// What the free memory is held against.
    pub threshold: Bytes,
    /// Used up per second, for more than one check.
    pub used_up: Bytes,
    /// Seconds until the next device is memory, once it is begun with; none where no device is left.
    pub conversion: Option<f64>,
    /// Of devices, memory now.
    pub memory: Bytes,
    /// Of devices, no memory any more and not storage yet.
    pub zeroing: Bytes,
    /// Of devices, storage that may become memory.
    pub storage: Bytes,
}

/// What one check saw and did.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Check {
    /// Seconds since the daemon began.
    pub seconds: f64,
    /// Every pair.
    pub pairs: Vec<PairSeen>,
    /// What was done.
    pub happened: Vec<Happened>,
}

/// Why a check could not be made at all.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DaemonError {
    /// The journal cannot be used.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// Somebody else has been changing things for too long.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// The machine does not say what it is asked.
    #[error(transparent)]
    Kernel(#[from] crate::Fault),
    /// A file of the machine's cannot be read.
    #[error(transparent)]
    Host(#[from] pagetide_host::Error),
}
