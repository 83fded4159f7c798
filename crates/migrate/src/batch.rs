//! One batch: pages of one size, of one process, to one node. Where they are is looked up before
//! and after, because the call's own answer is not enough: a page that fails ends it, with the
//! status of others unwritten (do_pages_move in the kernel's mm/migrate.c), and what it calls
//! moved may be elsewhere again.

use crate::Refusal;
use crate::kernel::{Kernel, Spot};
use crate::order::Page;
use crate::report::Fate;
use nix::errno::Errno;
use pagetide_types::{NodeId, Pid, VirtAddr};

/// Calls for one batch at most; what is left then is taken for stuck.
const ROUNDS: usize = 8;

/// What became of a page, and where it was before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Done {
    /// Which of the batch's pages it is, or belongs to.
    pub(crate) entry: usize,
    /// The page; of a huge page that was found in pieces, each piece.
    pub(crate) page: Page,
    pub(crate) fate: Fate,
    pub(crate) from: Option<NodeId>,
}

/// A batch's answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct BatchReport {
    pub(crate) done: Vec<Done>,
    pub(crate) calls: u64,
    pub(crate) moving_ns: u64,
    pub(crate) longest_call_ns: u64,
    pub(crate) looking_ns: u64,
    pub(crate) found_split: u64,
    /// The kernel split huge pages meanwhile; of this batch, as far as is known.
    pub(crate) splits: u64,
}

/// Whose pages go where.
pub(crate) struct Batch<'a> {
    pub(crate) kernel: &'a dyn Kernel,
    pub(crate) pid: Pid,
    pub(crate) to: NodeId,
}

