//! Physical memory, frame by frame: the buddy allocator, fragmentation, and compactors, stock and
//! PMShifter's (APSys 2022, sections 2.2, 3.2 and 4.1).
//!
//! A model of what is where: a compactor is given so many frames to move per round. What was done is counted, and
//! [`Costs`] make time of it. Left out of the kernel: per-CPU lists, several zones, watermarks, who else allocates
//! meanwhile. How near the stock compactor comes to a guest's is in docs/reproduction/pmshifter.md.

mod buddy;
mod combined;
mod costs;
mod fragment;
mod moved;
mod observed;
mod paper_compactor;
mod rules;
mod stock;
mod touch;

#[cfg(test)]
mod compact_tests;

pub use buddy::{Buddy, Frame, MAX_ORDER, PAGEBLOCK_ORDER};
pub use combined::{Migration, combined, one_after_the_other};
pub use costs::{Costs, FaultCosts};
pub use fragment::{Fragmented, fragmented};
pub use moved::{Compactor, Moved};
pub use observed::{ObservedError, observed};
pub use paper_compactor::{PaperCompactor, Side};
pub use rules::Rules;
pub use stock::Stock;
pub use touch::{Touched, touch};

/// What is computed here; raised when it becomes another, so that kept points are not taken for new ones.
pub const MODEL: u32 = 1;
