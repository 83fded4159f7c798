//! A round of moves in a thread of its own, while the caller does something else.

use crate::Mover;
use crate::clocks::Clocks;
use crate::kernel::Kernel;
use crate::order::Work;
use crate::report::Report;
use crate::workers::mover_thread;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle};

/// A round that is over.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Round {
    /// What was asked.
    pub work: Work,
    /// What became of it.
    pub report: Report,
}

/// Moves what was ordered while the caller does something else: order, begin, end; or at once: order, run. One round at
/// a time.
pub struct Background<K> {
    mover: Arc<Mutex<Mover<K>>>,
    clocks: Arc<Clocks>,
    ordered: Option<Work>,
    running: Option<Running>,
}

struct Running {
    thread: JoinHandle<Round>,
    stop: Arc<AtomicBool>,
}

impl<K: Kernel + Send + 'static> Background<K> {
    /// Of a mover that nobody else uses.
    #[must_use]
    pub fn new(mover: Mover<K>) -> Self {
        let clocks = mover.clocks();
        Self { mover: Arc::new(Mutex::new(mover)), clocks, ordered: None, running: None }
    }

    /// The mover; while a round is under way this waits for its end.
    pub fn mover(&self) -> MutexGuard<'_, Mover<K>> {
        self.mover.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next round. Replaces one that did not begin.
    pub fn order(&mut self, work: Work) {
        self.ordered = Some(work);
    }

    /// Whether a round is ordered that has not begun.
    #[must_use]
    pub fn is_ordered(&self) -> bool {
        self.ordered.is_some()
    }

    /// Begins the round that was ordered, if there is one; where no thread can be had nothing moves.
    pub fn begin(&mut self) {
        if self.running.is_some() {
            return;
        }
        let Some(work) = self.ordered.take() else { return };
        self.clocks.reset();
        let stop = Arc::new(AtomicBool::new(false));
        let (asked, mover) = (Arc::clone(&stop), Arc::clone(&self.mover));
        let round = move || {
            let mut mover = mover.lock().unwrap_or_else(PoisonError::into_inner);
            let report = mover.run(&work, &|| asked.load(Ordering::Relaxed));
            Round { work, report }
        };
        match Builder::new().name("mover".into()).spawn(|| mover_thread(round)) {
            Ok(thread) => self.running = Some(Running { thread, stop }),
            Err(error) => tracing::warn!(%error, "no thread to move pages in: they stay for now"),
        }
    }

    /// CPU time of the round under way so far, ns; 0 where there is none.
    #[must_use]
    pub fn cpu_ns(&self) -> u64 {
        if self.running.is_some() { self.clocks.ns() } else { 0 }
    }

    /// Ends the round under way and says what it did: batches under way are finished, and no other begins. A round that
    /// did not begin is forgotten.
    pub fn end(&mut self) -> Option<Round> {
        self.ordered = None;
        let Running { thread, stop } = self.running.take()?;
        stop.store(true, Ordering::Relaxed);
        match thread.join() {
            Ok(round) => Some(round),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    }

    /// The round that was ordered, here and now; until the next batch where `stop` says so.
    pub fn run(&mut self, stop: &(dyn Fn() -> bool + Sync)) -> Option<Round> {
        let work = self.ordered.take()?;
        let report = self.mover().run(&work, stop);
        Some(Round { work, report })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Options, Order, SimPage, SimulatedKernel};
    use pagetide_types::{Bytes, NodeId, Pid, VirtAddr};

    const PID: Pid = Pid(7);
    const HUGE: u64 = 2 << 20;

    /// Huge pages on node 1, and the order to move all of them to node 0.
    fn world(pages: u64) -> (Background<Arc<SimulatedKernel>>, Work) {
        let kernel = Arc::new(SimulatedKernel::two_tiers(pages * 512, pages * 512));
        let end = VirtAddr(pages * HUGE);
        kernel.map(PID, VirtAddr(0), end, true, SimPage::on(NodeId(1)));
        let order = |tag: u32| Order {
            tag,
            pid: PID,
            start: VirtAddr(u64::from(tag) * HUGE),
            end: VirtAddr((u64::from(tag) + 1) * HUGE),
            huge: true,
            from: NodeId(1),
            to: NodeId(0),
            shared: false,
        };
        let promote = (0..u32::try_from(pages).unwrap_or(0)).map(order).collect();
        let mover = Mover::new(kernel, Options { huge_batch: 1, ..Options::default() });
        (Background::new(mover), Work { promote, demote: Vec::new() })
    }

    #[test]
    fn what_was_ordered_moves_meanwhile_and_is_told_at_the_end() {
        let (mut background, work) = world(2000);
        assert_eq!(background.end(), None, "nothing was ordered");
        background.order(work.clone());
        background.begin();
        let Round { work: done, report } = background.end().unwrap();
        assert_eq!((&done, report.orders.len()), (&work, 2000));
        let left: u64 = report.orders.iter().map(|order| order.left).sum();
        assert_eq!(report.promoted.huge_pages * 512 + left, 2000 * 512, "what it left is told");
        assert_eq!(background.end(), None, "once");
    }

    #[test]
    fn what_was_ordered_moves_at_once_where_nobody_watches() {
        let (mut background, work) = world(8);
        assert_eq!(background.run(&|| false), None, "nothing was ordered");
        background.order(work.clone());
        let round = background.run(&|| false).unwrap();
        assert_eq!((round.report.promoted.bytes(), &round.work), (Bytes(8 * HUGE), &work));
        background.order(work);
        let report = background.run(&|| true).unwrap().report;
        assert_eq!(report.promoted.bytes(), Bytes(0), "unless it is to stop");
    }

    #[test]
    fn a_round_that_did_not_begin_is_forgotten() {
        let (mut background, work) = world(1);
        background.order(work);
        assert_eq!(background.end(), None);
        background.begin();
        assert_eq!((background.end(), background.run(&|| false)), (None, None));
    }
}
