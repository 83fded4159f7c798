//! The files that the plugin shares with us, as `plugin/shared.h` lays them out. They are read
//! while the program writes them: word by word, never as Rust values.

use crate::error::ExactError;
use memmap2::{MmapOptions, MmapRaw};
use std::{
    fs::OpenOptions,
    path::Path,
    sync::atomic::{AtomicU32, AtomicU64, Ordering},
};

const FILTER: usize = 1024;
const HEAD: usize = 32 << 10;
const PAGE: usize = 32;
const PROCESS: usize = 4096;
/// Where the filter's entries and their pages lie in the head.
const ENTRIES: usize = 32;
const ENTRY_PAGES: usize = ENTRIES + FILTER * 16;

/// A shared file, mapped.
struct Shared {
    map: MmapRaw,
}

impl Shared {
    /// Maps it; at least `least` bytes long.
    fn open(path: &Path, least: usize) -> Result<Self, ExactError> {
        let tried = || ExactError::system(format!("mapping {}", path.display()));
        let file = OpenOptions::new().read(true).write(true).open(path).map_err(tried())?;
        let map = MmapOptions::new().map_raw(&file).map_err(tried())?;
        if map.len() < least {
            let short = std::io::Error::new(std::io::ErrorKind::UnexpectedEof, "it is too short");
            return Err(tried()(short));
        }
        Ok(Self { map })
    }

    fn long(&self, offset: usize) -> &AtomicU64 {
        assert!(offset.is_multiple_of(8) && offset + 8 <= self.map.len(), "inside of the file");
        // SAFETY: aligned (maps are, to a page) and within the map, which lives as long as we are
        // borrowed; the other side writes such words whole. The file never shrinks.
        unsafe { &*self.map.as_ptr().add(offset).cast::<AtomicU64>() }
    }

    fn word(&self, offset: usize) -> &AtomicU32 {
        assert!(offset.is_multiple_of(4) && offset + 4 <= self.map.len(), "inside of the file");
        // SAFETY: as in `long`.
        unsafe { &*self.map.as_ptr().add(offset).cast::<AtomicU32>() }
    }

    fn get(&self, offset: usize) -> u64 {
        self.long(offset).load(Ordering::Relaxed)
    }

    fn get_word(&self, offset: usize) -> u32 {
        self.word(offset).load(Ordering::Relaxed)
    }
}

/// Why a process waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Waits {
    /// It ends.
    Ends,
    /// It executes another program.
    Executes,
}

/// What a process says of itself: `struct process`.
pub(crate) struct ProcessFile(Shared);

impl ProcessFile {
    pub(crate) fn open(path: &Path) -> Result<Self, ExactError> {
        Shared::open(path, PROCESS).map(Self)
    }
    /// Its number; 0 until all is filled in.
    pub(crate) fn pid(&self) -> i32 {
        self.0.word(0).load(Ordering::Acquire).cast_signed()
    }
    /// What it was forked from: number and start.
    pub(crate) fn parent(&self) -> Option<(i32, u64)> {
        let pid = self.0.get_word(4).cast_signed();
        (pid != 0).then(|| (pid, self.0.get(8)))
    }
    /// Whether and why it waits to be released.
    pub(crate) fn waits(&self) -> Option<Waits> {
        let waits = self.0.word(16).load(Ordering::Acquire);
        (waits != self.0.get_word(20)).then(|| match self.0.get_word(24) {
            1 => Waits::Ends,
            _ => Waits::Executes,
        })
    }
    /// Lets it go on.
    pub(crate) fn release(&self) {
        let waits = self.0.get_word(16);
        self.0.word(20).store(waits, Ordering::Release);
    }
    /// It need not wait for us any more.
    pub(crate) fn detach(&self) {
        self.0.word(36).store(1, Ordering::Release);
    }
    /// Threads that could not be counted.
    pub(crate) fn uncounted(&self) -> u32 {
        self.0.get_word(28)
    }
    /// Whether it executed a program that is not counted.
    pub(crate) fn became_stranger(&self) -> bool {
        self.0.get_word(32).cast_signed() > 0
    }
    /// The heap that it grows by `brk`.
    pub(crate) fn heap(&self) -> (u64, u64) {
        (self.0.get(40), self.0.get(48))
    }
    /// An address on its first stack; 0: not known yet.
    pub(crate) fn stack(&self) -> u64 {
        self.0.get(56)
    }
}

