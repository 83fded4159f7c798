//! What access patterns draw from: random numbers, permutations without tables, Zipf ranks. The
//! same on every machine for a seed.

mod rng;
mod shuffle;
mod zipf;

pub use rng::{Rng, mix, scale, threshold};
pub use shuffle::Shuffle;
pub use zipf::Zipf;

/// `usize` from an offset; the two are the same on the machines that page tables of ours run on.
#[inline]
pub(crate) const fn index(offset: u64) -> usize {
    const { assert!(usize::BITS == 64) };
    #[expect(clippy::cast_possible_truncation, reason = "checked to be 64 bits")]
    let index = offset as usize;
    index
}
