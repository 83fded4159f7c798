//! Processes that are watched sparsely: of their regions only some are visited, each whole, and they bring
//! a part of the budget only. The same regions in every epoch, for others would show other accesses: by the
//! order of a hash of their addresses, so that one region more or less changes little. They are a tenth, or
//! as many as can be paid for: of a tenth that is visited in turn each epoch would see others. A change that
//! misses the sample is not seen: of a hot set of n regions nothing is in it with a probability of 0.9^n.

use super::worth::Worth;
use super::{Known, Recorder, whole};
use pagetide_types::{Bytes, Pid};
use std::hash::BuildHasher;

/// Regions of a process that is watched sparsely, each with the hash that orders them, and which part of
/// them is to be visited.
struct Candidates {
    part: f64,
    regions: Vec<(u64, usize)>,
}

impl Recorder {
    /// Watches these processes with so large a part of the budget that they would have; all others
    /// fully. It holds from the next epoch on.
    pub fn watch_sparsely(&mut self, processes: &[Pid], share: f64) {
        for known in &mut self.known {
            let sparse = processes.contains(&known.pid);
            if known.watch < 1.0 && !sparse {
                // What was seen of it says little.
                self.worth = Worth::default();
            }
            known.watch = if sparse { share.clamp(0.0, 1.0) } else { 1.0 };
        }
    }

    /// From the next epoch on only units of which something is visited have a row, where base pages are units of their own: it
    /// is most of what an epoch costs in which little is visited.
    pub fn glances(&mut self, glances: bool) {
        self.glances = glances;
    }

    /// How much is resident by the mappings, where only what was visited had rows in the last epoch.
    #[must_use]
    pub fn glance(&self) -> Option<Bytes> {
        let alive = self.regions.iter().filter(|region| self.known[region.process].alive);
        let pages = || alive.map(|region| u64::from(region.present)).sum::<u64>();
        self.glanced.then(|| Bytes(pages() << 12))
    }

    /// The part of the budget that the target's processes bring, by their regions.
    pub(super) fn watched_part(&self) -> f64 {
        let parts = self.regions.iter().map(|region| self.known[region.process].watch);
        if self.regions.is_empty() { 1.0 } else { parts.sum::<f64>() / self.regions.len() as f64 }
    }

    /// Of this epoch's `visits`: the regions of processes that are watched sparsely that have one each,
    /// ascending, and by region whether it has none.
    pub(super) fn sparse(&self, visits: f64) -> (Vec<usize>, Vec<bool>) {
        let of = |known: &Known| Candidates { part: known.watch, regions: Vec::new() };
        let mut sparse: Vec<Candidates> = self.known.iter().map(of).collect();
        let mut others = 0;
        let mut left_out = vec![false; self.regions.len()];
        for (at, region) in self.regions.iter().enumerate().filter(|(_, it)| self.can_visit(it)) {
            let process = &mut sparse[region.process];
            if process.part < 1.0 {
                process.regions.push((self.sample.hash_one(region.range.start), at));
                left_out[at] = true;
            } else {
                others += 1;
            }
        }
        let sample = sample(&mut sparse, others, visits);
        sample.iter().for_each(|at| left_out[*at] = false);
        (sample, left_out)
    }
}

/// The first of each by their hashes, ascending; less than the part of them that is asked for where `visits`
/// do not reach for these and the `others` once each.
fn sample(sparse: &mut [Candidates], others: usize, visits: f64) -> Vec<usize> {
    let asked = |of: &Candidates| of.regions.len() as f64 * of.part;
    let all = others as f64 + sparse.iter().map(asked).sum::<f64>();
    let paid = (visits / all.max(1.0)).clamp(0.0, 1.0);
    let mut sample = Vec::new();
    for of in sparse.iter_mut().filter(|of| !of.regions.is_empty()) {
        let stay = whole((asked(of) * paid).ceil().max(1.0));
        let stay = usize::try_from(stay).unwrap_or(usize::MAX).min(of.regions.len());
        of.regions.select_nth_unstable(stay - 1);
        sample.extend(of.regions[..stay].iter().map(|(_, at)| *at));
    }
    sample.sort_unstable();
    sample
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of `regions` with hashes that are all over the place, a tenth at most.
    fn sampled(regions: usize, others: usize, visits: f64) -> Vec<usize> {
        let hash = |at: usize| (at as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let regions = (0..regions).map(|at| (hash(at), at)).collect();
        sample(&mut [Candidates { part: 0.1, regions }], others, visits)
    }

    #[test]
    fn where_a_tenth_cannot_be_paid_for_the_same_fewer_are_visited() {
        let tenth = sampled(1000, 0, 500.0);
        assert_eq!(tenth.len(), 100);
        assert_eq!(sampled(1000, 0, 100.0), tenth);
        let half = sampled(1000, 0, 50.0);
        assert_eq!(half.len(), 50);
        assert!(half.iter().all(|region| tenth.contains(region)), "of these, not others");
        assert_eq!(sampled(1000, 0, 49.5), half);
    }

    #[test]
    fn who_is_watched_fully_takes_visits_as_well() {
        assert_eq!(sampled(1000, 900, 500.0).len(), 50);
        assert_eq!(sampled(1000, 900, 5000.0).len(), 100);
    }

    #[test]
    fn one_region_is_always_visited() {
        assert_eq!(sampled(1000, 0, 0.0).len(), 1);
        assert_eq!(sampled(1000, 0, -3.0).len(), 1);
        assert_eq!(sampled(3, 0, 10.0).len(), 1);
        assert!(sampled(0, 10, 10.0).is_empty());
    }
}
