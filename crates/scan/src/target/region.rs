//! A region of a process's memory: the part of one unit of 2 MiB that one mapping holds.

use crate::bits::clear_refs::Kind;
use crate::pages::{Mask, Pages};
use crate::survey::glimpse::Glimpsed;
use crate::survey::history::History;
use crate::survey::lines::lines_of_huge;
use crate::survey::mixture;
use crate::target::sharing::Sharing;
use crate::walk::row::{Range, Spread};
use pagetide_types::{NodeId, Pid, UnitId};
use std::mem::replace;

/// See the module.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Region {
    /// Which of the followed processes.
    pub(crate) process: usize,
    /// Its addresses.
    pub(crate) range: Range,
    /// The unit of 2 MiB that it belongs to.
    pub(crate) unit: UnitId,
    /// Resident base pages.
    pub(crate) present: u16,
    /// Some of them are dirty.
    pub(crate) dirty: bool,
    /// Mapped by a huge page.
    pub(crate) huge: bool,
    /// Its process is watched sparsely: this one is always visited, or never.
    pub(crate) sparse: bool,
    /// Where most of them lie.
    pub(crate) node: NodeId,
    /// How many of them lie on each node.
    pub(crate) spread: Spread,
    /// Its accessed bits cannot be cleared.
    pub(crate) uncleared: bool,
    /// How `clear_refs` clears them; None of the hugetlb pool.
    pub(crate) refs: Option<Kind>,
    /// It was observed in that way.
    pub(crate) reached: bool,
    /// Which of its pages cannot be cleared although others can.
    pub(crate) sharing: Sharing,
    /// The target has changed since it was visited last.
    pub(crate) outdated: bool,
    /// See [`Row::joined`](crate::Row::joined).
    pub(crate) joined: u8,
    /// The first visit of the epoch is to so much of it.
    pub(crate) window: Option<Range>,
    /// What is known of it by glimpses alone.
    pub(crate) glimpsed: Glimpsed,
    /// What all visits so far have seen of it.
    pub(crate) history: Box<History>,
    /// What is expected of it, accesses past the caches per second of CPU time of the process; of a
    /// huge page all accesses. None if it was never visited.
    pub(crate) rate: Option<f32>,
    /// What that is at least, but for one chance in ten.
    pub(crate) least: f32,
    /// Which part of it comes in with pages that are read in order.
    pub(crate) in_order: f32,
    /// How many times what its own visits let expect that is (survey/alike.rs).
    pub(crate) beside: f32,
    /// In recordings of single pages.
    pub(crate) pages: Option<Box<Pages>>,
}

impl Region {
    /// Whether nothing is known of its heat.
    pub(crate) fn unknown(&self) -> bool {
        self.uncleared && !self.reached
    }

    /// What is counted: a huge page has one accessed bit, a base page that can be cleared its own.
    pub(crate) fn weight(&self) -> u16 {
        if self.huge { 1 } else { self.own() }
    }

    /// Whether it is charged with what is expected of it, watched or not: one bit of a huge page measures no
    /// traffic, and a sample that stays the same does not stand for the rest.
    pub(crate) fn charged_as_expected(&self) -> bool {
        self.huge || self.sparse
    }

    /// Resident pages that can be cleared.
    pub(crate) fn own(&self) -> u16 {
        self.present.saturating_sub(self.shared())
    }

    /// Pages that cannot be cleared although others can.
    pub(crate) fn shared(&self) -> u16 {
        if self.huge || self.uncleared { 0 } else { self.sharing.within(self.range) }
    }

    /// Which pages of the region of the page table can be cleared, as far as is known.
    pub(crate) fn own_mask(&self) -> Mask {
        match &self.sharing {
            Sharing::Some(shared) if !self.uncleared => std::array::from_fn(|i| !shared[i]),
            _ => [u64::MAX; 8],
        }
    }

    /// Finds out which of its pages several mappings hold; if most of them are, none is watched.
    /// Says whether that is news.
    pub(crate) fn look_up_sharing(&mut self, pid: Pid) -> bool {
        let before = replace(&mut self.sharing, Sharing::look_up(pid, self.range));
        let shared = self.sharing.within(self.range);
        let mask = if let Sharing::Some(mask) = &self.sharing { **mask } else { Mask::default() };
        if let Some(pages) = &mut self.pages {
            pages.found_shared(&mask);
        }
        if shared == 0 || self.sharing == before {
            return false;
        }
        self.uncleared = 2 * u32::from(shared) > u32::from(self.present);
        if before != Sharing::Unknown {
            // What was seen is not what was accessed.
            self.forget();
        }
        true
    }

