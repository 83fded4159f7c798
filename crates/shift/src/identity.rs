//! Which device a journal means, after names have changed.

use pagetide_host::DaxDevice;
use pagetide_types::{Bytes, PhysAddr};
use serde::{Deserialize, Serialize};
use std::fmt;

/// What tells a dax device from all others, over reboots: the UUID of its namespace, or, where it
/// has no labels, its place.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Identity {
    /// The namespace's UUID.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uuid: Option<String>,
    /// Its first byte.
    pub start: PhysAddr,
    /// Its size.
    pub size: Bytes,
}

impl Identity {
    /// That of a device.
    #[must_use]
    pub fn of(device: &DaxDevice) -> Self {
        Self { uuid: device.uuid.clone(), start: device.start, size: device.size }
    }

    /// Whether `device` is the one meant. A namespace that was made anew at the same place is
    /// another one; so is one whose size has changed.
    #[must_use]
    pub fn is(&self, device: &DaxDevice) -> bool {
        self.size == device.size
            && match (&self.uuid, &device.uuid) {
                (Some(ours), Some(its)) => ours == its,
                (None, None) => self.start == device.start,
                _ => false,
            }
    }
}

impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.uuid {
            Some(uuid) => write!(f, "{uuid} ({} at {})", self.size, self.start),
            None => write!(f, "{} at {}", self.size, self.start),
        }
    }
}