impl Batch<'_> {
    /// Moves `pages`, all huge or all base.
    pub(crate) fn run(&self, pages: &[Page]) -> BatchReport {
        let mut report = BatchReport::default();
        let entries: Vec<(usize, Page)> = pages.iter().copied().enumerate().collect();
        let splits = self.kernel.splits();
        self.pages(&entries, &mut report);
        if pages.first().is_some_and(|page| page.huge) {
            report.splits = self.kernel.splits().saturating_sub(splits);
            self.check_whole(report.splits > 0, &mut report);
        }
        report
    }

    fn pages(&self, entries: &[(usize, Page)], report: &mut BatchReport) {
        let mut todo = Vec::with_capacity(entries.len());
        let before = self.locate(entries.iter().map(|(_, page)| page.addr), report);
        for ((entry, page), spot) in entries.iter().zip(before) {
            let end = |fate, from| Done { entry: *entry, page: *page, fate, from };
            match spot {
                Ok(Spot::On(node)) if node == self.to => {
                    report.done.push(end(Fate::Already, Some(node)));
                }
                Ok(Spot::On(node)) => todo.push((*entry, *page, node)),
                Ok(Spot::Not(Errno::ENOENT | Errno::EFAULT)) => {
                    report.done.push(end(Fate::Absent, None));
                }
                Ok(Spot::Not(errno)) => {
                    report.done.push(end(Fate::Refused(Refusal::of_page(errno)), None));
                }
                Err(errno) => {
                    report.done.push(end(Fate::Refused(Refusal::of_call(errno)), None));
                }
            }
        }
        for _ in 0..ROUNDS {
            if todo.is_empty() {
                return;
            }
            let left = self.attempt(&todo, report);
            if left.len() == todo.len() {
                // Nothing was decided: all of them were in one list of the kernel's, and tried.
                break;
            }
            todo = left;
        }
        report.done.extend(todo.into_iter().map(|(entry, page, from)| Done {
            entry,
            page,
            fate: Fate::Refused(Refusal::Stuck),
            from: Some(from),
        }));
    }

    /// One call, and a look at what it did; those of which nothing is known yet.
    fn attempt(
        &self,
        todo: &[(usize, Page, NodeId)],
        report: &mut BatchReport,
    ) -> Vec<(usize, Page, NodeId)> {
        let addresses: Vec<VirtAddr> = todo.iter().map(|(_, page, _)| page.addr).collect();
        let start = self.kernel.now_ns();
        let moved = self.kernel.relocate(self.pid, &addresses, self.to);
        let took = self.kernel.now_ns() - start;
        report.calls += 1;
        report.moving_ns += took;
        report.longest_call_ns = report.longest_call_ns.max(took);
        let after = self.locate(addresses.into_iter(), report);
        let mut left = Vec::new();
        for ((at, status), spot) in todo.iter().zip(moved.status).zip(after) {
            let (entry, page, from) = *at;
            let fate = match (spot, status) {
                (Ok(Spot::On(node)), _) if node == self.to => Fate::Moved,
                (Ok(Spot::On(_)), Some(Spot::On(node))) if node == self.to => Fate::MovedBack,
                (Ok(Spot::On(_)), Some(Spot::Not(errno))) => Fate::Refused(Refusal::of_page(errno)),
                (Ok(Spot::On(_)), _) => match moved.result {
                    Err(errno) => Fate::Refused(Refusal::of_call(errno)),
                    Ok(_) => {
                        left.push(*at);
                        continue;
                    }
                },
                (Ok(Spot::Not(_)), _) => Fate::Refused(Refusal::Gone),
                (Err(errno), _) => Fate::Refused(Refusal::of_call(errno)),
            };
            report.done.push(Done { entry, page, fate, from: Some(from) });
        }
        left
    }

    /// Makes sure that huge pages came whole: one that was in pieces already moves only its first
    /// piece, and one that the kernel splits may lose some. What is not there moves by pieces.
    fn check_whole(&self, every_piece: bool, report: &mut BatchReport) {
        let moved: Vec<Done> =
            report.done.iter().copied().filter(|done| done.fate == Fate::Moved).collect();
        let last = self.locate(moved.iter().map(|done| done.page.last()), report);
        for (done, spot) in moved.into_iter().zip(last) {
            if spot == Ok(Spot::On(self.to)) && !every_piece {
                continue;
            }
            let pieces = done.page.base_pages();
            let spots = self.locate(pieces, report);
            if spots.iter().all(|spot| *spot == Ok(Spot::On(self.to))) {
                continue;
            }
            report.found_split += 1;
            report.done.retain(|other| other.page != done.page);
            let mut rest = Vec::new();
            for (addr, spot) in done.page.base_pages().zip(spots) {
                let page = Page { addr, huge: false };
                if spot == Ok(Spot::On(self.to)) {
                    report.done.push(Done { page, ..done });
                } else {
                    rest.push((done.entry, page));
                }
            }
            self.pages(&rest, report);
        }
    }

    /// Where pages are; an error of the call is each page's.
    fn locate(
        &self,
        pages: impl Iterator<Item = VirtAddr>,
        report: &mut BatchReport,
    ) -> Vec<Result<Spot, Errno>> {
        let pages: Vec<VirtAddr> = pages.collect();
        if pages.is_empty() {
            return Vec::new();
        }
        let start = self.kernel.now_ns();
        let found = self.kernel.locate(self.pid, &pages);
        report.looking_ns += self.kernel.now_ns() - start;
        match found {
            Ok(spots) => spots.into_iter().map(Ok).collect(),
            Err(errno) => vec![Err(errno); pages.len()],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulated::{SimPage, SimulatedKernel};

    const PID: Pid = Pid(7);
    const FAST: NodeId = NodeId(0);
    const SLOW: NodeId = NodeId(1);

    fn base(at: u64) -> Page {
        Page { addr: VirtAddr(at << 12), huge: false }
    }

    fn huge(at: u64) -> Page {
        Page { addr: VirtAddr(at << 21), huge: true }
    }

    fn fates(kernel: &SimulatedKernel, pages: &[Page]) -> Vec<Fate> {
        let mut done = Batch { kernel, pid: PID, to: FAST }.run(pages).done;
        done.sort_by_key(|done| done.page.addr);
        done.into_iter().map(|done| done.fate).collect()
    }

    #[test]
    fn pages_move_and_what_is_there_or_nowhere_is_told_apart() {
        let kernel = SimulatedKernel::two_tiers(100, 100);
        kernel.put(PID, base(1), SimPage::on(SLOW));
        kernel.put(PID, base(2), SimPage::on(FAST));
        let found = fates(&kernel, &[base(1), base(2), base(3)]);
        assert_eq!(found, [Fate::Moved, Fate::Already, Fate::Absent]);
        assert_eq!(kernel.node_of(PID, base(1)), Some(FAST));
    }

    #[test]
    fn a_page_that_fails_does_not_hide_what_became_of_the_others() {
        let kernel = SimulatedKernel::two_tiers(100, 100);
        for at in 0..20 {
            kernel.put(PID, base(at), SimPage::on(SLOW));
        }
        kernel.put(PID, base(2), SimPage { pinned: true, ..SimPage::on(SLOW) });
        kernel.put(PID, base(5), SimPage { shared: true, ..SimPage::on(SLOW) });
        kernel.put(PID, base(9), SimPage { busy: true, ..SimPage::on(SLOW) });
        let pages: Vec<Page> = (0..20).map(base).collect();
        let found = fates(&kernel, &pages);
        for (at, fate) in found.iter().enumerate() {
            let expected = match at {
                2 => Fate::Refused(Refusal::Stuck),
                5 => Fate::Refused(Refusal::Shared),
                9 => Fate::Refused(Refusal::Busy),
                _ => Fate::Moved,
            };
            assert_eq!(*fate, expected, "page {at}");
        }
    }

    #[test]
    fn moved_and_then_moved_back_is_not_moved() {
        let kernel = SimulatedKernel::two_tiers(100, 100);
        kernel.put(PID, base(1), SimPage { returns: true, ..SimPage::on(SLOW) });
        kernel.put(PID, base(2), SimPage::on(SLOW));
        assert_eq!(fates(&kernel, &[base(1), base(2)]), [Fate::MovedBack, Fate::Moved]);
    }

    #[test]
    fn a_page_unmapped_while_it_moves_is_gone_and_no_error() {
        let kernel = SimulatedKernel::two_tiers(100, 100);
        kernel.put(PID, base(1), SimPage { vanishes: true, ..SimPage::on(SLOW) });
        assert_eq!(fates(&kernel, &[base(1)]), [Fate::Refused(Refusal::Gone)]);
    }

    #[test]
    fn a_node_without_memory_a_lost_process_and_a_refusal_of_all() {
        let kernel = SimulatedKernel::two_tiers(1, 100);
        for at in 0..3 {
            kernel.put(PID, base(at), SimPage::on(SLOW));
        }
        let no_memory = Fate::Refused(Refusal::NoMemory);
        assert_eq!(
            fates(&kernel, &[base(0), base(1), base(2)]),
            [Fate::Moved, no_memory, no_memory]
        );
        for (errno, refusal) in [
            (Errno::ESRCH, Refusal::ProcessGone),
            (Errno::EPERM, Refusal::NotPermitted),
            (Errno::EACCES, Refusal::NodeForbidden),
            (Errno::EIO, Refusal::Other(Errno::EIO as i32)),
        ] {
            kernel.fail_calls(Some(errno));
            assert_eq!(fates(&kernel, &[base(1)]), [Fate::Refused(refusal)]);
            kernel.fail_calls(None);
        }
        assert_eq!(fates(&kernel, &[]), []);
    }

    #[test]
    fn huge_pages_stay_whole_and_split_ones_are_finished_by_pieces() {
        let kernel = SimulatedKernel::two_tiers(4096, 4096);
        kernel.put(PID, huge(1), SimPage::on(SLOW));
        let report = Batch { kernel: &kernel, pid: PID, to: FAST }.run(&[huge(1)]);
        assert_eq!((report.done.len(), report.found_split), (1, 0));
        assert!(report.done[0].page.huge);
        // In pieces already, one of them shared, one not resident.
        for at in 0..512 {
            kernel.put(PID, base(2 * 512 + at), SimPage::on(SLOW));
        }
        kernel.put(PID, base(2 * 512 + 7), SimPage { shared: true, ..SimPage::on(SLOW) });
        kernel.remove(PID, base(2 * 512 + 9));
        let report = Batch { kernel: &kernel, pid: PID, to: FAST }.run(&[huge(2)]);
        assert_eq!(report.found_split, 1);
        let count = |fate| report.done.iter().filter(|done| done.fate == fate).count();
        assert_eq!(report.done.len(), 512);
        assert_eq!(count(Fate::Moved), 510);
        assert_eq!(count(Fate::Refused(Refusal::Shared)), 1);
        assert_eq!(count(Fate::Absent), 1);
    }

    #[test]
    fn what_the_kernel_splits_for_want_of_a_huge_page_arrives_all_the_same() {
        let kernel = SimulatedKernel::two_tiers(4096, 4096);
        kernel.fragment(FAST);
        kernel.put(PID, huge(1), SimPage::on(SLOW));
        let before = kernel.splits();
        let found = fates(&kernel, &[huge(1)]);
        assert_eq!(kernel.splits() - before, 1);
        assert!(found.iter().all(|fate| *fate == Fate::Moved), "{found:?}");
    }
}
