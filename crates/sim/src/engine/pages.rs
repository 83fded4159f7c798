//! The page tables of all tenants: where each base page lies, and what its entry says. Addresses are
//! bytes of one dense memory, of which tenants have parts.

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
}

/// See the module.
#[derive(Clone, Debug, Default)]
pub struct Pages {
    entries: Vec<u8>,
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
        Self { entries: vec![entry; usize::try_from(pages).unwrap_or(usize::MAX)] }
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

    /// Maps a page in a tier, its bits unset, or moves it there.
    pub fn put(&mut self, page: usize, tier: u8) {
        self.entries[page] = tier & bit::TIER;
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
