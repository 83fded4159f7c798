//! Physical memory, frame by frame: the buddy allocator, fragmentation, and compactors, stock and
//! PMShifter's (APSys 2022, sections 2.2, 3.2 and 4.1.1).
//!
//! A model of what is where, not of time: a compactor is given so many bytes to move per round, and
//! rounds follow each other at a fixed distance. Everything else of the kernel is left out (per-CPU lists,
//! zones, migration types). **It has not been held against a real guest's buddyinfo yet**: what it says of
//! the stock compactor is what the paper's description implies, and no more.

mod buddy;
mod compact;
mod fragment;

pub use buddy::{Buddy, Frame, MAX_ORDER, PAGEBLOCK_ORDER};
pub use compact::{Compactor, Moved, Orderly, Pathologies, Side, Stock};
pub use fragment::{Fragmented, fragmented};
