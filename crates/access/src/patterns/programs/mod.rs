//! Programs of high-performance computing by what they access: five mini-applications with the access
//! structure of LULESH, PENNANT, SimpleMOC, miniFE and NAS IS, written from the algorithms' public
//! descriptions. A thread makes one access for each line that a loop comes to, with the instructions
//! since the one before; accesses that are certain to hit the first cache (the rest of the line) are
//! in the instructions. So these are no [`Pattern`](super::Pattern)s, which touch words.
//!
//! Threads share each loop by equal parts, as OpenMP's static schedule does.

mod is;
mod loops;
mod lulesh;
mod minife;
mod pennant;
mod simplemoc;
mod stages;
#[cfg(test)]
mod tests;

pub use is::IntegerSort;
pub use lulesh::Lulesh;
pub use minife::MiniFe;
pub use pennant::Pennant;
pub use simplemoc::SimpleMoc;
pub use stages::Thread;

use crate::parameter::Result;
use pagetide_types::Bytes;

/// A program of this kind.
pub trait Program {
    /// All of its memory: offsets are below it.
    fn memory(&self) -> Bytes;

    /// Its threads.
    ///
    /// # Errors
    /// Sizes that make no sense, named.
    fn threads(&self, count: u32, seed: u64) -> Result<Vec<Thread>>;
}
