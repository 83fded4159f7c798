//! Single base pages of a piece: which are resident, what is remembered of each, and what an epoch
//! adds. For recordings in units of 4 KiB; pieces stay what is cleared, looked at and paid for.

mod curves;
mod heat;
mod memory;
mod spread;
mod trials;

pub(crate) use heat::PageHeat;
pub(crate) use trials::PageTrials;

use crate::evidence::Evidence;
use memory::{PageMemory, Prior};

/// Base pages of a 2 MiB region of the page table.
pub(crate) const REGION: usize = 512;

/// A set of the base pages of one region.
pub(crate) type Mask = [u64; 8];

/// The members of a set, ascending.
pub(crate) fn ones(mask: &Mask) -> impl Iterator<Item = usize> + use<> {
    let mask = *mask;
    (0..8).flat_map(move |word| {
        let mut rest = mask[word];
        std::iter::from_fn(move || {
            let bit = (rest != 0).then(|| rest.trailing_zeros() as usize)?;
            rest &= rest - 1;
            Some(word * 64 + bit)
        })
    })
}

/// What is in both sets.
pub(crate) fn both(a: &Mask, b: &Mask) -> Mask {
    std::array::from_fn(|i| a[i] & b[i])
}

/// Whether a page is in a set.
pub(crate) fn has(mask: &Mask, page: usize) -> bool {
    mask[page / 64] >> (page % 64) & 1 != 0
}

fn put(mask: &mut Mask, page: usize) {
    mask[page / 64] |= 1 << (page % 64);
}

/// The pages of a set as numbered `skew` places further on, beginning again at 0.
fn turned(mask: &Mask, skew: usize) -> Mask {
    let (words, bits) = (skew / 64 % 8, skew % 64);
    std::array::from_fn(|i| {
        let (word, before) = (mask[(i + 8 - words) % 8], mask[(i + 15 - words) % 8]);
        word << bits | if bits > 0 { before >> (64 - bits) } else { 0 }
    })
}

/// The single pages of one piece, by their number in the region of the page table.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Pages {
    pub(crate) resident: Mask,
    pub(crate) dirty: Mask,
    /// The number in its unit's region of page 0 of the region of the page table; not 0 where a
    /// file is mapped at an address that is not aligned as its offset.
    pub(crate) skew: usize,
    /// Held by several mappings: their accessed bits cannot be cleared. And which pages were
    /// looked up.
    shared: Mask,
    looked_up: Mask,
    /// None until the piece was watched as base pages.
    memory: Option<Box<Memory>>,
    /// Shape of the distribution of the pages' rates.
    shape: Option<f64>,
    /// Watched, accessed and always seen in this epoch.
    watched: Mask,
    accessed: Mask,
    saturated: Mask,
}

/// What is remembered of the pages of a piece.
#[derive(Clone, Debug, PartialEq)]
struct Memory {
    pages: [PageMemory; REGION],
    /// The rate of each page; of those never watched, the mean of those watched last.
    rates: [f32; REGION],
}

impl Pages {
    /// An epoch begins: nothing was watched in it.
    pub(crate) fn begin(&mut self) {
        (self.watched, self.accessed, self.saturated) = Default::default();
    }

    /// Learns from the trials of an epoch. `mean`: rate of the mean page of the piece; `ladder`:
    /// all trials of the piece; `saturated`: its rate is a lower bound.
    pub(crate) fn learn(
        &mut self,
        trials: &PageTrials,
        mean: f64,
        ladder: &Evidence,
        saturated: bool,
    ) {
        let memory = self.memory.get_or_insert_with(|| {
            Box::new(Memory { pages: [PageMemory::default(); REGION], rates: [0.0; REGION] })
        });
        let Memory { pages: memory, rates } = memory.as_mut();
        let prior = (mean > 0.0).then(|| {
            let shape = spread::shape(ladder, mean, self.shape);
            self.shape = Some(shape);
            Prior::new(shape, mean)
        });
        let own: Mask = std::array::from_fn(|i| self.resident[i] & !self.shared[i]);
        self.watched = both(&own, trials.watched());
        self.accessed = both(&self.watched, trials.accessed());
        let spans = trials.spans();
        let (mut found, mut expected, mut sum, mut count) = (0.0, 0.0, 0.0, 0.0);
        for page in ones(&self.watched) {
            let trial = trials.page(page);
            let sightings = memory[page].expected(&trial, &spans);
            if let Some(sightings) = sightings {
                expected += sightings;
                found += trial.seen();
            }
            memory[page].learn(&trial, &spans, prior.as_ref(), sightings);
            sum += memory[page].rate().unwrap_or(0.0);
            count += 1.0;
            if memory[page].saturated(trials.always_seen(&trial), saturated) {
                put(&mut self.saturated, page);
            }
        }
        if memory::changed(found, expected) {
            // The program changed: what was is no help for the pages that were not watched.
            for (page, memory) in memory.iter_mut().enumerate() {
                if !has(&self.watched, page) {
                    *memory = PageMemory::default();
                }
            }
        }
        let mean = if count > 0.0 { sum / count } else { 0.0 };
        for (rate, memory) in rates.iter_mut().zip(memory) {
            *rate = memory.rate().unwrap_or(mean);
        }
    }

    /// The rates of all base pages; None until some were watched.
    fn rates(&self) -> Option<&[f32; REGION]> {
        self.memory.as_ref().map(|memory| &memory.rates)
    }

    /// Whether pages were always seen of which nobody knows whether they can be cleared.
    pub(crate) fn wants_look_up(&self) -> bool {
        self.saturated.iter().zip(self.looked_up).any(|(saturated, known)| saturated & !known != 0)
    }

    /// These pages are held by several mappings, of all that are resident.
    pub(crate) fn found_shared(&mut self, shared: &Mask) {
        self.looked_up = self.resident;
        self.shared = *shared;
        for (saturated, shared) in self.saturated.iter_mut().zip(shared) {
            *saturated &= !shared;
        }
    }

    /// What was learned was wrong.
    pub(crate) fn forget(&mut self) {
        let Self { resident, dirty, skew, .. } = *self;
        *self = Self { resident, dirty, skew, ..Self::default() };
    }

    /// What is shared may change: from now on it is taken not to be.
    pub(crate) fn forget_shared(&mut self) {
        (self.shared, self.looked_up) = Default::default();
    }
}

#[cfg(test)]
mod tests;

#[cfg(test)]
mod mask_tests {
    use super::*;
    use proptest::prelude::*;

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
