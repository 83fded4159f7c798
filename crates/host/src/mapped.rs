//! Which processes map the frames of some ranges, and at which addresses: `/proc/PID/pagemap` of every
//! process (Documentation/admin-guide/mm/pagemap.rst). The kernel shows numbers of frames to root alone.
//!
//! Address space that is reserved and not resident costs nothing where the kernel tells what is resident
//! ([`Resident`]). Where it does not, areas larger than [`LARGEST_UNTOLD`] are passed over.

use crate::{Error, Host, Identity, Maps, Pfn, Skip, files::fault};
use pagetide_types::{Bytes, VirtAddr};
use std::{collections::BTreeSet, fs::File, io, ops::Range, os::unix::fs::FileExt};

/// Areas larger than this are not read page by page.
pub const LARGEST_UNTOLD: Bytes = Bytes::gib(64);

/// Bytes in a base page.
const PAGE: u64 = 4096;
/// Base pages in a huge page.
const PER_HUGE: u64 = 512;
/// One past the last page that programs have without asking for more (x86-64: 47 bits of address).
const LAST: u64 = (1 << 35) - 1;
/// Entries per read: whole huge pages.
const CHUNK: u64 = 32 * PER_HUGE;

// Bits of /proc/PID/pagemap.
const PRESENT: u64 = 1 << 63;
const EXCLUSIVE: u64 = 1 << 56;
const FRAME: u64 = (1 << 55) - 1;

// Bits of /proc/kpageflags (include/uapi/linux/kernel-page-flags.h).
const KPF_HUGE: u64 = 1 << 17;
const KPF_THP: u64 = 1 << 22;

/// Finds what is resident of an address space without reading an entry for every page.
pub trait Resident {
    /// What of the pages `within` (numbers: address / 4096) is resident, as far as it looked; none where the
    /// kernel does not tell.
    ///
    /// # Errors
    /// When the kernel does not answer.
    fn parts(&self, pagemap: &File, within: Range<u64>) -> io::Result<Option<Parts>>;
}

/// What is resident of some pages.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parts {
    /// Numbers of pages, ascending; between them nothing is resident.
    pub pages: Vec<Range<u64>>,
    /// One past the last page that was looked at.
    pub looked_to: u64,
}

/// Of a kernel that does not tell.
#[derive(Clone, Copy, Debug, Default)]
pub struct Untold;

impl Resident for Untold {
    fn parts(&self, _pagemap: &File, _within: Range<u64>) -> io::Result<Option<Parts>> {
        Ok(None)
    }
}

/// Pages of one process, neighbours by address, whose frames lie in one of the ranges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MappedPages {
    /// Who.
    pub process: Identity,
    /// Where.
    pub start: VirtAddr,
    /// How many base pages.
    pub pages: u64,
    /// Whether these are huge pages of 2 MiB, whole.
    pub huge: bool,
    /// Which of the ranges.
    pub range: usize,
}

impl MappedPages {
    /// Their size.
    #[must_use]
    pub fn bytes(&self) -> Bytes {
        Bytes(self.pages * PAGE)
    }
}

/// What to look for.
pub struct MappedSearch<'a> {
    /// Frames, ascending and apart.
    pub ranges: &'a [Range<Pfn>],
    /// How what is resident is found.
    pub resident: &'a dyn Resident,
    /// Asked every few thousand pages whether to stop.
    pub stop: &'a dyn Fn() -> bool,
    /// Most entries of the answer.
    pub most: usize,
}

/// Who maps the frames.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MappedFrames {
    /// By process and address; a frame that several map is named once.
    pub pages: Vec<MappedPages>,
    /// Nothing was passed over.
    pub whole: bool,
}

impl Host {
    /// Who maps the frames of some ranges. Processes that end meanwhile map nothing; what may not be looked
    /// into is passed over.
    ///
    /// # Errors
    /// When the processes cannot be listed.
    pub fn mapped(&self, search: &MappedSearch<'_>) -> Result<MappedFrames, Error> {
        let mut finding = Finding::new(self, search);
        for pid in self.pids()? {
            if finding.is_over() {
                break;
            }
            let process = match self.process(pid) {
                Ok(process) if process.kernel_thread || process.has_ended() => continue,
                Ok(process) => process.id,
                Err(Error::NoProcess(_)) => continue,
                Err(_) => {
                    finding.found.whole = false;
                    continue;
                }
            };
            match self.mapped_by(process, &mut finding).map_err(|error| self.gone(pid, error)) {
                Ok(()) | Err(Error::NoProcess(_)) => {}
                Err(_) => finding.found.whole = false,
            }
        }
        Ok(finding.found)
    }

    fn mapped_by(&self, process: Identity, finding: &mut Finding<'_>) -> Result<(), Error> {
        let path = self.proc(process.pid, "pagemap");
        let wrong = |source| fault(path.clone(), source);
        let pagemap = File::open(&path).map_err(wrong)?;
        // Of a process that has given its memory up there is nothing to be read, and nothing may be asked.
        if pagemap.read_at(&mut [0; 8], 0).map_err(wrong)? == 0 {
            return Ok(());
        }
        let mut at = 0;
        while at < LAST && !finding.is_over() {
            let Some(parts) = finding.search.resident.parts(&pagemap, at..LAST).map_err(wrong)?
            else {
                return self.mapped_by_areas(process, &pagemap, finding);
            };
            for pages in parts.pages {
                finding.read(process, &pagemap, pages).map_err(wrong)?;
            }
            at = parts.looked_to.max(at + 1);
        }
        Ok(())
    }

