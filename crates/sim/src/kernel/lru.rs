//! What Linux does with its two lists of anonymous pages: where new ones go, what a second access does,
//! how the lists age (mm/swap.c and mm/vmscan.c of Linux 6 without the generations of `lru_gen`). Names
//! are those of the kernel's functions.
//!
//! An entry of a list is what one entry of the page tables maps, a base page or a huge one, and is named
//! by its first base page. Sizes and budgets are in base pages, as the kernel counts them. A page that
//! moves or is split is isolated before and put back afterwards.
//!
//! Simpler than Linux: pages are mapped once and are not executable files, so that only the accessed
//! bit and the software reference count; what Linux gathers in batches of 15 per core happens at once,
//! unless [`super::ActivationBatches`] is asked for it.

use super::{Kind, Lists};
use crate::engine::{HUGE_PAGES, World, bit};
use std::ops::Range;

/// Which kernel's rules for anonymous pages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rules {
    /// Up to Linux 5.8: new pages are active, and one access on the inactive list makes active.
    ActiveFirst,
    /// Since Linux 5.9: new pages are inactive, and two accesses make active ("protect the
    /// workingset on anonymous LRU").
    #[default]
    InactiveFirst,
}

/// `PG_referenced`: it was accessed once, as far as the kernel knows.
const REFERENCED: u8 = 1;
/// It is a huge page.
const HUGE: u8 = 2;
/// `PageHinted` of Adaptive (section 4.5): it had a hint fault since it was active last.
const HINTED: u8 = 4;

/// What came of looking at a list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shrunk {
    /// Entries that were looked at.
    pub entries: u64,
    /// Those to be reclaimed, isolated: base pages of each.
    pub candidates: Vec<Range<usize>>,
}

/// See the module.
#[derive(Clone, Debug)]
pub struct Lru {
    lists: Lists,
    /// By page, [`REFERENCED`], [`HUGE`] and [`HINTED`].
    flags: Vec<u8>,
    /// By node, base pages on the active and on the inactive list.
    sizes: Vec<[u64; 2]>,
    rules: Rules,
    /// How much larger the machine that is modelled is.
    scale: f64,
}

impl Lru {
    /// Empty lists of so many nodes for so many base pages; all of it is so many times smaller than
    /// the machine that is modelled.
    #[must_use]
    pub fn new(nodes: usize, pages: usize, rules: Rules, scale: f64) -> Self {
        let (lists, sizes) = (Lists::new(nodes, pages), vec![[0; 2]; nodes]);
        Self { lists, flags: vec![0; pages], sizes, rules, scale }
    }

    /// A page was mapped for the first time (`folio_add_lru_vma`).
    pub fn add_new(&mut self, page: usize, world: &World) {
        let first = world.pages.mapped_with(page).start;
        self.flags[first] = 0;
        let kind = match self.rules {
            Rules::ActiveFirst => Kind::Active,
            Rules::InactiveFirst => Kind::Inactive,
        };
        self.add(first, kind, world);
    }

    /// Puts a page in front of a list of the node that it is on (`folio_add_lru`).
    pub fn add(&mut self, page: usize, kind: Kind, world: &World) {
        let pages = world.pages.mapped_with(page);
        self.isolate(pages.start);
        let huge = if pages.len() > 1 { HUGE } else { 0 };
        self.flags[pages.start] = self.flags[pages.start] & !HUGE | huge;
        self.put(number(pages.start), world.pages.tier(page), kind);
    }

    /// Takes a page out of its list; which one that was (`folio_isolate_lru`).
    pub fn isolate(&mut self, first: usize) -> Option<Kind> {
        let (node, kind) = self.lists.of(number(first))?;
        self.lists.take(number(first));
        self.sizes[node][usize::from(kind == Kind::Inactive)] -= self.size(first);
        Some(kind)
    }

    /// Base pages on a list (`lruvec_page_state`).
    #[must_use]
    pub fn pages(&self, node: usize, kind: Kind) -> u64 {
        self.sizes[node][usize::from(kind == Kind::Inactive)]
    }

    /// The node and the list that a page is on.
    #[must_use]
    pub fn of(&self, first: usize) -> Option<(usize, Kind)> {
        self.lists.of(number(first))
    }

    /// The kernel learnt of an access by other means than the accessed bit, as by a fault: the first
    /// time references, the second makes active (`folio_mark_accessed`).
    pub fn mark_accessed(&mut self, first: usize) {
        if self.mark_referenced(first) {
            self.activate(first);
        }
    }

