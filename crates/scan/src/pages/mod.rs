//! Single base pages of a region: which are resident, what is remembered of each, and what an epoch
//! adds. For recordings in units of 4 KiB; regions stay what is cleared, looked at and paid for.

mod borne_out;
mod heat;
mod memory;
mod part;

pub(crate) use borne_out::BorneOut;
pub(crate) use heat::{PageHeat, Seen};

use crate::survey::mixture::Weights;
use crate::survey::visit::Visit;
use crate::walk::nodes::NODE_BITS;
use memory::{Memory, single};

/// Base pages of a 2 MiB region of the page table.
pub(crate) const REGION: usize = 512;

/// A set of the base pages of one region.
pub(crate) type Mask = [u64; 8];

/// What is in both sets.
pub(crate) fn both(a: &Mask, b: &Mask) -> Mask {
    std::array::from_fn(|i| a[i] & b[i])
}

/// Whether a page is in a set.
pub(crate) fn has(mask: &Mask, page: usize) -> bool {
    mask[page / 64] >> (page % 64) & 1 != 0
}

/// The pages of a set as numbered `skew` places further on, beginning again at 0.
pub(crate) fn turned(mask: &Mask, skew: usize) -> Mask {
    let (words, bits) = (skew / 64 % 8, skew % 64);
    std::array::from_fn(|i| {
        let (word, before) = (mask[(i + 8 - words) % 8], mask[(i + 15 - words) % 8]);
        word << bits | if bits > 0 { before >> (64 - bits) } else { 0 }
    })
}

/// What is known of a region as a whole.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OfRegion<'a> {
    /// How the rates of its pages are distributed.
    pub(crate) weights: &'a Weights,
    /// In which what is touched fills the caches.
    pub(crate) gap_s: f64,
    /// CPU seconds that its process used per second, on average over the visits to it.
    pub(crate) cores: f64,
    /// How likely a visit was.
    pub(crate) chance: f64,
    /// Cache lines that are expected with a page, and that one which came in is charged with.
    pub(crate) lines: f64,
    pub(crate) charged: f64,
    /// It has changed: what was is no help any more.
    pub(crate) changed: bool,
}

/// The single pages of one region, by their number in the region of the page table.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Pages {
    pub(crate) resident: Mask,
    pub(crate) dirty: Mask,
    /// Where each lies: see [`crate::RowBits::node`].
    pub(crate) node: [Mask; NODE_BITS],
    /// The number in its unit's region of page 0 of the region of the page table; not 0 where a
    /// file is mapped at an address that is not aligned as its offset.
    pub(crate) skew: usize,
    /// Their rates differ by more than chance, or by chance alone.
    pub(crate) uneven: bool,
    pub(crate) alike: bool,
    /// Held by several mappings: their accessed bits cannot be cleared.
    shared: Mask,
    /// None until the region was visited as base pages.
    memory: Option<Box<Memory>>,
    /// Watched and accessed in this epoch.
    watched: Mask,
    accessed: Mask,
}

impl Pages {
    /// An epoch begins: nothing was watched in it.
    pub(crate) fn begin(&mut self) {
        (self.watched, self.accessed) = Default::default();
        if let Some(memory) = &mut self.memory {
            memory.traffic = [0.0; REGION];
        }
    }

    /// Learns from the visits of an epoch.
    pub(crate) fn learn(&mut self, visits: &[&Visit], of_region: &OfRegion<'_>) {
        let memory = self.memory.get_or_insert_with(Memory::new);
        if of_region.changed {
            memory.forget();
        }
        memory.learn(visits, of_region);
        self.watched = std::array::from_fn(|i| self.resident[i] & !self.shared[i]);
        let seen = |i: usize| visits.iter().fold(0, |seen, visit| seen | visit.seen[i]);
        self.accessed = both(&std::array::from_fn(seen), &self.watched);
    }

