//! How much of the memory has an unknown heat: its accessed bits could not be cleared. One way to count
//! it, for every output.

use crate::Epoch;
use pagetide_types::Bytes;

/// Memory of unknown heat over some epochs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Unknown {
    uncleared: f64,
    resident: f64,
    epochs: f64,
}

impl Unknown {
    /// Adds an epoch with so many resident bytes.
    pub fn add(&mut self, epoch: &Epoch, resident: Bytes) {
        self.uncleared += epoch.uncleared_bytes as f64;
        self.resident += resident.as_f64();
        self.epochs += 1.0;
    }

    /// Its share of the resident memory, 0 to 1.
    #[must_use]
    pub fn share(&self) -> f64 {
        if self.resident > 0.0 { (self.uncleared / self.resident).min(1.0) } else { 0.0 }
    }

    /// How much it is on average.
    #[must_use]
    pub fn mean(&self) -> Bytes {
        crate::info::whole_bytes(self.uncleared / self.epochs.max(1.0))
    }
}
