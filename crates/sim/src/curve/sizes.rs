//! Sizes of caches when all are asked for: 1, 2, 3, 4, 6, 8, 12, 16... pages, two for each doubling. LRU knows
//! the sizes in between as well; under FIFO and CLOCK every size is a simulation of its own.

use super::TooManyPages;

/// All of them, in pages.
pub(super) fn grid() -> Vec<u32> {
    let doublings = (0..31).flat_map(|power| [1u32 << power, (1 << power) / 2 * 3]);
    let mut sizes: Vec<u32> = doublings.filter(|size| *size <= TooManyPages::MOST).collect();
    sizes.sort_unstable();
    sizes.retain(|size| *size > 0);
    sizes.dedup();
    sizes
}

/// How many of these sizes say something where there are so many pages: up to the first that holds all.
pub(super) fn telling(sizes: &[u32], pages: f64) -> usize {
    (sizes.partition_point(|size| f64::from(*size) < pages) + 1).min(sizes.len())
}
