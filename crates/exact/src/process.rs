//! One program in one process: its threads' tables, its memory map, what of it is resident.

use crate::{
    error::ExactError,
    objects::{Mapping, Objects},
    regions::Regions,
    residency,
    shared::{Counts, CpuFile, ProcessFile, RingFile, Waits},
    stream::NewRing,
};
use pagetide_host::{Area as MapArea, Host, Maps, Skip};
use pagetide_trace::Area;
use pagetide_types::{AreaKind, EpochId, Pid};
use std::{path::Path, sync::Arc};

/// Areas larger than this are read around accessed memory only: reservations of terabytes.
const READ_WHOLE: u64 = 16 << 30;

/// A thread's table, and what was read of it before.
struct Cpu {
    file: CpuFile,
    seen: Vec<Counts>,
}

/// A program in a process.
pub(crate) struct Process {
    pub(crate) pid: Pid,
    /// What tells it from other programs of the process.
    pub(crate) start: u64,
    /// The number of its address space.
    space: u64,
    forked: bool,
    command: String,
    file: ProcessFile,
    cpus: Vec<Cpu>,
    rings: Vec<Arc<RingFile>>,
    maps: Maps,
    /// The map of the reading before: what was unmapped since is looked up in it.
    before: Maps,
    /// It ended, or executed another program.
    pub(crate) over: bool,
}

impl Process {
    /// From the file that it made; none while that is not complete.
    pub(crate) fn open(path: &Path, start: u64, space: u64) -> Result<Option<Self>, ExactError> {
        let file = ProcessFile::open(path)?;
        let pid = Pid(file.pid());
        let forked = file.parent().is_some();
        let complete = pid.0 != 0;
        Ok(complete.then(|| Self {
            pid,
            start,
            space,
            forked,
            command: command(pid),
            file,
            cpus: Vec::new(),
            rings: Vec::new(),
            maps: Maps::new(),
            before: Maps::new(),
            over: false,
        }))
    }

    pub(crate) fn add_cpu(&mut self, path: &Path) -> Result<(), ExactError> {
        self.cpus.push(Cpu { file: CpuFile::open(path)?, seen: Vec::new() });
        Ok(())
    }

    /// Takes in the ring of a thread; `cpu` is the path of its table.
    pub(crate) fn add_ring(&mut self, ring: &Path, cpu: &Path) -> Result<NewRing, ExactError> {
        let ring = Arc::new(RingFile::open(ring)?);
        self.rings.push(Arc::clone(&ring));
        Ok(NewRing { pid: self.pid, space: self.space, ring, cpu: CpuFile::open(cpu)? })
    }

    /// Whether all accesses that it wrote down have been taken.
    pub(crate) fn drained(&self) -> bool {
        self.rings.iter().all(|ring| ring.is_empty())
    }

    /// Nanoseconds that its threads waited for room in their rings.
    pub(crate) fn waited_ns(&self) -> u64 {
        self.rings.iter().map(|ring| ring.waited_ns()).sum()
    }

    /// Reads the memory map unless that was done: of a process that is killed it would be too
    /// late. Before its first access it may not be loaded yet.
    pub(crate) fn look(&mut self, host: &Host) {
        if self.maps.areas().is_empty() && !self.cpus.is_empty() {
            // Perhaps it has ended.
            let _ = host.read_maps(self.pid, &mut self.maps);
        }
    }

    pub(crate) fn waits(&self) -> Option<Waits> {
        self.file.waits()
    }

    pub(crate) fn release(&self) {
        self.file.release();
    }

    pub(crate) fn detach(&self) {
        self.file.detach();
    }

    /// Threads that could not be counted.
    pub(crate) fn uncounted(&self) -> u32 {
        self.file.uncounted()
    }

    /// Accesses beyond the room of a thread's table.
    pub(crate) fn lost(&self) -> u64 {
        self.cpus.iter().map(|cpu| u64::from(cpu.file.lost())).sum()
    }

