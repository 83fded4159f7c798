//! Processes that are watched sparsely: of their regions only some are visited, each whole, and they bring
//! a part of the budget only. The same regions in every epoch, for others would show other accesses: by the
//! order of a hash of their addresses, so that one region more or less changes little. A change that misses
//! the sample is not seen: of a hot set of n regions nothing is in it with a probability of 0.9^n.

use super::{Recorder, whole};
use pagetide_types::Pid;
use std::hash::BuildHasher;

impl Recorder {
    /// Watches these processes with so large a part of the budget that they would have; all others
    /// fully. It holds from the next epoch on.
    pub fn watch_sparsely(&mut self, processes: &[Pid], share: f64) {
        for known in &mut self.known {
            let sparse = processes.contains(&known.pid);
            known.watch = if sparse { share.clamp(0.0, 1.0) } else { 1.0 };
        }
    }

    /// The part of the budget that the target's processes bring, by their regions.
    pub(super) fn watched_part(&self) -> f64 {
        let parts = self.regions.iter().map(|region| self.known[region.process].watch);
        if self.regions.is_empty() { 1.0 } else { parts.sum::<f64>() / self.regions.len() as f64 }
    }

    /// Which regions are left out of this epoch: of a process that is watched sparsely, all but a part.
    pub(super) fn left_out(&self) -> Vec<bool> {
        let mut left_out = vec![false; self.regions.len()];
        let mut sparse: Vec<Vec<(u64, usize)>> = self.known.iter().map(|_| Vec::new()).collect();
        for (at, region) in self.regions.iter().enumerate().filter(|(_, it)| self.can_visit(it)) {
            if self.known[region.process].watch < 1.0 {
                sparse[region.process].push((self.sample.hash_one(region.range.start), at));
            }
        }
        for (known, mut regions) in self.known.iter().zip(sparse) {
            let part = whole((regions.len() as f64 * known.watch).ceil());
            let stay = usize::try_from(part).unwrap_or(usize::MAX);
            if stay < regions.len() {
                regions.select_nth_unstable(stay);
                regions[stay..].iter().for_each(|(_, at)| left_out[*at] = true);
            }
        }
        left_out
    }
}
