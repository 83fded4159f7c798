//! The page tables of all tenants: where each base page lies, and what its entry says. Addresses are
//! bytes of one dense memory, of which tenants have parts.

use super::stale::{Remapped, Stale};
use std::ops::Range;

/// log2 of a base page.
pub const PAGE_SHIFT: u32 = 12;

/// Bits of an entry.
pub mod bit {
    /// The tier: up to four of them.
    pub(crate) const TIER: u8 = 0b11;
    /// It was accessed since somebody cleared this.
    pub const ACCESSED: u8 = 1 << 2;
    /// It was written to since somebody cleared this.
    pub const DIRTY: u8 = 1 << 3;
    /// The next access faults, so that the kernel learns of it.
    pub const HINT: u8 = 1 << 4;
    /// Nothing is mapped: the first access faults.
    pub const ABSENT: u8 = 1 << 5;
    /// Mapped by a huge page, with the 511 others of its block.
    pub const HUGE: u8 = 1 << 6;
    /// Being moved: an access waits until it is there.
    pub const MOVING: u8 = 1 << 7;
    /// An access cannot go on without the kernel.
    pub(crate) const FAULTS: u8 = HINT | ABSENT | MOVING;
}

/// Base pages of a huge one.
pub const HUGE_PAGES: usize = 512;

/// See the module.
#[derive(Clone, Debug, Default)]
pub struct Pages {
    entries: Vec<u8>,
    /// Of which pages cores must forget the translations.
    stale: Stale,
}

impl Pages {
    /// So many bytes, none of them mapped.
    #[must_use]
    pub fn absent(bytes: u64) -> Self {
        Self::filled(bytes, bit::ABSENT)
    }

    /// So many bytes, all in `tier`.
    #[must_use]
    pub fn all_in(tier: u8, bytes: u64) -> Self {
        Self::filled(bytes, tier & bit::TIER)
    }

    fn filled(bytes: u64, entry: u8) -> Self {
        let pages = bytes.div_ceil(1 << PAGE_SHIFT);
        let entries = vec![entry; usize::try_from(pages).unwrap_or(usize::MAX)];
        Self { entries, stale: Stale::default() }
    }

    /// The page of an address.
    #[inline]
    #[must_use]
    pub fn page(address: u64) -> usize {
        (address >> PAGE_SHIFT) as usize
    }

    /// A page's entry.
    #[inline]
    #[must_use]
    pub fn entry(&self, page: usize) -> u8 {
        self.entries[page]
    }

    /// The tier of a page.
    #[inline]
    #[must_use]
    pub fn tier(&self, page: usize) -> usize {
        usize::from(self.entries[page] & bit::TIER)
    }

    /// Maps a page in a tier, its bits unset.
    pub fn put(&mut self, page: usize, tier: u8) {
        self.forget(page..page + 1);
        self.entries[page] = tier & bit::TIER;
    }

    /// Maps the block of a page by a huge page, bits unset.
    pub fn put_huge(&mut self, page: usize, tier: u8) {
        let block = self.block(page);
        self.forget(block.clone());
        self.entries[block].fill(tier & bit::TIER | bit::HUGE);
    }

    /// The pages that are mapped together with this one.
    #[must_use]
    pub fn mapped_with(&self, page: usize) -> Range<usize> {
        if self.entries[page] & bit::HUGE != 0 { self.block(page) } else { page..page + 1 }
    }

    /// The block of 2 MiB that a page is in; the last one may be shorter.
    #[must_use]
    pub fn block(&self, page: usize) -> Range<usize> {
        let first = page - page % HUGE_PAGES;
        first..(first + HUGE_PAGES).min(self.entries.len())
    }

    /// Maps what a huge page maps by base pages, which keep its bits.
    pub fn split(&mut self, page: usize) {
        let mapped = self.mapped_with(page);
        self.forget(mapped.clone());
        for page in mapped {
            self.entries[page] &= !bit::HUGE;
        }
    }

    /// Puts pages elsewhere, with what their entries say.
    pub fn transfer(&mut self, pages: Range<usize>, tier: u8) {
        self.forget(pages.clone());
        for entry in &mut self.entries[pages] {
            *entry = *entry & !bit::TIER | tier & bit::TIER;
        }
    }

    /// The cores forget the translations of pages, which are mapped anew.
    pub(super) fn forget(&mut self, pages: Range<usize>) {
        let mut from = pages.start;
        while from < pages.end {
            let block = from..self.block(from).end.min(pages.end);
            from = block.end;
            // Pages of a block are mapped alike, and what was absent nobody has translated.
            let entry = self.entries[block.start];
            if block.len() > 1 || entry & bit::ABSENT == 0 {
                self.stale.note(Remapped { huge: entry & bit::HUGE != 0, pages: block });
            }
        }
    }

    #[inline]
    pub(super) fn stale(&self) -> &Stale {
        &self.stale
    }

    /// Sets bits of several pages.
    pub fn set_all(&mut self, pages: Range<usize>, bits: u8) {
        self.entries[pages].iter_mut().for_each(|entry| *entry |= bits & !bit::TIER);
    }

    /// Clears bits of several pages; which of them any had set.
    pub fn clear_all(&mut self, pages: Range<usize>, bits: u8) -> u8 {
        let mut seen = 0;
        for entry in &mut self.entries[pages] {
            seen |= *entry;
            *entry &= !(bits & !bit::TIER);
        }
        seen & bits
    }

    /// Sets bits of a page.
    #[inline]
    pub fn set(&mut self, page: usize, bits: u8) {
        self.entries[page] |= bits & !bit::TIER;
    }

    /// Clears bits of a page; which of them were set.
    #[inline]
    pub fn clear(&mut self, page: usize, bits: u8) -> u8 {
        let bits = bits & !bit::TIER;
        let before = self.entries[page];
        self.entries[page] = before & !bits;
        before & bits
    }

    /// Of some base pages, how many are mapped.
    #[must_use]
    pub fn mapped_in(&self, pages: Range<usize>) -> u64 {
        self.entries[pages].iter().filter(|entry| **entry & bit::ABSENT == 0).count() as u64
    }

    /// Base pages.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_huge_page_is_mapped_as_one_and_split_into_pages_that_keep_what_it_said() {
        let mut pages = Pages::all_in(0, 3 << 21);
        pages.put_huge(700, 1);
        assert_eq!((pages.mapped_with(512), pages.mapped_with(5)), (512..1024, 5..6));
        assert!((512..1024).all(|page| pages.tier(page) == 1) && pages.tier(511) == 0);
        pages.set(600, bit::ACCESSED);
        pages.split(1000);
        assert_eq!(pages.mapped_with(600), 600..601);
        assert_eq!(pages.clear_all(512..1024, bit::ACCESSED | bit::DIRTY), bit::ACCESSED);
        assert_eq!(pages.clear_all(512..1024, bit::ACCESSED), 0);
        pages.set_all(0..2, bit::DIRTY);
        pages.transfer(0..2, 1);
        assert_eq!(pages.entry(1), bit::DIRTY | 1);
        // The last block of a memory that is no multiple of 2 MiB.
        assert_eq!(Pages::all_in(0, 5 << 12).block(3), 0..5);
    }
}