    /// Whether it executed a program that is not counted.
    pub(crate) fn became_stranger(&self) -> bool {
        self.file.became_stranger()
    }

    /// Adds what was counted since the last call, and with `resident` what is resident now.
    pub(crate) fn read(
        &mut self,
        host: &Host,
        objects: &mut Objects,
        regions: &mut Regions,
        epoch: EpochId,
        resident: bool,
    ) {
        std::mem::swap(&mut self.maps, &mut self.before);
        // A process that has just ended has no map any more: the last one counts.
        if host.read_maps(self.pid, &mut self.maps).is_err() || self.maps.areas().is_empty() {
            std::mem::swap(&mut self.maps, &mut self.before);
        }
        let mut places = Places::new(&self.maps, &self.before, self.space);
        for cpu in &mut self.cpus {
            cpu.read(|(page, at), counts| {
                // A line may be written back long after the last access to its page.
                let changed = counts.accesses > 0 || counts.misses > 0 || counts.writes > 0;
                if let Some(mapping) = places.of(page, objects).filter(|_| changed) {
                    let page = page.wrapping_add(mapping.shift);
                    regions.count(mapping.object, (page, at), counts);
                }
            });
        }
        let accessed = places.accessed;
        for (area, mapping) in self.maps.areas().iter().zip(&accessed) {
            let Some(mapping) = mapping else { continue };
            objects.note(self.describe(area, *mapping, epoch));
        }
        if resident && let Ok(pagemap) = residency::pagemap(self.pid) {
            self.reside(&pagemap, &accessed, regions);
        }
    }

    /// An area as recordings have it, in numbers of pages.
    fn describe(&self, area: &MapArea, mapping: Mapping, epoch: EpochId) -> Area {
        let (heap, heap_end) = self.file.heap();
        let contains = |address: u64| (area.start.0..area.end.0).contains(&address);
        // QEMU maps a program's heap and stack as it maps other memory.
        let plain = area.backing().is_none();
        let (kind, name) = if plain && heap < heap_end && (contains(heap) || contains(heap_end - 1))
        {
            (AreaKind::Heap, "[heap]".to_owned())
        } else if plain && contains(self.file.stack()) {
            (AreaKind::Stack, "[stack]".to_owned())
        } else {
            (area.kind, self.maps.name(area).into_owned())
        };
        Area {
            object: mapping.object,
            first: (area.start.0 >> 12).wrapping_add(mapping.shift),
            end: (area.end.0 >> 12).wrapping_add(mapping.shift),
            kind,
            name,
            pid: self.pid,
            command: self.command.clone(),
            since: epoch,
            mapped: None,
        }
    }

    /// Notes what is resident of the areas that were accessed at all: the others are QEMU's own.
    fn reside(&self, pagemap: &std::fs::File, accessed: &[Option<Mapping>], regions: &mut Regions) {
        let mut pages: Vec<u64> = Vec::new();
        for (area, mapping) in self.maps.areas().iter().zip(accessed) {
            let Some(mapping) = mapping else { continue };
            let range = area.start.0 >> 12..area.end.0 >> 12;
            let mut reside =
                |page: u64| regions.reside(mapping.object, page.wrapping_add(mapping.shift));
            // What a forked process has of its parent's memory and does not access is its
            // parent's.
            if self.forked && area.backing().is_none() || area.len() > READ_WHOLE {
                if pages.is_empty() {
                    pages = self.accessed_pages();
                }
                let from = pages.partition_point(|page| *page < range.start);
                let to = pages.partition_point(|page| *page < range.end);
                for run in runs(&pages[from..to]) {
                    // What went away in the meantime is not resident.
                    let _ = residency::resident(pagemap, run, &mut reside);
                }
            } else {
                let _ = residency::resident(pagemap, range, reside);
            }
        }
    }

