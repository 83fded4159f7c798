//! The pool's controller: it counts every access to a page of the pool, for the node that it came from,
//! and knows at an epoch's end which pages are hot (section 3.1; "hot page detector" of Figure 4).

use super::counts::{Counts, Hot, PageId};
use super::pact::{Pact, Turned};
use super::settings::{Accounting, Migration};

/// Counts that went between the controller and its memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spills {
    /// That the table had no room for any more.
    pub spilled: u64,
    /// That came back.
    pub filled: u64,
}

/// See the module.
#[derive(Clone, Debug)]
pub struct Controller {
    /// By node.
    counts: Vec<Counts>,
    /// Of each node, where its pages begin among the keys of the table.
    base: Vec<u32>,
    pact: Option<Pact>,
    within: bool,
    count_writes: bool,
    keeps: bool,
    /// By node, whether an epoch of it ended since the table was cleared.
    ended: Vec<bool>,
    spills: Spills,
}

impl Controller {
    /// For nodes with so many pages each.
    pub(super) fn new(pages: &[u32], migration: &Migration) -> Self {
        let Migration { threshold, keep_counts, pmt_entries, .. } = *migration;
        let base = pages.iter().scan(0_u32, |next, pages| {
            let base = *next;
            *next = next.saturating_add(*pages);
            Some(base)
        });
        let all: usize = pages.iter().map(|pages| *pages as usize).sum();
        #[expect(clippy::cast_possible_truncation, reason = "some nodes")]
        let nodes = pages.len() as u32;
        // Where nothing may move the table is that of the paper's M.
        let most = if migration.most == 0 { Migration::default().most } else { migration.most };
        let entries = migration.pact_entries.unwrap_or(nodes.saturating_mul(most));
        Self {
            counts: pages
                .iter()
                .map(|n| Counts::new(*n, (threshold, pmt_entries), keep_counts))
                .collect(),
            base: base.collect(),
            pact: (migration.accounting != Accounting::Free).then(|| Pact::new(entries, all)),
            within: migration.accounting == Accounting::Within,
            count_writes: migration.count_writes,
            keeps: keep_counts,
            ended: vec![false; pages.len()],
            spills: Spills::default(),
        }
    }

    /// An access to a page of the pool. What of it whoever accesses the page waits for.
    #[inline]
    pub(super) fn access(&mut self, node: usize, page: PageId, write: bool) -> Waited {
        if write && !self.count_writes {
            return Waited::default();
        }
        let count = self.counts[node].add(page, write);
        let Some(pact) = &mut self.pact else { return Waited { count, ..Waited::default() } };
        let key = self.base[node] + page.0;
        let Turned { spilled, filled } = pact.touch(key, count);
        self.spills.spilled += u64::from(spilled.is_some());
        self.spills.filled += u64::from(filled);
        let spilled = spilled.filter(|_| self.within);
        Waited { spilled, filled: filled && self.within, key, count }
    }

    /// An epoch ends for a node: its hot pages, in the order in which they became so.
    pub(super) fn end(&mut self, node: usize, into: &mut Vec<Hot>) {
        self.counts[node].end(into);
        self.ended[node] = true;
    }

    /// And for the table of all of them; counts of nodes that stand still go on.
    pub(super) fn clear(&mut self) {
        let Self { ended, base, .. } = self;
        if let Some(pact) = self.pact.as_mut().filter(|_| !self.keeps) {
            let goes_on = |key: u32| !ended[base.partition_point(|base| *base <= key) - 1];
            let some = ended.contains(&false);
            pact.clear(if some { Some(&goes_on) } else { None });
        }
        ended.fill(false);
    }

    /// A page left the pool.
    pub(super) fn forget(&mut self, node: usize, page: PageId) {
        self.counts[node].forget(page);
    }

    /// The most accesses to a page that were counted.
    pub(super) fn most(&self, node: usize) -> u32 {
        self.counts[node].most()
    }

    /// What it did with its memory.
    #[must_use]
    pub const fn spills(&self) -> Spills {
        self.spills
    }
}

/// What of the counting is in the way of an access.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Waited {
    /// The count of a page, by its number among all, is written to memory.
    pub(super) spilled: Option<u32>,
    /// A count is read from it, and waited for.
    pub(super) filled: bool,
    /// Where the count lies: the page's number among all.
    pub(super) key: u32,
    /// The page's count from then on; 0, if the access does not count.
    pub(super) count: u32,
}
