//! A core's TLB: a first level with an array for each page size and a second level that both
//! share, as in cores of Intel and AMD since about 2013 (Intel's optimisation manual, section 2).
//!
//! Where a translation lies is decided by its page's number in its own size. A walk fills both
//! levels, a hit in the second fills the first; what is evicted is dropped, so neither level
//! contains the other.

use super::{
    row::{self, EMPTY, Touched},
    sets::Sets,
};
use crate::{generators::index, parameter::Result};

/// Base pages of a huge page as a shift.
const HUGE_SHIFT: u32 = 9;

/// Where a translation was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Translation {
    /// In the first level.
    First,
    /// In the second level only.
    Second,
    /// Nowhere: the page table was walked.
    Walk,
}

/// The size of one array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entries {
    /// Translations that it holds; with none the array is missing.
    pub entries: u32,
    /// Of them, how many are in a set. If `entries` are missing, it does not matter.
    pub ways: u32,
}

/// See the module.
#[derive(Clone, Debug)]
pub struct Tlb {
    /// For base pages, and for huge ones.
    first: [Option<Array>; 2],
    second: Option<Array>,
}

impl Tlb {
    /// An empty one: first levels for pages of 4 KiB and of 2 MiB, and the second level.
    ///
    /// # Errors
    /// If an array has no ways, or not so many entries for each set.
    pub fn new(base: Entries, huge: Entries, second: Entries) -> Result<Self> {
        Ok(Self { first: [Array::new(base)?, Array::new(huge)?], second: Array::new(second)? })
    }

    /// Translates an address: looks for its page, whose number counts base pages also where it is
    /// `huge`, and remembers it.
    ///
    /// # Panics
    /// If the page is not below [`Self::limit`].
    #[inline]
    pub fn lookup(&mut self, page: u64, huge: bool) -> Translation {
        let number = number(page, huge);
        if let Some(first) = &mut self.first[usize::from(huge)]
            && first.hits(number, huge)
        {
            return Translation::First;
        }
        if let Some(second) = &mut self.second
            && second.hits(number, huge)
        {
            return Translation::Second;
        }
        Translation::Walk
    }

    /// Forgets all translations: as cheap as forgetting one.
    pub fn flush(&mut self) {
        self.first.iter_mut().chain([&mut self.second]).flatten().for_each(Array::flush);
    }

    /// Forgets the translation of one page, of that size.
    ///
    /// # Panics
    /// If the page is not below [`Self::limit`].
    pub fn flush_page(&mut self, page: u64, huge: bool) {
        let number = number(page, huge);
        if let Some(first) = &mut self.first[usize::from(huge)] {
            first.forget(number, huge);
        }
        if let Some(second) = &mut self.second {
            second.forget(number, huge);
        }
    }

    /// Base pages are below this: with an array of one set 4 TiB of memory, with more sets more.
    #[must_use]
    pub fn limit(&self) -> u64 {
        let arrays = self.first.iter().chain([&self.second]).flatten();
        // An entry says of which size its page is.
        arrays.map(|array| array.sets.limit() >> 1).min().unwrap_or(u64::MAX)
    }
}

/// A page's number in its own size.
#[inline]
const fn number(page: u64, huge: bool) -> u64 {
    if huge { page >> HUGE_SHIFT } else { page }
}

/// An array of translations.
#[derive(Clone, Debug)]
struct Array {
    sets: Sets,
    /// In which generation a set was last cleared: entries of an older one are no longer there.
    cleared: Vec<u32>,
    generation: u32,
}

impl Array {
    fn new(size: Entries) -> Result<Option<Self>> {
        if size.entries == 0 {
            return Ok(None);
        }
        let sets = Sets::new(size.entries.into(), size.ways, "entries", 1)?;
        let cleared = vec![0; index(sets.sets())];
        Ok(Some(Self { sets, cleared, generation: 0 }))
    }

    /// Whether a page is there; from now on it is.
    #[inline]
    fn hits(&mut self, number: u64, huge: bool) -> bool {
        let place = self.sets.place_of(number, huge);
        let cleared = &mut self.cleared[index(place.set)];
        if *cleared != self.generation {
            *cleared = self.generation;
            self.sets.row(place.set).fill(EMPTY);
        }
        self.sets.touch(place, 0) == Touched::Hit
    }

    fn forget(&mut self, number: u64, huge: bool) {
        let place = self.sets.place_of(number, huge);
        row::remove(self.sets.row(place.set), place.key);
    }

    fn flush(&mut self) {
        self.generation = self.generation.wrapping_add(1);
        if self.generation == 0 {
            // A set that was not used for 2^32 flushes would seem to be up to date.
            (0..self.sets.sets()).for_each(|set| self.sets.row(set).fill(EMPTY));
            self.cleared.fill(0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_flushed_does_not_come_back_when_generations_begin_again() {
        let mut array = Array::new(Entries { entries: 8, ways: 2 }).unwrap().unwrap();
        assert!(!array.hits(1, false) && array.hits(1, false), "put there in generation 0");
        array.generation = u32::MAX;
        assert!(!array.hits(2, false) && array.hits(2, false));
        array.flush();
        assert_eq!(array.generation, 0);
        assert!(!array.hits(1, false) && !array.hits(2, false));
    }
}
