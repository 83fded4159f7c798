//! Miss ratios of a cache of pages by its size, under LRU, FIFO and CLOCK, in one pass over the accesses:
//! exact, or on a sample with its error.

mod clock;
pub(crate) mod dense;
mod distances;
mod exact;
mod fifo;
mod lru;
mod memory;
mod miniature;
mod recency;
mod rows;
mod run;
mod sample;
mod shrinking;
mod sizes;
#[cfg(test)]
mod tests;

pub use run::{AskedError, Curve, Curves, Point, Sampled, Simulation, Sizes};
pub use sample::Sample;

/// What decides which page leaves a full cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// The one accessed longest ago.
    Lru,
    /// The one that came in first.
    Fifo,
    /// The one that came in first, unless it was accessed since: then it comes in again, at once.
    Clock,
}

impl Policy {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Lru, Self::Fifo, Self::Clock];

    /// How it is called on a command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Lru => "lru",
            Self::Fifo => "fifo",
            Self::Clock => "clock",
        }
    }
}

impl std::fmt::Display for Policy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.name())
    }
}

/// How many accesses missed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Misses {
    /// So many.
    Exact(u64),
    /// By a sample.
    Estimated {
        /// About so many.
        misses: f64,
        /// More or less by so many in 95 of 100 cases.
        error: f64,
    },
    /// The sample is too small to tell.
    Untold,
}

/// Caches of one policy at some sizes.
///
/// Pages are numbered in the order of their first access: the first access to n comes after those to
/// 0 to n - 1.
trait Simulate {
    /// Accesses in their order; `seen` pages were accessed after the last of them.
    fn access(&mut self, pages: &[u32], seen: u32);

    /// Misses so far by size, in the order in which sizes were given.
    fn misses(&self) -> Vec<u64>;

    /// Misses at every size at which they are others than at the one before, where the policy knows.
    fn steps(&self) -> Option<Vec<(u32, u64)>> {
        None
    }
}

/// From so many sizes on LRU at every size costs less.
const MANY_SIZES: usize = 16;

/// Caches of a policy at these sizes, which are in order.
fn simulate(policy: Policy, sizes: &[u32]) -> Box<dyn Simulate> {
    // What holds all pages holds all pages.
    let sizes: Vec<u32> = sizes.iter().map(|size| (*size).min(TooManyPages::MOST)).collect();
    let sizes = sizes.as_slice();
    match policy {
        Policy::Lru if sizes.len() < MANY_SIZES => Box::new(lru::Lru::new(sizes)),
        Policy::Lru => Box::new(distances::EverySize::new(sizes)),
        Policy::Fifo => Box::new(rows::Rows::<fifo::Fifo>::new(sizes)),
        Policy::Clock => Box::new(rows::Rows::<clock::Clock>::new(sizes)),
    }
}

/// There are more pages than numbers for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there are more than 2^30 pages")]
pub struct TooManyPages;

impl TooManyPages {
    const MOST: u32 = 1 << 30;
}