/// What one thread counted of one base page since it began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    /// All accesses.
    pub(crate) accesses: u64,
    /// Misses, of these leads, and lines written back; modulo 2^32.
    pub(crate) misses: u32,
    pub(crate) leads: u32,
    pub(crate) writes: u32,
    /// It was written.
    pub(crate) dirty: bool,
}

/// What a thread counts.
pub(crate) struct CpuFile(Shared);

impl CpuFile {
    pub(crate) fn open(path: &Path) -> Result<Self, ExactError> {
        Shared::open(path, HEAD).map(Self)
    }
    /// Pages in the table.
    pub(crate) fn pages(&self) -> usize {
        let pages = self.0.word(0).load(Ordering::Acquire) as usize;
        pages.min((self.0.map.len() - HEAD) / PAGE)
    }
    /// Accesses that found no room in it.
    pub(crate) fn lost(&self) -> u32 {
        self.0.get_word(4)
    }
    /// Number (address / 4096) of a page of the table.
    pub(crate) fn number(&self, page: usize) -> u64 {
        self.0.get(HEAD + page * PAGE)
    }
    /// Counts of a page of the table.
    pub(crate) fn counts(&self, page: usize) -> Counts {
        let at = HEAD + page * PAGE;
        Counts {
            accesses: self.0.get(at + 8),
            misses: self.0.get_word(at + 16),
            leads: self.0.get_word(at + 20),
            writes: self.0.get_word(at + 24),
            dirty: self.0.get_word(at + 28) != 0,
        }
    }
    /// Accesses that the filter served and that stand in no page's count yet: page of the table
    /// and number.
    pub(crate) fn pending(&self) -> impl Iterator<Item = (usize, u64)> + '_ {
        (0..FILTER).filter_map(|i| {
            let used = self.0.get(ENTRIES + i * 16) != u64::MAX;
            let page = self.0.get_word(ENTRY_PAGES + i * 4) as usize;
            used.then(|| (page, self.0.get(ENTRIES + i * 16 + 8)))
        })
    }
}

/// The accesses of a thread, as records of 64 bits (`plugin/stream.h`).
pub(crate) struct RingFile(Shared);

impl RingFile {
    const RECORDS: usize = 1 << 19;
    const START: usize = 4096;

    pub(crate) fn open(path: &Path) -> Result<Self, ExactError> {
        Shared::open(path, Self::START + Self::RECORDS * 8).map(Self)
    }
    /// Whether all that was written has been taken.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.long(0).load(Ordering::Acquire) == self.0.get(64)
    }
    /// Nanoseconds that the thread waited for room.
    pub(crate) fn waited_ns(&self) -> u64 {
        self.0.get(72)
    }
    /// Takes up to so many records; only one thread may do so.
    pub(crate) fn take(&self, most: usize, records: &mut Vec<u64>) {
        let (written, read) = (self.0.long(0).load(Ordering::Acquire), self.0.get(64));
        let there = usize::try_from(written.wrapping_sub(read)).unwrap_or(0).min(most);
        let first = usize::try_from(read % Self::RECORDS as u64).unwrap_or(0);
        records.extend(
            (first..first + there).map(|at| self.0.get(Self::START + at % Self::RECORDS * 8)),
        );
        self.0.long(64).store(read + there as u64, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_layout_is_that_of_the_plugin() {
        let header = include_str!("../plugin/shared.h");
        for line in ["#define FILTER 1024", "#define HEAD (32 << 10)", "uint32_t waits, released;"]
        {
            assert!(header.contains(line), "{line}");
        }
    }

    #[test]
    fn a_file_that_is_too_short_is_no_table() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("1.2.0.cpu");
        std::fs::write(&path, [0; 100]).unwrap();
        let error = CpuFile::open(&path).err().unwrap().to_string();
        assert!(error.contains("too short") && error.contains("1.2.0.cpu"), "{error}");
    }
}
