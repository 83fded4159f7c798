//! Looks once more where everything is that was moved: what somebody else moved back since is no
//! move of ours.

use crate::Refusal;
use crate::kernel::{Kernel, Spot};
use crate::queue::Outcome;
use crate::report::Fate;
use pagetide_types::{Pid, VirtAddr};
use std::collections::BTreeMap;

/// Pages per query.
const PAGES: usize = 1024;

/// Corrects what became of the pages; the time in queries, ns.
pub(crate) fn last_look(kernel: &dyn Kernel, outcomes: &mut [Outcome]) -> u64 {
    let mut by_process: BTreeMap<Pid, Vec<&mut Outcome>> = BTreeMap::new();
    for outcome in outcomes.iter_mut().filter(|outcome| outcome.fate == Fate::Moved) {
        by_process.entry(outcome.entry.pid).or_default().push(outcome);
    }
    let mut looking_ns = 0;
    for (pid, mut moved) in by_process {
        for chunk in moved.chunks_mut(PAGES) {
            let pages: Vec<VirtAddr> = chunk.iter().map(|outcome| outcome.page.addr).collect();
            let start = kernel.now_ns();
            let spots = kernel.locate(pid, &pages);
            looking_ns += kernel.now_ns() - start;
            // A process that ended meanwhile has no pages any more; they had been moved.
            let Ok(spots) = spots else { continue };
            for (outcome, spot) in chunk.iter_mut().zip(spots) {
                outcome.fate = match spot {
                    Spot::On(node) if node == outcome.entry.to => Fate::Moved,
                    Spot::On(_) => Fate::MovedBack,
                    Spot::Not(_) => Fate::Refused(Refusal::Gone),
                };
            }
        }
    }
    looking_ns
}
