//! Carries out a round of moves: batches on several threads, each page checked at the end.

use crate::Refusal;
use crate::backoff::BackOff;
use crate::batch::{Batch, BatchReport};
use crate::kernel::{Kernel, Spot};
use crate::order::{Order, Page, Work};
use crate::queue::{Entry, Next, Queue, Sizes};
use crate::report::{Direction, Fate, OrderReport, Report};
use pagetide_types::{Bytes, NodeId, Pid, VirtAddr};
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// Pages per query of the last check.
const CHECK: usize = 1024;

/// How to move.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Huge pages in one call. Nimble found 8 (section 3.1.3): more are out of reach for longer
    /// and gain nothing.
    pub huge_batch: usize,
    /// Base pages in one call; 512 there.
    pub base_batch: usize,
    /// Threads that call at once, each for pages of its own.
    pub threads: usize,
    /// Whether a huge page may be moved in pieces where the target has no free block for it.
    pub split: bool,
    /// What must stay free of each node at the end of a round.
    pub reserve: BTreeMap<NodeId, Bytes>,
    /// No batch begins after so much time.
    pub time: Option<Duration>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            huge_batch: 8,
            base_batch: 512,
            threads: 1,
            split: false,
            reserve: BTreeMap::new(),
            time: None,
        }
    }
}

/// Moves pages, and remembers which refuse.
pub struct Mover<K> {
    kernel: K,
    options: Options,
    refused: BackOff<(Pid, VirtAddr)>,
}

impl<K: Kernel> Mover<K> {
    /// A mover on a kernel.
    #[must_use]
    pub fn new(kernel: K, options: Options) -> Self {
        Self { kernel, options, refused: BackOff::default() }
    }

    /// The kernel that it moves on.
    pub fn kernel(&self) -> &K {
        &self.kernel
    }

    /// Ends it, and gives the kernel back.
    pub fn into_kernel(self) -> K {
        self.kernel
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
        self.refused.next_round();
        let mut report = Report::default();
        let promote = entries(&work.promote, 0, Direction::Promote);
        let demote = entries(&work.demote, work.promote.len(), Direction::Demote);
        let orders = work.promote.iter().chain(&work.demote);
        report.orders =
            orders.map(|order| OrderReport { tag: order.tag, ..OrderReport::default() }).collect();
        let waiting: Vec<(Entry, Page, Fate)> = promote
            .iter()
            .chain(&demote)
            .filter(|entry| self.waits(entry))
            .map(|entry| (*entry, entry.page, Fate::Refused(Refusal::Waiting)))
            .collect();
        let asked = |entries: VecDeque<Entry>| -> VecDeque<Entry> {
            entries.into_iter().filter(|entry| !self.waits(entry)).collect()
        };
        let sizes = Sizes {
            huge: self.options.huge_batch,
            base: self.options.base_batch,
            split: self.options.split,
        };
        let splits = self.kernel.splits();
        let start = self.kernel.now_ns();
        let queue =
            Queue::new(&self.kernel, sizes, &self.options.reserve, asked(promote), asked(demote));
        let (mut done, tallies) = self.work(queue, start, stop);
        for tally in tallies {
            report.calls += tally.calls;
            report.moving_ns += tally.moving_ns;
            report.looking_ns += tally.looking_ns;
            report.longest_call_ns = report.longest_call_ns.max(tally.longest_call_ns);
            report.found_split += tally.found_split;
        }
        self.check(&mut done, &mut report);
        report.wall_ns = self.kernel.now_ns() - start;
        report.splits = self.kernel.splits().saturating_sub(splits);
        for (entry, page, fate) in done.into_iter().chain(waiting) {
            match fate {
                Fate::Moved => self.refused.obeyed(&(entry.pid, page.addr)),
                Fate::Refused(why) if why.is_of_the_page() => {
                    self.refused.refused((entry.pid, page.addr));
                }
                _ => {}
            }
            report.count(page, fate, entry.direction);
            report.orders[entry.order].count(page, fate);
        }
        report
    }

    fn waits(&self, entry: &Entry) -> bool {
        self.refused.waits(&(entry.pid, entry.page.addr))
    }

