//! Why an epoch cannot be replayed.

use crate::curves::entry::{MAX_PAGES, MAX_UNITS};
use pagetide_types::Bytes;

/// Why an epoch cannot be replayed.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum ReplayError {
    /// More is resident than was announced.
    #[error("epoch {epoch}: {resident} are resident, more than the footprint of {footprint}")]
    Footprint {
        /// Position in the stream.
        epoch: usize,
        /// Resident in it.
        resident: Bytes,
        /// As announced in the options.
        footprint: Bytes,
    },
    /// A unit that is larger than any unit can be.
    #[error("epoch {epoch}: a unit of {pages} pages; at most {} make sense", MAX_PAGES)]
    Pages {
        /// Position in the stream.
        epoch: usize,
        /// Its resident pages.
        pages: u16,
    },
    /// More units than can be told apart.
    #[error("epoch {epoch}: {units} units; at most {MAX_UNITS} can be replayed")]
    Units {
        /// Position in the stream.
        epoch: usize,
        /// Alive in it.
        units: usize,
    },
    /// An epoch without a proper length.
    #[error("epoch {epoch}: a length of {length_s} s makes no sense")]
    Length {
        /// Position in the stream.
        epoch: usize,
        /// As given.
        length_s: f64,
    },
}
