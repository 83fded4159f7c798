//! Threads that empty a queue, batch by batch.

use crate::batch::Batch;
use crate::clocks::Clocks;
use crate::kernel::Kernel;
use crate::order::Page;
use crate::queue::{Entry, Next, Outcome, Queue};
use crate::tally::Tally;
use crate::{Options, Refusal};
use pagetide_privilege::Capabilities;
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread;

/// What all threads share beside the queue.
#[derive(Clone, Copy)]
pub(crate) struct Workers<'a> {
    pub(crate) kernel: &'a dyn Kernel,
    pub(crate) options: &'a Options,
    pub(crate) clocks: &'a Clocks,
    /// Whether to stop; batches under way are finished.
    pub(crate) stop: &'a (dyn Fn() -> bool + Sync),
}

/// The queue, and word that it changed.
struct Shared<'a> {
    queue: Mutex<Queue<'a>>,
    changed: Condvar,
}

/// A thread that only moves pages: it has neither the precedence of the one that observes nor more
/// of its capabilities than moving takes.
pub(crate) fn mover_thread<T>(work: impl FnOnce() -> T) -> T {
    pagetide_privilege::ordinary();
    if let Err(error) = Capabilities::MOVING.keep() {
        tracing::warn!(%error, "a moving thread keeps our capabilities");
    }
    work()
}

impl Workers<'_> {
    /// Runs the queue empty; what became of each page, and what all calls cost. The round began at
    /// `start_ns` of the kernel's clock.
    pub(crate) fn run(self, queue: Queue<'_>, start_ns: u64) -> (Vec<Outcome>, Tally) {
        let shared = Shared { queue: Mutex::new(queue), changed: Condvar::new() };
        let work = || self.work(&shared, start_ns);
        let other = || {
            let _running = self.clocks.enter();
            work()
        };
        let others = self.options.threads.max(1) - 1;
        let tally = thread::scope(|scope| {
            let threads: Vec<_> =
                (0..others).map(|_| scope.spawn(|| mover_thread(other))).collect();
            let mut tally = work();
            for thread in threads {
                match thread.join() {
                    Ok(theirs) => tally += theirs,
                    Err(panic) => std::panic::resume_unwind(panic),
                }
            }
            tally
        });
        let queue = shared.queue.into_inner().unwrap_or_else(PoisonError::into_inner);
        (queue.outcomes, tally)
    }

    /// One thread: batch after batch until nothing is left.
    fn work(self, shared: &Shared<'_>, start_ns: u64) -> Tally {
        let mut tally = Tally::default();
        let mut queue = shared.queue.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if self.time_is_up(start_ns) || (self.stop)() {
                queue.give_up(Refusal::OutOfTime);
            }
            match queue.next() {
                Next::Finished => break,
                Next::Wait => {
                    queue = shared.changed.wait(queue).unwrap_or_else(PoisonError::into_inner);
                }
                Next::Batch(entries) => {
                    drop(queue);
                    let pages: Vec<Page> = entries.iter().map(|entry| entry.page).collect();
                    let Entry { pid, to, shared: all, .. } = entries[0];
                    let did = Batch { kernel: self.kernel, pid, to, shared: all }.run(&pages);
                    tally += did.tally;
                    queue = shared.queue.lock().unwrap_or_else(PoisonError::into_inner);
                    queue.finish(&entries, &did.done);
                    if did.splits > 0 {
                        queue.no_huge_page(to);
                    }
                    shared.changed.notify_all();
                }
            }
        }
        shared.changed.notify_all();
        tally
    }

    fn time_is_up(self, start_ns: u64) -> bool {
        let spent = u128::from(self.kernel.now_ns() - start_ns);
        self.options.time.is_some_and(|time| spent >= time.as_nanos())
    }
}