    /// Whether pages were watched in this epoch.
    #[cfg(test)]
    pub(crate) fn are_watched(&self) -> bool {
        self.watched != Mask::default()
    }

    /// The place of a page's node in the walk's nodes.
    pub(crate) fn node(&self, page: usize) -> usize {
        (0..NODE_BITS).map(|bit| usize::from(has(&self.node[bit], page)) << bit).sum()
    }

    /// The number in the region of the page table of a page of the unit's region.
    pub(crate) fn in_table(&self, page: usize) -> usize {
        (page + REGION - self.skew) % REGION
    }

    /// What is expected of all base pages by what was seen of this region; None until some were watched, and where they
    /// differ by chance.
    pub(crate) fn rates(&self) -> Option<&[f32; REGION]> {
        self.memory.as_ref().filter(|_| !self.alike).map(|memory| &memory.rates)
    }

    /// How much of what tells its pages apart comes true: none where they are accessed alike.
    pub(crate) fn comes_true(&self) -> f32 {
        self.memory.as_ref().filter(|_| !self.alike).map_or(0.0, |memory| memory.comes_true)
    }

    /// What is expected of each of its pages if all are accessed alike.
    pub(crate) fn expect_alike(&mut self, rate: f32) {
        if let Some(memory) = &mut self.memory {
            memory.if_alike = rate;
        }
    }

    /// What is expected of a page that is expected to be so hot by what was seen of it: differences of which only a
    /// part comes true are taken for that part.
    pub(crate) fn drawn(&self, rate: f32) -> f32 {
        self.memory.as_ref().map_or(rate, |memory| memory.drawn(rate))
    }

    /// Whether later visits bore out how they differ; none as long as nobody can tell.
    pub(crate) fn differ(&self) -> Option<bool> {
        self.memory.as_ref()?.borne_out.differ()
    }

    /// How well later visits bore out how they differ.
    pub(crate) fn borne_out(&self) -> Option<BorneOut> {
        self.memory.as_ref().map(|memory| memory.borne_out)
    }

    /// Takes it for like the regions that say this together, as far as it has not shown otherwise, and whose pages `may`
    /// differ; whether its pages turned out to be accessed alike.
    pub(crate) fn beside(&mut self, all: &BorneOut, may: bool) -> bool {
        let Some(memory) = &mut self.memory else { return false };
        let known = memory.borne_out.beside(all);
        memory.comes_true = single(known.comes_true(may));
        memory.borne_out.differ() != Some(true) && known.differ() == Some(false)
    }

    /// What was measured of all base pages in this epoch.
    pub(crate) fn traffic(&self) -> Option<&[f32; REGION]> {
        self.memory.as_ref().map(|memory| &memory.traffic)
    }

    /// These pages are held by several mappings, of all that are resident.
    pub(crate) fn found_shared(&mut self, shared: &Mask) {
        self.shared = *shared;
    }

    /// What was learned was wrong.
    pub(crate) fn forget(&mut self) {
        self.memory = None;
        (self.watched, self.accessed) = Default::default();
    }

    /// What is shared may change: from now on it is taken not to be.
    pub(crate) fn forget_shared(&mut self) {
        self.shared = Mask::default();
    }
}

#[cfg(test)]
mod mask_tests {
    use super::*;
    use proptest::prelude::*;

    fn ones(mask: &Mask) -> impl Iterator<Item = usize> + use<> {
        let mask = *mask;
        (0..REGION).filter(move |page| has(&mask, *page))
    }

    proptest! {
        #[test]
        fn a_turned_set_holds_the_same_pages_further_on(mask: Mask, skew in 0usize..512) {
            let mut expected: Vec<usize> = ones(&mask).map(|page| (page + skew) % 512).collect();
            expected.sort_unstable();
            prop_assert_eq!(ones(&turned(&mask, skew)).collect::<Vec<_>>(), expected);
            prop_assert!((0..512).all(|page| has(&mask, page) == ones(&mask).any(|p| p == page)));
        }
    }
}