    /// The same but that it stays where it is: whether it is to become active.
    pub fn mark_referenced(&mut self, first: usize) -> bool {
        let inactive = matches!(self.of(first), Some((_, Kind::Inactive)));
        let second = self.flags[first] & REFERENCED != 0;
        if !second {
            self.flags[first] |= REFERENCED;
        } else if inactive {
            self.flags[first] &= !REFERENCED;
        }
        second && inactive
    }

    /// Puts a page of the inactive list in front of the active one (`folio_activate`).
    pub fn activate(&mut self, first: usize) {
        if let Some((node, Kind::Inactive)) = self.of(first) {
            self.isolate(first);
            self.put(number(first), node, Kind::Active);
        }
    }

    /// Whether what is at a page is a huge one.
    #[must_use]
    pub fn is_huge(&self, first: usize) -> bool {
        self.flags[first] & HUGE != 0
    }

    /// Notes a hint fault on a page, until it is deactivated; whether there was one before
    /// (Adaptive's `PageHinted`).
    pub fn set_hinted(&mut self, first: usize) -> bool {
        let before = self.flags[first] & HINTED != 0;
        self.flags[first] |= HINTED;
        before
    }

    /// Whether the active list must give to the inactive one: that has less than a root of ten times
    /// the gibibytes of both (`inactive_is_low`).
    #[must_use]
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "gibibytes")]
    pub fn inactive_is_low(&self, node: usize) -> bool {
        let [active, inactive] = self.sizes[node];
        let gib = ((active + inactive) as f64 * self.scale) as u64 >> 18;
        let ratio = if gib > 0 { (10 * gib).isqrt() } else { 1 };
        inactive * ratio < active
    }

    /// Makes so many pages from the active list's tail inactive, accessed or not: only pages of
    /// executable files would stay. Their accessed bits are cleared (`shrink_active_list`).
    pub fn shrink_active(&mut self, node: usize, budget: u64, world: &mut World) -> u64 {
        let (mut looked, mut entries) = (0, 0);
        while looked < budget
            && let Some(oldest) = self.lists.oldest(node, Kind::Active)
        {
            let first = oldest as usize;
            world.pages.clear_all(self.range(first), bit::ACCESSED);
            self.flags[first] &= !HINTED;
            looked += self.size(first);
            entries += 1;
            self.isolate(first);
            self.put(oldest, node, Kind::Inactive);
        }
        entries
    }

    /// Looks at so many pages from the inactive list's tail (`shrink_inactive_list`). What was
    /// accessed stays or becomes active (`folio_check_references`), the rest is isolated to be
    /// reclaimed. A batch ends with the page that fills it, which may be a huge one.
    pub fn shrink_inactive(&mut self, node: usize, budget: u64, world: &mut World) -> Shrunk {
        let mut shrunk = Shrunk::default();
        let mut looked = 0;
        // What stays goes to the front: once round at most.
        let most = self.pages(node, Kind::Inactive).min(budget);
        while looked < most
            && let Some(oldest) = self.lists.oldest(node, Kind::Inactive)
        {
            let first = oldest as usize;
            let pages = self.range(first);
            let accessed = world.pages.clear_all(pages.clone(), bit::ACCESSED) != 0;
            let referenced = self.flags[first] & REFERENCED != 0;
            looked += self.size(first);
            shrunk.entries += 1;
            self.isolate(first);
            if accessed {
                // The reference stays set on the active list: once back here, one access will do.
                self.flags[first] |= REFERENCED;
                let active = referenced || self.rules == Rules::ActiveFirst;
                self.put(oldest, node, if active { Kind::Active } else { Kind::Inactive });
            } else {
                self.flags[first] &= !REFERENCED;
                shrunk.candidates.push(pages);
            }
        }
        shrunk
    }

    fn put(&mut self, first: u32, node: usize, kind: Kind) {
        self.lists.put(first, node, kind);
        self.sizes[node][usize::from(kind == Kind::Inactive)] += self.size(first as usize);
    }

    fn size(&self, first: usize) -> u64 {
        self.range(first).len() as u64
    }

    fn range(&self, first: usize) -> Range<usize> {
        first..first + if self.is_huge(first) { HUGE_PAGES } else { 1 }
    }
}

fn number(page: usize) -> u32 {
    u32::try_from(page).unwrap_or(u32::MAX)
}

#[cfg(test)]
#[path = "lru_tests.rs"]
mod tests;
