//! All accesses, seen by all caches.

use super::dense::Dense;
use super::{Misses, Policy, Simulate, TooManyPages, simulate};

pub(super) struct Exact {
    dense: Dense,
    policies: Vec<Box<dyn Simulate>>,
    pages: Vec<u32>,
}

impl Exact {
    pub(super) fn new(policies: &[Policy], sizes: &[u32]) -> Self {
        let policies = policies.iter().map(|policy| simulate(*policy, sizes)).collect();
        Self { dense: Dense::new(), policies, pages: Vec::new() }
    }

    pub(super) fn access(&mut self, names: &[u64]) -> Result<(), TooManyPages> {
        self.pages.clear();
        self.dense.number(names, &mut self.pages)?;
        for policy in &mut self.policies {
            policy.access(&self.pages, self.dense.count());
        }
        Ok(())
    }

    /// Pages seen.
    pub(super) fn seen(&self) -> u32 {
        self.dense.count()
    }

    /// Of a policy, by size.
    pub(super) fn misses(&self, policy: usize) -> Vec<Misses> {
        self.policies[policy].misses().into_iter().map(Misses::Exact).collect()
    }

    /// Of a policy that knows them, misses at every size at which they are others than at the one before.
    pub(super) fn steps(&self, policy: usize) -> Option<Vec<(u32, u64)>> {
        self.policies[policy].steps()
    }
}
