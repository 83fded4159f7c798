//! A sample of so many pages, whatever there are: those with the lowest hashes so far (SHARDS, section 3.2).
//! An access stands for as many as the sample was smaller than all when it came.

use super::dense::Dense;
use super::distances::Distances;
use super::sample::{self, GROUPS, Hash, REST};
use super::{Misses, TooManyPages};
use std::collections::BinaryHeap;

/// LRU over the sample, or over the sample without a group.
struct Lru {
    distances: Distances,
    /// Share of the sample's pages that it sees.
    share: f64,
    /// Accesses, by the first size that hits; behind the last those that none does.
    weights: Vec<f64>,
}

impl Lru {
    fn new(sizes: &[u32], share: f64) -> Self {
        Self { distances: Distances::new(), share, weights: vec![0.0; sizes.len() + 1] }
    }

    /// `rate`: the sample's share of all pages.
    fn access(&mut self, page: u32, sizes: &[u32], rate: f64) {
        let rate = rate * self.share;
        self.distances.make_room(page + 1);
        let weights = &mut self.weights;
        self.distances.access(&[page], |others| {
            let first_hit = others.map_or(sizes.len(), |others| {
                sizes.partition_point(|size| f64::from(*size) * rate < f64::from(others) + 0.5)
            });
            weights[first_hit] += 1.0 / rate;
        });
    }

    /// By size.
    fn misses(&self) -> Vec<f64> {
        let mut above: f64 = self.weights.iter().sum();
        let (_, hits) = self.weights.split_last().unwrap_or((&0.0, &[]));
        hits.iter()
            .map(|hits| {
                above -= hits;
                above
            })
            .collect()
    }
}

pub(super) struct Shrinking {
    most: usize,
    sizes: Vec<u32>,
    limit: Hash,
    dense: Dense,
    /// The pages in the sample, the first to go on top.
    pages: BinaryHeap<(Hash, u32)>,
    whole: Lru,
    without: Vec<Lru>,
    sampled: u64,
    number: Vec<u32>,
}

impl Shrinking {
    pub(super) fn new(sizes: &[u32], pages: u32) -> Self {
        Self {
            most: pages as usize,
            sizes: sizes.to_vec(),
            limit: Hash::at(1.0),
            dense: Dense::new(),
            pages: BinaryHeap::new(),
            whole: Lru::new(sizes, 1.0),
            without: (0..GROUPS).map(|_| Lru::new(sizes, REST)).collect(),
            sampled: 0,
            number: Vec::new(),
        }
    }

    pub(super) fn access(&mut self, names: &[u64]) -> Result<(), TooManyPages> {
        for name in names {
            let hash = Hash::of(*name);
            if hash < self.limit {
                self.access_one(*name, hash)?;
            }
        }
        Ok(())
    }

    fn access_one(&mut self, name: u64, hash: Hash) -> Result<(), TooManyPages> {
        self.sampled += 1;
        let known = self.dense.count();
        self.number.clear();
        self.dense.number(&[name], &mut self.number)?;
        let Some(page) = self.number.last().copied() else { return Ok(()) };
        let rate = self.limit.share();
        self.whole.access(page, &self.sizes, rate);
        for (group, without) in self.without.iter_mut().enumerate() {
            if group != hash.group() {
                without.access(page, &self.sizes, rate);
            }
        }
        if page == known {
            self.pages.push((hash, page));
        }
        if self.pages.len() > self.most
            && let Some((limit, page)) = self.pages.pop()
        {
            self.limit = limit;
            for caches in std::iter::once(&mut self.whole).chain(&mut self.without) {
                caches.distances.forget(page);
            }
        }
        Ok(())
    }

    /// Accesses that were in the sample, pages that are at the end, and its share of all pages then.
    pub(super) fn seen(&self) -> (u64, u64, f64) {
        (self.sampled, self.pages.len() as u64, self.limit.share())
    }

    /// By size.
    pub(super) fn misses(&self) -> Vec<Misses> {
        let without: Vec<Vec<f64>> = self.without.iter().map(Lru::misses).collect();
        let of_size = |(i, misses): (usize, f64)| {
            if !sample::told(self.sizes[i], self.limit.share()) {
                return Misses::Untold;
            }
            let each: Vec<f64> = without.iter().map(|one| one[i]).collect();
            Misses::Estimated { misses, error: sample::error(&each) }
        };
        self.whole.misses().into_iter().enumerate().map(of_size).collect()
    }
}