    /// Numbers of all pages that some thread accessed, ascending.
    fn accessed_pages(&self) -> Vec<u64> {
        let of = |cpu: &Cpu| (0..cpu.seen.len()).map(|at| cpu.file.number(at)).collect::<Vec<_>>();
        let mut pages: Vec<u64> = self.cpus.iter().flat_map(of).collect();
        pages.sort_unstable();
        pages.dedup();
        pages
    }
}

impl Cpu {
    /// Calls `take` with every page of the table, its place there, and what was counted of it since the last call. The
    /// table has pages in the order in which the thread accessed them first.
    fn read(&mut self, mut take: impl FnMut((u64, usize), &Counts)) {
        let pages = self.file.pages();
        self.seen.resize(pages, Counts::default());
        let mut pending = vec![0; pages];
        for (page, hits) in self.file.pending() {
            if let Some(pending) = pending.get_mut(page) {
                *pending += hits;
            }
        }
        for (page, (seen, pending)) in self.seen.iter_mut().zip(pending).enumerate() {
            let now = self.file.counts(page);
            // A line that leaves the filter meanwhile is seen in both places: never go back.
            let accesses = (now.accesses + pending).max(seen.accesses);
            let since = Counts {
                accesses: accesses - seen.accesses,
                misses: now.misses.wrapping_sub(seen.misses),
                leads: now.leads.wrapping_sub(seen.leads),
                writes: now.writes.wrapping_sub(seen.writes),
                dirty: now.dirty,
            };
            *seen = Counts { accesses, ..now };
            take((self.file.number(page), page), &since);
        }
    }
}

/// Finds the areas of pages, and notes which areas have some.
struct Places<'a> {
    now: &'a Maps,
    before: &'a Maps,
    space: u64,
    /// By area of the map: what it maps, if it was accessed.
    accessed: Vec<Option<Mapping>>,
    last: usize,
}

impl<'a> Places<'a> {
    fn new(now: &'a Maps, before: &'a Maps, space: u64) -> Self {
        Self { now, before, space, accessed: vec![None; now.areas().len()], last: 0 }
    }

    /// Where a page lies; none for what holds no memory to be placed.
    fn of(&mut self, page: u64, objects: &mut Objects) -> Option<Mapping> {
        let address = page << 12;
        let contains = |area: &MapArea| (area.start.0..area.end.0).contains(&address);
        let areas = self.now.areas();
        if !areas.get(self.last).is_some_and(contains) {
            self.last = areas.partition_point(|area| area.end.0 <= address);
        }
        if let Some(area) = areas.get(self.last).filter(|area| contains(area)) {
            if matches!(area.skip, Some(Skip::Special | Skip::Device)) {
                return None;
            }
            let mapping = self.accessed[self.last];
            let mapping = mapping.unwrap_or_else(|| objects.mapping(self.space, area));
            self.accessed[self.last] = Some(mapping);
            return Some(mapping);
        }
        // It was unmapped since.
        let areas = self.before.areas();
        let old = areas.get(areas.partition_point(|area| area.end.0 <= address));
        Some(match old.filter(|area| contains(area)) {
            Some(area) => objects.mapping(self.space, area),
            None => objects.private(self.space),
        })
    }
}

/// Ascending numbers as ranges without gaps.
fn runs(pages: &[u64]) -> impl Iterator<Item = std::ops::Range<u64>> + '_ {
    pages.chunk_by(|a, b| a + 1 == *b).filter_map(|run| Some(*run.first()?..run.last()? + 1))
}

/// The name of the program: QEMU's process is named after itself.
fn command(pid: Pid) -> String {
    let comm = || std::fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
    let words = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let words: Vec<&[u8]> = words.split(|byte| *byte == 0).collect();
    // qemu-x86_64 -plugin OPTION [-0 NAME] PROGRAM ...
    let program = match words.get(3) {
        Some(&b"-0") => words.get(5),
        other => other,
    };
    let program = program.map(|path| String::from_utf8_lossy(path));
    let name = program.as_deref().and_then(|path| path.rsplit('/').next()).unwrap_or_default();
    if name.is_empty() { comm().trim().to_owned() } else { name.to_owned() }
}
