//! Carries out a round of moves: whom to ask, the work itself, and what became of it.

use crate::backoff::BackOff;
use crate::clocks::Clocks;
use crate::kernel::Kernel;
use crate::last_look::last_look;
use crate::make_room::for_round;
use crate::order::{Order, Work};
use crate::queue::{Entry, Outcome, Queue, Sizes};
use crate::report::{Direction, Fate, OrderReport, Report};
use crate::workers::Workers;
use crate::{Options, Refusal};
use pagetide_types::{Bytes, Pid, VirtAddr};
use std::collections::VecDeque;
use std::sync::Arc;

/// Moves pages, and remembers which refuse.
pub struct Mover<K> {
    kernel: K,
    options: Options,
    refused: BackOff<(Pid, VirtAddr)>,
    clocks: Arc<Clocks>,
}

impl<K: Kernel> Mover<K> {
    /// A mover on a kernel.
    #[must_use]
    pub fn new(kernel: K, options: Options) -> Self {
        Self { kernel, options, refused: BackOff::default(), clocks: Arc::default() }
    }

    /// The kernel that it moves on.
    pub fn kernel(&self) -> &K {
        &self.kernel
    }

    /// Ends it, and gives the kernel back.
    pub fn into_kernel(self) -> K {
        self.kernel
    }

    /// CPU time of its rounds.
    pub(crate) fn clocks(&self) -> Arc<Clocks> {
        Arc::clone(&self.clocks)
    }

    /// How it moves.
    pub fn options_mut(&mut self) -> &mut Options {
        &mut self.options
    }

    /// Carries out `work`. Promotions and demotions overlap; what does not fit is refused. Asked
    /// now and then whether to `stop`; batches under way are finished.
    ///
    /// Nothing that happens to a page harms its owner: the kernel moves it or leaves it.
    pub fn run(&mut self, work: &Work, stop: &(dyn Fn() -> bool + Sync)) -> Report {
        let clocks = Arc::clone(&self.clocks);
        clocks.reset();
        let running = clocks.enter();
        self.refused.next_round();
        let mut waiting = Vec::new();
        let promote = entries(&work.promote, 0, Direction::Promote);
        let promote = self.asked(promote, &mut waiting);
        let demote = entries(&work.demote, work.promote.len(), Direction::Demote);
        let demote = self.asked(demote, &mut waiting);
        let sizes = Sizes {
            huge: self.options.huge_batch,
            base: self.options.base_batch,
            split: self.options.split,
        };
        let splits = self.kernel.splits();
        let start = self.kernel.now_ns();
        let workers =
            Workers { kernel: &self.kernel, options: &self.options, clocks: &clocks, stop };
        // The other half of the time is for moves.
        let half_ns = self.options.time.map(|time| time.as_nanos() / 2);
        let spent_ns = || u128::from(self.kernel.now_ns() - start);
        let enough = || stop() || half_ns.is_some_and(|half_ns| spent_ns() >= half_ns);
        let made = for_round(&self.kernel, &self.options, (&promote, &demote), &enough);
        let making_room_ns = clocks.ns();
        let queue = Queue::new(&self.kernel, sizes, &self.options.reserve, promote, demote);
        let (mut outcomes, mut tally) = workers.run(queue, start);
        tally.looking_ns += last_look(&self.kernel, &mut outcomes);
        outcomes.append(&mut waiting);
        let mut report = Report {
            splits: self.kernel.splits().saturating_sub(splits + made.splits),
            found_split: tally.found_split,
            cache_given_up: Bytes(made.pages << 12),
            cache_refused: made.refused,
            making_room_ns,
            calls: tally.calls,
            moving_ns: tally.moving_ns,
            longest_call_ns: tally.longest_call_ns,
            looking_ns: tally.looking_ns,
            wall_ns: self.kernel.now_ns() - start,
            orders: (work.promote.iter().chain(&work.demote))
                .map(|order| OrderReport { tag: order.tag, ..OrderReport::default() })
                .collect(),
            ..Report::default()
        };
        for outcome in outcomes {
            self.learn(&outcome);
            let Outcome { entry, page, fate } = outcome;
            report.count(page, fate, entry.direction);
            report.orders[entry.order].count(page, fate);
        }
        drop(running);
        report.cpu_ns = clocks.ns().saturating_sub(making_room_ns);
        report
    }

    /// Those that are to be asked in this round; the others are added to `waiting`.
    fn asked(&self, entries: VecDeque<Entry>, waiting: &mut Vec<Outcome>) -> VecDeque<Entry> {
        let (wait, asked): (VecDeque<_>, VecDeque<_>) = entries
            .into_iter()
            .partition(|entry| self.refused.waits(&(entry.pid, entry.page.addr)));
        let fate = Fate::Refused(Refusal::Waiting);
        waiting.extend(wait.into_iter().map(|entry| Outcome { entry, page: entry.page, fate }));
        asked
    }

    /// Remembers who refused.
    fn learn(&mut self, Outcome { entry, page, fate }: &Outcome) {
        let who = (entry.pid, page.addr);
        match fate {
            Fate::Moved => self.refused.obeyed(&who),
            Fate::Refused(why) if why.is_of_the_page() => self.refused.refused(who),
            _ => {}
        }
    }
}

/// The pages of orders, which are numbered from `first` on.
fn entries(orders: &[Order], first: usize, direction: Direction) -> VecDeque<Entry> {
    let entry = |(order, of): (usize, &Order)| {
        let Order { pid, to, from, shared, .. } = *of;
        of.pages().map(move |page| Entry { order, direction, pid, page, from, to, shared })
    };
    (first..).zip(orders).flat_map(entry).collect()
}

#[cfg(test)]
#[path = "mover_tests.rs"]
mod tests;
