//! Sampling by page: all accesses to pages whose hash is low, and none to others, seen by a cache that is smaller
//! in proportion (SHARDS: Waldspurger et al., "Efficient MRC construction with SHARDS", FAST 2015; other
//! policies: "Cache modeling and optimization using miniature simulations", ATC 2017). Misses
//! are scaled up and set against all accesses, which is the correction that the paper calls SHARDS-adj.
//!
//! The error comes from the sample itself: pages fall into groups by other bits of their hashes, and each group is
//! left out once (the delete-a-group jackknife).

use pagetide_access::generators::{mix, threshold};

/// How accesses are sampled.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Sample {
    /// This share of all pages, more than 0 and less than 1.
    Rate(f64),
    /// So many pages: all at first, and less and less of them as more come. LRU only.
    Pages(u32),
}

/// Many traces number their pages from 0. Of 200 such words this one makes the shares of the first
/// 2^14 to 2^24 numbers come out most evenly, at rates from 0.001 to 0.1: within 1.3 standard
/// deviations of chance all of them, where 3.6 is usual.
const SALT: u64 = 0x7b70_89e0_7ef4_36ee;
/// Groups of which each is left out once.
pub(super) const GROUPS: usize = 8;
/// The share of the sampled pages that stay in.
pub(super) const REST: f64 = (GROUPS - 1) as f64 / GROUPS as f64;
/// Student's t for seven degrees of freedom: 95 % lie within, on both sides.
const WITHIN: f64 = 2.365;
/// A size that is less than so many sampled pages is not told.
const FEWEST: f64 = 16.0;

/// Of a page: decides whether it is in the sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Hash(u64);

impl Hash {
    /// Another than that of `Dense`, whose places would else be those of the sample alone.
    pub(super) fn of(name: u64) -> Self {
        Self(mix(name ^ SALT))
    }

    /// The first hash that is not of this share of all.
    pub(super) fn at(rate: f64) -> Self {
        Self(threshold(rate))
    }

    /// The share of hashes below.
    pub(super) fn share(self) -> f64 {
        self.0 as f64 / 2f64.powi(64)
    }

    pub(super) fn group(self) -> usize {
        #[expect(clippy::cast_possible_truncation, reason = "the lowest bits")]
        let low = self.0 as usize;
        low % GROUPS
    }
}

/// Whether a size can be told at a rate.
pub(super) fn told(size: u32, rate: f64) -> bool {
    f64::from(size) * rate >= FEWEST
}

/// Half the width of the interval that holds the truth in 95 %, from what came out without each group.
pub(super) fn error(without: &[f64]) -> f64 {
    let n = without.len() as f64;
    let mean = without.iter().sum::<f64>() / n;
    let squares: f64 = without.iter().map(|one| (one - mean).powi(2)).sum();
    WITHIN * (squares * (n - 1.0) / n).sqrt()
}
