//! Glimpses: the first visit to a region of base pages may be to some of its pages only, which costs a fraction. Where they
//! are accessed alike that says it for all of them; where they are not, or were hardly seen, it only says which regions to
//! visit whole first.

use super::estimate::Visits;
use crate::bits::clear_refs::Kind;
use crate::pages::{Mask, REGION};
use crate::target::region::Region;
use crate::walk::row::Range;
use std::collections::HashMap;

/// Pages of a glimpse: a word of a [`Mask`].
pub(crate) const WINDOW: u16 = 64;
const BYTES: u64 = 4096 * WINDOW as u64;
const WORDS: usize = 8;
/// The pages of regions that are about as hot are taken to be accessed alike where it is by less than this likelier, as a
/// logarithm and on average, that they differ. In trials (`glimpse_tests.rs`: 96 regions, five seeds) that was up to 0.6 where
/// all pages had one rate, 2.9 and more by Zipf's law and 8 and more where a fifth is a hundred times as hot, but for groups
/// of five regions and less.
const ALIKE: f64 = 1.5;

/// What is known of a region by glimpses alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Glimpsed {
    /// Nothing: it was never visited, or whole as well.
    #[default]
    Never,
    /// How hot those pages are.
    Part,
    /// How hot all are, for they are accessed alike.
    Alike,
}

/// The pages of a window, by their number in the region of the page table.
pub(super) fn window_mask(window: Range) -> Mask {
    let word = window.start / BYTES % WORDS as u64;
    std::array::from_fn(|i| if i as u64 == word { u64::MAX } else { 0 })
}

impl Region {
    /// A part of it that a glimpse may be to; `random`: below 1. None where a visit is to be to all of it: pages of which
    /// some cannot be cleared, or where clearing would split a folio, which the kernel does if only a part is to be cold
    /// (`madvise_cold_or_pageout_pte_range`, mm/madvise.c). Folios of files may be of any size.
    pub(crate) fn glimpse(&self, random: f64) -> Option<Range> {
        let whole = self.range.end - self.range.start == BYTES * WORDS as u64;
        if self.huge || self.refs != Some(Kind::Anonymous) || !whole || self.shared() > 0 {
            return None;
        }
        let resident = |word: usize| match &self.pages {
            Some(pages) => pages.resident[word] == u64::MAX,
            None => usize::from(self.present) == REGION,
        };
        let joined = |word: usize| u16::from(self.joined) >> word & 1 != 0;
        let fits = |word: &usize| resident(*word) && !joined(*word) && !joined(word + 1);
        let words: Vec<u64> = (0..WORDS).filter(fits).map(|word| word as u64).collect();
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "below 8")]
        let word = words.get((random * words.len() as f64) as usize)?;
        let start = self.range.start + word * BYTES;
        Some(Range { start, end: start + BYTES })
    }
}

/// Says of the regions that were visited what is known of them by glimpses alone. Whether pages are accessed alike is
/// asked of all together that are about as hot, by factors of 2: one glimpse tells too little.
pub(super) fn judge(regions: &mut [Region], visits: &[Visits<'_>]) {
    for (region, Visits { visits, .. }) in regions.iter_mut().zip(visits) {
        match visits.as_slice() {
            [] => {}
            visits if visits.iter().any(|visit| !visit.glimpse) => {
                region.glimpsed = Glimpsed::Never;
            }
            _ => region.glimpsed = Glimpsed::Part,
        }
    }
    let mut said: HashMap<(usize, i32), (f64, f64)> = HashMap::new();
    let mut telling = Vec::new();
    for (at, region) in regions.iter_mut().enumerate() {
        if region.glimpsed == Glimpsed::Never {
            continue;
        }
        let octave = region.history.brackets().octave();
        if let Some((octave, likelier)) = octave.zip(region.history.likelier_than_alike()) {
            let (sum, count) = said.entry((region.process, octave)).or_default();
            (*sum, *count) = (*sum + likelier, *count + 1.0);
            telling.push((at, (region.process, octave)));
        }
    }
    for (at, kind) in telling {
        let (sum, count) = said[&kind];
        if sum < ALIKE * count {
            regions[at].glimpsed = Glimpsed::Alike;
        }
    }
    for region in regions.iter_mut().filter(|region| region.glimpsed != Glimpsed::Never) {
        if let Some(pages) = &mut region.pages {
            pages.alike = region.glimpsed == Glimpsed::Alike;
        }
    }
}

#[cfg(test)]
#[path = "glimpse_tests.rs"]
mod tests;
