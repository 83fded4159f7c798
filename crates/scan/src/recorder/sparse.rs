//! Processes that are watched sparsely: of their regions only some are visited in an epoch, others in
//! the next, each whole, and they bring a part of the budget only. Enough to see that accesses change.

use super::Recorder;
use pagetide_types::Pid;

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

    /// Which regions are left out of this epoch: of a process that is watched sparsely, all but every
    /// n-th, from a random one on.
    pub(super) fn left_out(&mut self) -> Vec<bool> {
        let from = super::draw::random(&mut self.random)();
        let known = &self.known;
        let mut passed: Vec<f64> = known.iter().map(|_| from).collect();
        let mut left_out = |process: usize| {
            let watch = known[process].watch;
            let before = passed[process].floor();
            passed[process] += watch;
            watch < 1.0 && passed[process].floor() <= before
        };
        self.regions.iter().map(|region| left_out(region.process)).collect()
    }
}
