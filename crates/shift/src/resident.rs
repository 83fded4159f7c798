//! What is resident of an address space, by `ioctl(PAGEMAP_SCAN)` (Linux 6.7 and later;
//! Documentation/admin-guide/mm/pagemap.rst): address space that is only reserved costs nothing.

use pagetide_host::{Parts, Resident};
use std::{fs::File, io, ops::Range, os::fd::AsRawFd};

const PAGE: u64 = 4096;
/// `_IOWR('f', 16, struct pm_scan_arg)` (linux/fs.h).
const PAGEMAP_SCAN: libc::Ioctl = 0xc060_6610;
const PAGE_IS_PRESENT: u64 = 1 << 3;
/// Parts per call.
const PARTS: usize = 512;
/// Resident pages per call: the kernel holds the lock of the address space meanwhile.
const PAGES: u64 = 1 << 18;

/// `struct pm_scan_arg`.
#[repr(C)]
#[derive(Debug, Default)]
struct ScanArg {
    size: u64,
    flags: u64,
    start: u64,
    end: u64,
    walk_end: u64,
    vec: u64,
    vec_len: u64,
    max_pages: u64,
    category_inverted: u64,
    category_mask: u64,
    category_anyof_mask: u64,
    return_mask: u64,
}

/// `struct page_region`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
struct PageRegion {
    start: u64,
    end: u64,
    categories: u64,
}

/// The kernel that we run on.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PagemapScan;

impl Resident for PagemapScan {
    fn parts(&self, pagemap: &File, within: Range<u64>) -> io::Result<Option<Parts>> {
        let mut regions = [PageRegion::default(); PARTS];
        let mut arg = ScanArg {
            size: size_of::<ScanArg>() as u64,
            start: within.start * PAGE,
            end: within.end * PAGE,
            vec: regions.as_mut_ptr() as u64,
            vec_len: PARTS as u64,
            max_pages: PAGES,
            category_mask: PAGE_IS_PRESENT,
            return_mask: PAGE_IS_PRESENT,
            ..ScanArg::default()
        };
        // SAFETY: `arg` is the structure that the call takes, with its own size in it; `vec` points to `vec_len`
        // regions that live through the call. The call only reads the other process's page table.
        let count = unsafe { libc::ioctl(pagemap.as_raw_fd(), PAGEMAP_SCAN, &raw mut arg) };
        let Ok(count) = usize::try_from(count) else {
            let error = io::Error::last_os_error();
            return match error.raw_os_error() {
                // A kernel without it.
                Some(libc::ENOTTY | libc::EINVAL) => Ok(None),
                _ => Err(error),
            };
        };
        let pages = regions[..count.min(PARTS)]
            .iter()
            .map(|region| region.start / PAGE..region.end.div_ceil(PAGE))
            .collect();
        Ok(Some(Parts { pages, looked_to: arg.walk_end.div_ceil(PAGE) }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use memmap2::{MmapMut, MmapOptions};
    use std::time::{Duration, Instant};

    #[test]
    fn of_much_reserved_memory_only_what_was_written_is_read() {
        let test = "of_much_reserved_memory_only_what_was_written_is_read";
        // Without a promise that there is so much memory.
        let map: Result<MmapMut, _> = MmapOptions::new().len(1 << 44).no_reserve_swap().map_anon();
        let Ok(mut map) = map else {
            eprintln!("SKIPPED {test}: 16 TiB of address space cannot be reserved here");
            return;
        };
        let first = map.as_ptr() as u64 / PAGE;
        for page in [0_u64, 5 << 20, 6 << 20] {
            map[usize::try_from(page * PAGE).unwrap()] = 1;
        }
        let file = File::open("/proc/self/pagemap").unwrap();
        let (since, last) = (Instant::now(), first + (1 << 32));
        let (mut at, mut found) = (first, Vec::new());
        while at < last {
            let Some(parts) = PagemapScan.parts(&file, at..last).unwrap() else {
                eprintln!("SKIPPED {test}: this kernel has no PAGEMAP_SCAN (6.7 and later)");
                return;
            };
            found.extend(parts.pages);
            assert!(parts.looked_to > at);
            at = parts.looked_to;
        }
        // Where the kernel gives huge pages a page brings its neighbours.
        for page in [0, 5 << 20, 6 << 20] {
            assert!(found.iter().any(|part| part.contains(&(first + page))), "{found:?}");
        }
        let pages: u64 = found.iter().map(|part| part.end - part.start).sum();
        assert!(pages <= 3 * 512, "{found:?}");
        assert!(since.elapsed() < Duration::from_secs(2), "{:?}", since.elapsed());
    }

    #[test]
    fn what_is_no_pagemap_cannot_tell() {
        let file = tempfile::tempfile().unwrap();
        assert_eq!(PagemapScan.parts(&file, 0..10).unwrap(), None);
    }
}