    /// Runs the queue empty on all threads; what became of each page, and the batches' tallies.
    fn work(
        &self,
        queue: Queue<'_>,
        start_ns: u64,
        stop: &(dyn Fn() -> bool + Sync),
    ) -> (Vec<(Entry, Page, Fate)>, Vec<BatchReport>) {
        let shared = (Mutex::new(queue), Condvar::new());
        let worker = || self.worker(&shared, start_ns, stop);
        let others = self.options.threads.max(1) - 1;
        let tallies = thread::scope(|scope| {
            let threads: Vec<_> = (0..others).map(|_| scope.spawn(worker)).collect();
            let mut tallies = vec![worker()];
            for thread in threads {
                match thread.join() {
                    Ok(tally) => tallies.push(tally),
                    Err(panic) => std::panic::resume_unwind(panic),
                }
            }
            tallies
        });
        let queue = shared.0.into_inner().unwrap_or_else(PoisonError::into_inner);
        (queue.done, tallies)
    }

    fn worker(
        &self,
        shared: &(Mutex<Queue<'_>>, Condvar),
        start_ns: u64,
        stop: &(dyn Fn() -> bool + Sync),
    ) -> BatchReport {
        let (queue, changed) = shared;
        let mut tally = BatchReport::default();
        let mut locked = queue.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            let over = self
                .options
                .time
                .is_some_and(|time| u128::from(self.kernel.now_ns() - start_ns) >= time.as_nanos());
            if over || stop() {
                locked.give_up(Refusal::OutOfTime);
            }
            match locked.next() {
                Next::Finished => break,
                Next::Wait => {
                    locked = changed.wait(locked).unwrap_or_else(PoisonError::into_inner);
                }
                Next::Batch(batch) => {
                    drop(locked);
                    let pages: Vec<Page> = batch.iter().map(|entry| entry.page).collect();
                    let (pid, to) = (batch[0].pid, batch[0].to);
                    let did = Batch { kernel: &self.kernel, pid, to }.run(&pages);
                    tally.calls += did.calls;
                    tally.moving_ns += did.moving_ns;
                    tally.looking_ns += did.looking_ns;
                    tally.found_split += did.found_split;
                    tally.longest_call_ns = tally.longest_call_ns.max(did.longest_call_ns);
                    locked = queue.lock().unwrap_or_else(PoisonError::into_inner);
                    let fates =
                        did.done.iter().map(|done| (done.entry, done.page, done.from, done.fate));
                    locked.finish(&batch, fates);
                    if did.splits > 0 {
                        locked.no_huge_page(to);
                    }
                    changed.notify_all();
                }
            }
        }
        changed.notify_all();
        tally
    }

    /// Looks once more where everything is that was moved: what somebody else moved back since is
    /// no move of ours.
    fn check(&self, done: &mut [(Entry, Page, Fate)], report: &mut Report) {
        let mut by_process: BTreeMap<Pid, Vec<usize>> = BTreeMap::new();
        for (at, (entry, _, fate)) in done.iter().enumerate() {
            if *fate == Fate::Moved {
                by_process.entry(entry.pid).or_default().push(at);
            }
        }
        for (pid, moved) in by_process {
            for chunk in moved.chunks(CHECK) {
                let pages: Vec<VirtAddr> = chunk.iter().map(|at| done[*at].1.addr).collect();
                let start = self.kernel.now_ns();
                let spots = self.kernel.locate(pid, &pages);
                report.looking_ns += self.kernel.now_ns() - start;
                // A process that ended meanwhile has no pages any more; they had been moved.
                let Ok(spots) = spots else { continue };
                for (at, spot) in chunk.iter().zip(spots) {
                    let (entry, _, fate) = &mut done[*at];
                    *fate = match spot {
                        Spot::On(node) if node == entry.to => Fate::Moved,
                        Spot::On(_) => Fate::MovedBack,
                        Spot::Not(_) => Fate::Refused(Refusal::Gone),
                    };
                }
            }
        }
    }
}

