//! What the physical pages of a range are used for (`/proc/kpageflags`,
//! Documentation/admin-guide/mm/pagemap.rst).

use crate::{Error, Host, Pfn, files::fault};
use std::{
    fs::File,
    io::{ErrorKind, Read, Seek, SeekFrom},
};

/// Counts of base pages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FrameCounts {
    /// Free, in the allocator's lists.
    pub free: u64,
    /// In use, and of a kind that the kernel can move.
    pub movable: u64,
    /// In use by the kernel itself, or broken: these do not move.
    pub unmovable: u64,
    /// Page structures that lie on the memory that they describe.
    pub memmap: u64,
    /// No page: not in use, or taken offline.
    pub absent: u64,
}

impl FrameCounts {
    /// Pages that must move before the range can be given up.
    #[must_use]
    pub fn used(&self) -> u64 {
        self.movable + self.unmovable
    }
}

// Bits of /proc/kpageflags (include/uapi/linux/kernel-page-flags.h).
const SLAB: u64 = 1 << 7;
const BUDDY: u64 = 1 << 10;
const HWPOISON: u64 = 1 << 19;
const NOPAGE: u64 = 1 << 20;
const OFFLINE: u64 = 1 << 23;
const PGTABLE: u64 = 1 << 26;
/// The kernel's own (include/linux/kernel-page-flags.h): of a page that holds page structures of its
/// own block this bit alone is set.
const OWNER_PRIVATE: u64 = 1 << 37;
const UNMOVABLE: u64 = SLAB | HWPOISON | PGTABLE;

/// Flags per read.
const CHUNK: usize = 1 << 16;

impl Host {
    /// What `pages` base pages from `start` on are used for.
    ///
    /// # Errors
    /// When the kernel does not show it: not root, or without `CONFIG_PROC_PAGE_MONITOR`.
    pub fn frames(&self, start: Pfn, pages: u64) -> Result<FrameCounts, Error> {
        let path = self.path("proc/kpageflags");
        let read = || -> std::io::Result<FrameCounts> {
            let mut file = File::open(&path)?;
            file.seek(SeekFrom::Start(start.0.saturating_mul(8)))?;
            let mut counts = FrameCounts::default();
            let mut left = pages.saturating_mul(8);
            let mut buffer = vec![0; CHUNK];
            let mut rest = 0;
            while left > 0 {
                let most = usize::try_from(left).unwrap_or(CHUNK).min(CHUNK - rest);
                let got = match file.read(&mut buffer[rest..rest + most]) {
                    Ok(0) => break,
                    Ok(got) => got,
                    Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                    Err(error) => return Err(error),
                };
                left -= got as u64;
                let there = rest + got;
                let (words, odd) = buffer[..there].as_chunks::<8>();
                words.iter().for_each(|word| counts.add(u64::from_ne_bytes(*word)));
                rest = odd.len();
                buffer.copy_within(there - rest..there, 0);
            }
            counts.absent += left / 8;
            Ok(counts)
        };
        read().map_err(|source| fault(path.clone(), source))
    }
}

impl FrameCounts {
    fn add(&mut self, flags: u64) {
        let which = if flags & BUDDY != 0 {
            &mut self.free
        } else if flags & (NOPAGE | OFFLINE) != 0 {
            &mut self.absent
        } else if flags == OWNER_PRIVATE {
            &mut self.memmap
        } else if flags & UNMOVABLE != 0 {
            &mut self.unmovable
        } else {
            &mut self.movable
        };
        *which += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::Fake;

    #[test]
    fn pages_are_counted_by_what_they_are_used_for() {
        let fake = Fake::new();
        // A head of an anonymous huge page, a page on a list, one without flags, ...
        let kinds = [1 << 12 | 1 << 5, BUDDY, 0, SLAB, PGTABLE, OWNER_PRIVATE, NOPAGE, OFFLINE];
        let flags: Vec<u64> = std::iter::repeat_n(kinds, 20_000).flatten().collect();
        let bytes: Vec<u8> = flags.iter().flat_map(|word| word.to_ne_bytes()).collect();
        fake.file("proc/kpageflags", &bytes);
        let counts = fake.host().frames(Pfn(8), 19_000 * 8).unwrap();
        let each = FrameCounts {
            free: 19_000,
            movable: 38_000,
            unmovable: 38_000,
            memmap: 19_000,
            absent: 38_000,
        };
        assert_eq!(counts, each);
        assert_eq!(counts.used(), 76_000);
        // Behind the last page there is none.
        let behind = fake.host().frames(Pfn(20_000 * 8 - 1), 10).unwrap();
        assert_eq!(behind, FrameCounts { absent: 10, ..FrameCounts::default() });
    }

    #[test]
    fn without_the_file_the_reason_is_told() {
        let error = Fake::new().host().frames(Pfn(0), 1).unwrap_err().to_string();
        assert!(error.contains("kpageflags"), "{error}");
    }
}