    /// Page by page, but for what is too large.
    fn mapped_by_areas(
        &self,
        process: Identity,
        pagemap: &File,
        finding: &mut Finding<'_>,
    ) -> Result<(), Error> {
        let mut maps = Maps::new();
        self.read_maps(process.pid, &mut maps)?;
        for area in maps.areas() {
            // What is a device's or the kernel's own does not move.
            if matches!(area.skip, Some(Skip::Device | Skip::Special)) {
                continue;
            }
            if area.len() > LARGEST_UNTOLD.0 {
                finding.found.whole = false;
                continue;
            }
            finding
                .read(process, pagemap, area.start.0 / PAGE..area.end.0 / PAGE)
                .map_err(|source| fault(self.proc(process.pid, "pagemap"), source))?;
        }
        Ok(())
    }
}

/// A search under way.
struct Finding<'a> {
    search: &'a MappedSearch<'a>,
    /// `/proc/kpageflags`, where it can be read.
    flags: Option<File>,
    /// Frames that several map, once they are named.
    shared: BTreeSet<u64>,
    buffer: Vec<u8>,
    found: MappedFrames,
}

impl<'a> Finding<'a> {
    fn new(host: &Host, search: &'a MappedSearch<'a>) -> Self {
        Self {
            search,
            flags: File::open(host.path("proc/kpageflags")).ok(),
            shared: BTreeSet::new(),
            buffer: Vec::new(),
            found: MappedFrames { pages: Vec::new(), whole: true },
        }
    }

    /// Whether to stop, having found enough or taken too long.
    fn is_over(&mut self) -> bool {
        let over = self.found.pages.len() >= self.search.most || (self.search.stop)();
        self.found.whole &= !over;
        over
    }

    /// The entries of some pages.
    fn read(&mut self, process: Identity, pagemap: &File, pages: Range<u64>) -> io::Result<()> {
        let mut at = pages.start;
        while at < pages.end && !self.is_over() {
            // To the end of a huge page, so that those are seen whole.
            let to = ((at / CHUNK + 1) * CHUNK).min(pages.end);
            let length = usize::try_from((to - at) * 8).unwrap_or(0);
            let mut buffer = std::mem::take(&mut self.buffer);
            buffer.resize(length, 0);
            let got = pagemap.read_at(&mut buffer, at * 8)?;
            let (entries, _) = buffer[..got].as_chunks::<8>();
            self.take(process, at, entries);
            at += entries.len() as u64;
            let ended = entries.is_empty();
            self.buffer = buffer;
            if ended {
                break;
            }
        }
        Ok(())
    }

    /// Entries of the pages from `first` on.
    fn take(&mut self, process: Identity, first: u64, mut entries: &[[u8; 8]]) {
        let mut page = first;
        while !entries.is_empty() {
            let to_next = usize::try_from(PER_HUGE - page % PER_HUGE).unwrap_or(1);
            let (here, rest) = entries.split_at(to_next.min(entries.len()));
            if self.is_huge(here) {
                self.add(process, page, here[0], true);
            } else {
                (page..).zip(here).for_each(|(page, entry)| self.add(process, page, *entry, false));
            }
            page += here.len() as u64;
            entries = rest;
        }
    }

    /// Which range the frame of an entry lies in, and the frame.
    fn frame(&self, entry: [u8; 8]) -> Option<(usize, u64)> {
        let entry = u64::from_ne_bytes(entry);
        let frame = entry & FRAME;
        let ranges = self.search.ranges;
        if entry & PRESENT == 0 || ranges.first().is_none_or(|first| frame < first.start.0) {
            return None;
        }
        let which = ranges.partition_point(|range| range.end.0 <= frame);
        ranges.get(which).filter(|range| range.start.0 <= frame).map(|_| (which, frame))
    }

    /// Whether the entries up to the next boundary of 2 MiB are of one huge page.
    fn is_huge(&self, entries: &[[u8; 8]]) -> bool {
        if entries.len() as u64 != PER_HUGE {
            return false;
        }
        let Some((which, frame)) = self.frame(entries[0]) else { return false };
        frame.is_multiple_of(PER_HUGE)
            && (frame..)
                .zip(entries)
                .all(|(frame, entry)| self.frame(*entry) == Some((which, frame)))
            && self.flags_of(frame) & (KPF_THP | KPF_HUGE) != 0
    }

    /// What the kernel says of a frame; nothing where it says nothing.
    fn flags_of(&self, frame: u64) -> u64 {
        let mut flags = [0; 8];
        let read = self.flags.as_ref().map(|file| file.read_exact_at(&mut flags, frame * 8));
        if matches!(read, Some(Ok(()))) { u64::from_ne_bytes(flags) } else { 0 }
    }

    /// A page, if it lies in a range and is not named yet.
    fn add(&mut self, process: Identity, page: u64, entry: [u8; 8], huge: bool) {
        let Some((range, frame)) = self.frame(entry) else { return };
        let alone = u64::from_ne_bytes(entry) & EXCLUSIVE != 0;
        if !alone && !self.shared.insert(frame) {
            return;
        }
        let pages = if huge { PER_HUGE } else { 1 };
        let start = VirtAddr(page * PAGE);
        match self.found.pages.last_mut() {
            Some(last)
                if (last.process, last.huge, last.range) == (process, huge, range)
                    && last.start.0 + last.pages * PAGE == start.0 =>
            {
                last.pages += pages;
            }
            _ => self.found.pages.push(MappedPages { process, start, pages, huge, range }),
        }
    }
}

#[cfg(test)]
#[path = "mapped_tests.rs"]
mod tests;