/// The pages of orders, which are numbered from `first` on.
fn entries(orders: &[Order], first: usize, direction: Direction) -> VecDeque<Entry> {
    let entry = |(order, of): (usize, &Order)| {
        let Order { pid, to, from, .. } = *of;
        of.pages().map(move |page| Entry { order, direction, pid, page, from, to })
    };
    (first..).zip(orders).flat_map(entry).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Amount;
    use crate::simulated::{SimPage, SimulatedKernel};

    const PID: Pid = Pid(7);
    const FAST: NodeId = NodeId(0);
    const SLOW: NodeId = NodeId(1);
    const HUGE: u64 = 2 << 20;

    fn order(tag: u32, start: u64, bytes: u64, huge: bool, from: NodeId, to: NodeId) -> Order {
        let (start, end) = (VirtAddr(start), VirtAddr(start + bytes));
        Order { tag, pid: PID, start, end, huge, from, to }
    }

    fn up(tag: u32, huge_page: u64) -> Order {
        order(tag, huge_page * HUGE, HUGE, true, SLOW, FAST)
    }

    fn down(tag: u32, huge_page: u64) -> Order {
        order(tag, huge_page * HUGE, HUGE, true, FAST, SLOW)
    }

    /// Huge pages `range` on a node.
    fn put(kernel: &SimulatedKernel, range: std::ops::Range<u64>, on: NodeId) {
        let (start, end) = (VirtAddr(range.start * HUGE), VirtAddr(range.end * HUGE));
        kernel.map(PID, start, end, true, SimPage::on(on));
    }

    fn run(mover: &mut Mover<SimulatedKernel>, work: &Work) -> Report {
        mover.run(work, &|| false)
    }

    fn huge(huge_pages: u64) -> Amount {
        Amount { base_pages: 0, huge_pages }
    }

    /// Ten huge pages each; the fast node is full but for `free` of its huge pages.
    fn full(free: u64) -> (SimulatedKernel, Work) {
        let kernel = SimulatedKernel::two_tiers((10 + free) * 512, 40 * 512);
        put(&kernel, 0..10, FAST);
        put(&kernel, 10..20, SLOW);
        let promote = (0..10).map(|i| up(i, 10 + u64::from(i))).collect();
        let demote = (0..10).map(|i| down(10 + i, u64::from(i))).collect();
        (kernel, Work { promote, demote })
    }

    #[test]
    fn a_full_tier_is_exchanged_through_what_little_is_free() {
        for (free, threads) in [(1, 1), (1, 4), (3, 2), (8, 3)] {
            let (kernel, work) = full(free);
            let mut mover = Mover::new(kernel, Options { threads, ..Options::default() });
            let report = run(&mut mover, &work);
            assert_eq!((report.promoted, report.demoted), (huge(10), huge(10)), "{report:?}");
            assert_eq!(report.refused, BTreeMap::new());
            for page in 0..20 {
                let expected = if page < 10 { SLOW } else { FAST };
                assert_eq!(mover.kernel().at(PID, VirtAddr(page * HUGE)), Some(expected));
            }
            assert_eq!(mover.kernel().free(FAST).0, free * 512);
        }
    }

    #[test]
    fn without_anything_free_demotions_go_first() {
        let (kernel, work) = full(0);
        let mut mover = Mover::new(kernel, Options::default());
        let report = run(&mut mover, &work);
        assert_eq!((report.promoted, report.demoted), (huge(10), huge(10)), "{report:?}");
    }

    #[test]
    fn the_reserve_is_there_again_at_the_end() {
        let (kernel, mut work) = full(4);
        // Only seven go down: with a reserve of three there is room for eight.
        work.demote.truncate(7);
        let reserve = BTreeMap::from([(FAST, Bytes::mib(6))]);
        let mut mover = Mover::new(kernel, Options { reserve, threads: 2, ..Options::default() });
        let report = run(&mut mover, &work);
        assert_eq!((report.promoted, report.demoted), (huge(8), huge(7)));
        assert_eq!(report.refused(Refusal::NoRoom), huge(2));
        assert_eq!(mover.kernel().free(FAST).0, 3 * 512);
        assert_eq!(report.orders[7].moved, 512, "the most wanted went");
        assert_eq!((report.orders[8].moved, report.orders[8].left), (0, 512));
    }

    #[test]
    fn demotions_that_fail_do_not_eat_the_reserve() {
        let kernel = SimulatedKernel::two_tiers(12 * 512, 40 * 512);
        let stuck = SimPage { pinned: true, ..SimPage::on(FAST) };
        kernel.map(PID, VirtAddr(0), VirtAddr(10 * HUGE), true, stuck);
        put(&kernel, 10..20, SLOW);
        let reserve = BTreeMap::from([(FAST, Bytes::mib(4))]);
        let mut mover = Mover::new(kernel, Options { reserve, ..Options::default() });
        let promote = (0..10).map(|i| up(i, 10 + u64::from(i))).collect();
        let demote = (0..10).map(|i| down(10 + i, u64::from(i))).collect();
        let report = run(&mut mover, &Work { promote, demote });
        assert_eq!(report.refused(Refusal::Stuck), huge(10));
        assert_eq!(report.refused(Refusal::NoRoom), huge(10));
        assert_eq!(mover.kernel().free(FAST), (2 * 512, 2 * 512));
    }

    #[test]
    fn where_both_nodes_are_full_the_reserve_is_lent_and_given_back() {
        let kernel = SimulatedKernel::two_tiers(12 * 512, 10 * 512);
        put(&kernel, 0..10, FAST);
        put(&kernel, 10..20, SLOW);
        let reserve = BTreeMap::from([(FAST, Bytes::mib(4))]);
        let mut mover = Mover::new(kernel, Options { reserve, threads: 2, ..Options::default() });
        let promote = (0..10).map(|i| up(i, 10 + u64::from(i))).collect();
        let demote = (0..10).map(|i| down(10 + i, u64::from(i))).collect();
        let report = run(&mut mover, &Work { promote, demote });
        assert_eq!((report.promoted, report.demoted), (huge(10), huge(10)));
        assert_eq!(mover.kernel().free(FAST), (2 * 512, 0), "at the end, and at the least");
    }

    #[test]
    fn huge_pages_stay_where_they_are_rather_than_in_pieces() {
        let kernel = SimulatedKernel::two_tiers(20 * 512, 20 * 512);
        kernel.fragment(FAST);
        put(&kernel, 0..3, SLOW);
        let promote: Vec<Order> = (0..3).map(|i| up(i, u64::from(i))).collect();
        let work = Work { promote, demote: Vec::new() };
        let mut mover = Mover::new(kernel, Options::default());
        let report = run(&mut mover, &work);
        assert_eq!(report.refused(Refusal::NoHugePage), huge(3));
        assert_eq!((report.splits, mover.kernel().calls().0), (0, 0));
        mover.options_mut().split = true;
        let report = run(&mut mover, &work);
        assert_eq!(report.splits, 3, "splits are counted");
        assert_eq!(report.promoted.bytes(), Bytes::mib(6));
    }

    #[test]
    fn after_the_first_split_no_more_huge_pages_go() {
        let kernel = SimulatedKernel::two_tiers(40 * 512, 40 * 512);
        kernel.fragment_unseen(FAST);
        put(&kernel, 0..20, SLOW);
        let promote: Vec<Order> = (0..20).map(|i| up(i, u64::from(i))).collect();
        let options = Options { huge_batch: 4, ..Options::default() };
        let report = run(&mut Mover::new(kernel, options), &Work { promote, demote: Vec::new() });
        assert_eq!((report.splits, report.promoted), (4, huge(4)));
        assert_eq!(report.refused(Refusal::NoHugePage), huge(16));
    }

    #[test]
    fn base_pages_of_the_same_work_still_go_where_no_huge_page_is_free() {
        let kernel = SimulatedKernel::two_tiers(20 * 512, 20 * 512);
        kernel.fragment(FAST);
        put(&kernel, 0..1, SLOW);
        kernel.map(PID, VirtAddr(HUGE), VirtAddr(2 * HUGE), false, SimPage::on(SLOW));
        let work = Work {
            promote: vec![up(0, 0), order(1, HUGE, HUGE, false, SLOW, FAST)],
            demote: Vec::new(),
        };
        let mut mover = Mover::new(kernel, Options::default());
        let report = run(&mut mover, &work);
        assert_eq!(report.promoted, Amount { base_pages: 512, huge_pages: 0 });
        assert_eq!(report.refused(Refusal::NoHugePage), huge(1));
    }

    #[test]
    fn who_refuses_is_asked_less_and_less_often() {
        let kernel = SimulatedKernel::two_tiers(2048, 2048);
        kernel.map(PID, VirtAddr(0), VirtAddr(4 << 12), false, SimPage::on(SLOW));
        let pinned = SimPage { pinned: true, ..SimPage::on(SLOW) };
        kernel.map(PID, VirtAddr(4 << 12), VirtAddr(5 << 12), false, pinned);
        let work =
            Work { promote: vec![order(3, 0, 8 << 12, false, SLOW, FAST)], demote: Vec::new() };
        let mut mover = Mover::new(kernel, Options::default());
        let mut tried = Vec::new();
        for round in 0..12 {
            let report = run(&mut mover, &work);
            if report.refused(Refusal::Stuck).base_pages == 1 {
                tried.push(round);
            } else {
                assert_eq!(report.refused(Refusal::Waiting).base_pages, 1, "round {round}");
            }
            assert_eq!(report.orders[0].tag, 3);
            assert_eq!(report.orders[0].refused, 1);
        }
        assert_eq!(tried, [0, 2, 5, 10]);
    }

    #[test]
    fn a_process_that_ends_meanwhile_and_a_request_to_stop() {
        let (kernel, work) = full(4);
        kernel.end(PID);
        let mut mover = Mover::new(kernel, Options::default());
        let report = run(&mut mover, &work);
        assert!(report.moved().is_zero() && report.refused.is_empty(), "nothing is there");
        let (kernel, work) = full(4);
        let mut mover = Mover::new(kernel, Options::default());
        let report = mover.run(&work, &|| true);
        assert_eq!(report.refused(Refusal::OutOfTime), huge(20));
        mover.options_mut().time = Some(Duration::from_micros(50));
        let report = run(&mut mover, &work);
        assert!(!report.moved().is_zero() && !report.refused(Refusal::OutOfTime).is_zero());
    }

    #[test]
    fn what_is_moved_back_after_its_batch_is_found_by_the_last_look() {
        struct Meddler(SimulatedKernel, Mutex<u32>);
        impl Kernel for Meddler {
            fn locate(&self, pid: Pid, pages: &[VirtAddr]) -> Result<Vec<Spot>, crate::Errno> {
                // The last look: by then somebody has demoted the first page again.
                let mut looks = self.1.lock().unwrap();
                *looks += 1;
                if *looks == 3 {
                    self.0.relocate(pid, &pages[..1], SLOW);
                }
                self.0.locate(pid, pages)
            }
            fn relocate(&self, pid: Pid, pages: &[VirtAddr], to: NodeId) -> crate::Moved {
                self.0.relocate(pid, pages, to)
            }
            fn room(&self, node: NodeId) -> crate::NodeRoom {
                self.0.room(node)
            }
            fn splits(&self) -> u64 {
                self.0.splits()
            }
            fn now_ns(&self) -> u64 {
                self.0.now_ns()
            }
        }
        let kernel = SimulatedKernel::two_tiers(2048, 2048);
        kernel.map(PID, VirtAddr(0), VirtAddr(4 << 12), false, SimPage::on(SLOW));
        let work =
            Work { promote: vec![order(0, 0, 4 << 12, false, SLOW, FAST)], demote: Vec::new() };
        let mut mover = Mover::new(Meddler(kernel, Mutex::new(0)), Options::default());
        let report = mover.run(&work, &|| false);
        assert_eq!(report.promoted.base_pages, 3);
        assert_eq!(report.moved_back.base_pages, 1);
        assert_eq!((report.orders[0].moved, report.orders[0].moved_back), (3, 1));
    }
}
