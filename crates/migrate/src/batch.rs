//! One batch: pages of one size, of one process, to one node. Where they are is looked up before
//! and after, because the call's own answer is not enough: a page that fails ends it, with the
//! status of others unwritten (do_pages_move in the kernel's mm/migrate.c), and what it calls
//! moved may be elsewhere again.

use crate::Refusal;
use crate::kernel::{Kernel, Spot};
use crate::order::Page;
use crate::report::Fate;
use crate::tally::Tally;
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
    pub(crate) tally: Tally,
    /// The kernel split huge pages meanwhile; of this batch, as far as is known.
    pub(crate) splits: u64,
}

/// Whose pages go where.
pub(crate) struct Batch<'a> {
    pub(crate) kernel: &'a dyn Kernel,
    pub(crate) pid: Pid,
    pub(crate) to: NodeId,
    /// Whoever else maps them.
    pub(crate) shared: bool,
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
        let moved = self.kernel.relocate(self.pid, &addresses, self.to, self.shared);
        let took = self.kernel.now_ns() - start;
        report.tally +=
            Tally { calls: 1, moving_ns: took, longest_call_ns: took, ..Tally::default() };
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
            report.tally.found_split += 1;
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
        report.tally.looking_ns += self.kernel.now_ns() - start;
        match found {
            Ok(spots) => spots.into_iter().map(Ok).collect(),
            Err(errno) => vec![Err(errno); pages.len()],
        }
    }
}

#[cfg(test)]
#[path = "batch_tests.rs"]
mod tests;
