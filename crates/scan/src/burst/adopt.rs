//! Bursts that somebody else began: pieces that were cleared by `clear_refs` just before. They get
//! the looks of a first burst, and no further one in the epoch.

use super::Bursts;
use crate::activity::Activity;
use crate::batch::Batch;
use crate::evidence::{RUNGS, gap_ns};
use crate::eyes::Eyes;
use crate::sample::Sample;
use std::cmp::Reverse;

/// First look after clearing and flushing: 5 ms.
const FLUSHED_RUNG: usize = 5;
/// First look where translations may have stayed cached: 0.33 s. Of 32 hot base pages none to all
/// were seen after 20 ms, at least 27 after 0.33 s: other work on the CPU evicts them.
const CACHED_RUNG: usize = 8;

/// One process's pieces, cleared at one go.
#[derive(Clone, Debug)]
pub(crate) struct Cleared {
    pub(crate) process: usize,
    /// In the order in which they were cleared.
    pub(crate) samples: Vec<Sample>,
    /// When clearing began, and when it (and the flush) had ended.
    pub(crate) from_ns: u64,
    pub(crate) to_ns: u64,
    /// What the process did then.
    pub(crate) activity: Activity,
    /// No translation of before is cached any more.
    pub(crate) flushed: bool,
}

impl<E: Eyes> Bursts<'_, E> {
    /// Takes over the looks at what was cleared.
    pub(crate) fn adopt(&mut self, cleared: Cleared) {
        let Cleared { process, samples, from_ns, to_ns, activity, flushed } = cleared;
        let took = to_ns.saturating_sub(from_ns);
        self.tally.refs_ns += took;
        self.tally.longest_clear_ns = self.tally.longest_clear_ns.max(took);
        let first = if flushed { FLUSHED_RUNG } else { CACHED_RUNG };
        // Clearing must be short against the gap.
        let start = (first..RUNGS).find(|rung| gap_ns(*rung) >= 4 * took).unwrap_or(RUNGS - 1);
        let first_sample = self.samples.len();
        let count = samples.len().max(1) as u64;
        for (i, mut sample) in (0..).zip(samples) {
            sample.watched = true;
            sample.cached = !flushed;
            sample.risk = sample.total();
            sample.looked_ns = from_ns + took * i / count;
            self.samples.push(sample);
        }
        let batch = Batch {
            process,
            first_sample,
            end_sample: self.samples.len(),
            start,
            rung: start,
            cleared_ns: to_ns,
            looked_ns: to_ns,
            activity: Some(activity),
            bursts: 1,
            once: true,
            queued: false,
            first_seen: 0,
            first_risk: 0,
        };
        self.due.push(Reverse((to_ns + gap_ns(start), self.batches.len(), batch.bursts)));
        self.batches.push(batch);
    }
}
