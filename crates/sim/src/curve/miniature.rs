//! A sample of a fixed share of the pages, seen by caches that are smaller in proportion.

use super::dense::Dense;
use super::sample::{self, GROUPS, Hash, REST};
use super::{Misses, Policy, Simulate, TooManyPages, simulate};

/// The number of a page that is left out.
const NONE: u32 = u32::MAX;

/// Caches of all policies that see the sample, or the sample without a group.
struct Caches {
    policies: Vec<Box<dyn Simulate>>,
    /// The share of all pages that they see.
    rate: f64,
}

impl Caches {
    fn new(policies: &[Policy], sizes: &[u32], rate: f64) -> Self {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "less than 2^32"
        )]
        let scaled = |size: &u32| (f64::from(*size) * rate).round() as u32;
        let sizes: Vec<u32> = sizes.iter().map(scaled).collect();
        Self { policies: policies.iter().map(|policy| simulate(*policy, &sizes)).collect(), rate }
    }

    fn access(&mut self, pages: &[u32], seen: u32) {
        for policy in &mut self.policies {
            policy.access(pages, seen);
        }
    }

    /// Misses of a policy, if all pages were as those of the sample.
    fn estimates(&self, policy: usize) -> Vec<f64> {
        self.policies[policy].misses().iter().map(|misses| *misses as f64 / self.rate).collect()
    }
}

/// The sample without a group.
struct Without {
    caches: Caches,
    group: usize,
    /// By number in the whole sample.
    numbers: Vec<u32>,
    count: u32,
    pages: Vec<u32>,
}

impl Without {
    fn access(&mut self, pages: &[u32], groups: &[usize]) {
        self.pages.clear();
        for (page, group) in pages.iter().zip(groups) {
            let other = *group != self.group;
            if *page as usize == self.numbers.len() {
                self.numbers.push(if other { self.count } else { NONE });
                self.count += u32::from(other);
            }
            if other {
                self.pages.push(self.numbers[*page as usize]);
            }
        }
        self.caches.access(&self.pages, self.count);
    }
}

pub(super) struct Miniature {
    limit: Hash,
    /// Sizes that are too small to be told; the others follow.
    untold: usize,
    dense: Dense,
    whole: Caches,
    without: Vec<Without>,
    sampled: u64,
    /// What of a batch is in the sample.
    names: Vec<u64>,
    groups: Vec<usize>,
    pages: Vec<u32>,
}

impl Miniature {
    pub(super) fn new(policies: &[Policy], sizes: &[u32], rate: f64) -> Self {
        let untold = sizes.partition_point(|size| !sample::told(*size, rate));
        let caches = |rate| Caches::new(policies, &sizes[untold..], rate);
        let without = |group| Without {
            caches: caches(rate * REST),
            group,
            numbers: Vec::new(),
            count: 0,
            pages: Vec::new(),
        };
        Self {
            limit: Hash::at(rate),
            untold,
            dense: Dense::new(),
            whole: caches(rate),
            without: (0..GROUPS).map(without).collect(),
            sampled: 0,
            names: Vec::new(),
            groups: Vec::new(),
            pages: Vec::new(),
        }
    }

    pub(super) fn access(&mut self, names: &[u64]) -> Result<(), TooManyPages> {
        self.names.clear();
        self.groups.clear();
        self.pages.clear();
        for name in names {
            let hash = Hash::of(*name);
            if hash < self.limit {
                self.names.push(*name);
                self.groups.push(hash.group());
            }
        }
        self.sampled += self.names.len() as u64;
        self.dense.number(&self.names, &mut self.pages)?;
        self.whole.access(&self.pages, self.dense.count());
        for without in &mut self.without {
            without.access(&self.pages, &self.groups);
        }
        Ok(())
    }

    /// Accesses and pages in the sample, and its share of all pages.
    pub(super) fn seen(&self) -> (u64, u64, f64) {
        (self.sampled, self.dense.count().into(), self.whole.rate)
    }

    /// Of a policy, by size.
    pub(super) fn misses(&self, policy: usize) -> Vec<Misses> {
        let without: Vec<Vec<f64>> =
            self.without.iter().map(|without| without.caches.estimates(policy)).collect();
        let told = self.whole.estimates(policy).into_iter().enumerate().map(|(i, misses)| {
            let each: Vec<f64> = without.iter().map(|one| one[i]).collect();
            Misses::Estimated { misses, error: sample::error(&each) }
        });
        std::iter::repeat_n(Misses::Untold, self.untold).chain(told).collect()
    }
}