    /// What was learned was wrong.
    pub(crate) fn forget(&mut self) {
        *self.history = History::default();
        (self.rate, self.glimpsed) = (None, Glimpsed::Never);
        if let Some(pages) = &mut self.pages {
            pages.forget();
        }
    }

    /// What is to be expected of it, base pages of each rate counting for so much, and so many lines
    /// coming in with one, such a part of them in order; the caches hold what was touched within `gap_s`.
    pub(crate) fn expect(
        &mut self,
        counts: &[f64; mixture::RATES],
        (lines, in_order): (f64, f64),
        gap_s: f64,
    ) {
        let pages = f64::from(self.weight());
        let of_huge = |rate: f64| past_caches(lines_of_huge(rate), gap_s);
        // How sure it is of base pages shows beside other regions (survey/alike.rs).
        let (each, least) = if self.huge {
            let weights = self.history.weights();
            let each = of_huge(mixture::mean_rate(weights));
            (each, each.min(of_huge(mixture::least_rate(weights, DOUBT))))
        } else {
            let each = self.expected_of_page(counts, lines, gap_s);
            (each, each.min(self.sure_of_page(counts, lines)))
        };
        #[expect(clippy::cast_possible_truncation, reason = "below 1e9")]
        let [rate, least] = [each, least].map(|each| (pages * each) as f32);
        (self.rate, self.least) = (self.history.known().then_some(rate), least);
        #[expect(clippy::cast_possible_truncation, reason = "a share")]
        let in_order = if self.huge { 0.0 } else { in_order as f32 };
        self.in_order = in_order;
        self.beside = 1.0;
    }

    /// What is expected of one of its base pages: of pages that are accessed alike one rate holds for all, and what was seen
    /// of some sooner than that lets expect is chance; as far as their differences come true, what the mixture says.
    fn expected_of_page(&mut self, counts: &[f64; mixture::RATES], lines: f64, gap_s: f64) -> f64 {
        let mixed = self.history.page(counts) * lines;
        let part = match &self.pages {
            Some(pages) => f64::from(pages.comes_true()),
            None if self.history.was_found_alike() => 0.0,
            None => return mixed,
        };
        let alike = mixture::counts_for(self.history.rate_if_alike(), gap_s) * lines;
        if let Some(pages) = &mut self.pages {
            #[expect(clippy::cast_possible_truncation, reason = "below 1e9")]
            pages.expect_alike(alike as f32);
        }
        alike + part * (mixed - alike)
    }

    /// The same as far as it is sure. Of pages that are told apart later visits say how much of that is chance.
    fn sure_of_page(&mut self, counts: &[f64; mixture::RATES], lines: f64) -> f64 {
        if self.pages.as_deref().is_some_and(|pages| pages.rates().is_some()) {
            return f64::INFINITY;
        }
        mixture::mean(self.history.sure_weights(), counts) * lines
    }

    /// Which part of what is expected of it that is at least, but for one chance in ten.
    pub(crate) fn least_part(&self) -> f32 {
        self.rate.filter(|rate| *rate > 0.0).map_or(1.0, |rate| self.least / rate)
    }

    /// What is expected of one page of it, huge or not.
    pub(crate) fn mean_rate(&self) -> f32 {
        self.rate.unwrap_or(0.0) / f32::from(self.own().max(1))
    }
}

/// The chance that a huge page is colder than it is taken for at least.
const DOUBT: f32 = 0.1;
/// Cache lines of a huge page.
const HUGE_LINES: f64 = 32_768.0;

/// What of so many lines per second, spread over all of a huge page, the caches do not serve.
fn past_caches(lines: f64, gap_s: f64) -> f64 {
    lines * (-lines / HUGE_LINES * gap_s).exp()
}

#[cfg(test)]
impl Region {
    /// For tests: a whole, resident unit of process 0 at the address of its number.
    pub(crate) fn whole(unit: u32, huge: bool) -> Self {
        let start = u64::from(unit) << 21;
        Self {
            process: 0,
            range: Range { start, end: start + (1 << 21) },
            unit: UnitId(unit),
            present: 512,
            dirty: false,
            huge,
            sparse: false,
            node: NodeId(0),
            spread: [512, 0, 0, 0, 0, 0, 0, 0],
            uncleared: false,
            sharing: Sharing::Own,
            outdated: false,
            joined: 0,
            window: None,
            glimpsed: Glimpsed::Never,
            history: Box::default(),
            refs: Some(Kind::Anonymous),
            reached: false,
            rate: None,
            least: 0.0,
            in_order: 0.0,
            beside: 1.0,
            pages: None,
        }
    }
}
