//! The caches of a node, as its cores go through them.

use super::counts::PageId;
use super::filter::{Filtering, Seen, What};
use super::frames::Frames;
use super::kept::Keeper;
use super::lost::Left;
use pagetide_access::filter::{
    Cache, Entries, Filter, Last, Looked, Private, Tlb, Traffic, Translation,
};
use pagetide_access::parameter::{Result, refuse};
use pagetide_access::patterns::{Source, Step};
use pagetide_machine::{PoolCache, PoolTlb};
use std::fmt;
use std::time::Duration;

/// Accesses of a core at a time, as long as nothing goes by time; cores take turns, the one that is behind
/// first.
const BATCH: u32 = 64;

/// One core's way through its caches.
struct Passing {
    source: Box<dyn Source>,
    filter: Filter,
    tlb: Option<Tlb>,
    /// Instructions so far.
    done: u64,
    /// Instructions since the last line that was told.
    since: u64,
}

/// The shared cache, and what it was asked by one access.
struct Shared {
    cache: Cache,
    /// Lines, and whether they are written.
    asked: Vec<(u64, bool)>,
}

impl Last for Shared {
    #[inline]
    fn access(&mut self, line: u64, write: bool) -> Looked {
        self.asked.push((line, write));
        self.cache.access(line, write)
    }
}

/// The caches of a node, with the programs that go through them. Pages lie in them at random, as the
/// frames of a machine that has run for a while do.
pub struct NodeCaches {
    cores: Vec<Passing>,
    shared: Shared,
    frames: Frames,
    /// What the second level of a TLB has is told, too.
    tells_second: bool,
    /// Accesses of a core at a time.
    batch: u32,
    warm_up: u64,
    end: u64,
    steps: Vec<Step>,
    traffic: Vec<Traffic>,
}

impl fmt::Debug for NodeCaches {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let done: Vec<u64> = self.cores.iter().map(|core| core.done).collect();
        f.debug_struct("NodeCaches").field("done", &done).finish_non_exhaustive()
    }
}

impl NodeCaches {
    /// Empty caches, and a source for each core.
    ///
    /// # Errors
    /// Caches that make no sense.
    pub fn new(
        sources: Vec<Box<dyn Source>>,
        caches: &[PoolCache],
        tlb: Option<&PoolTlb>,
        filtering: Filtering,
    ) -> Result<Self> {
        let [first, second, last] = caches else {
            return refuse("cache", caches.len(), "give three levels");
        };
        let cache = |level: &PoolCache| Cache::new(level.size, level.ways);
        let core = |source| {
            let filter = Filter::new(Private::new(cache(first)?, cache(second)?), 0);
            Ok(Passing {
                source,
                filter,
                tlb: tlb.map(translations).transpose()?,
                done: 0,
                since: 0,
            })
        };
        Ok(Self {
            cores: sources.into_iter().map(core).collect::<Result<_>>()?,
            shared: Shared { cache: cache(last)?, asked: Vec::new() },
            frames: Frames::new(filtering.pages, filtering.seed),
            tells_second: tlb.is_some_and(|tlb| tlb.second_ns > 0.0),
            batch: BATCH,
            warm_up: filtering.warm_up,
            end: filtering.warm_up.saturating_add(filtering.instructions),
            steps: Vec::new(),
            traffic: Vec::new(),
        })
    }

    /// How many cores there are.
    pub(super) fn cores(&self) -> usize {
        self.cores.len()
    }

    /// The shared cache as it is, and where pages are in its eyes.
    pub(super) fn shared(&self) -> (Cache, Frames) {
        (self.shared.cache.clone(), self.frames.clone())
    }

    /// From now on a core makes one access at a time: lines that it has in its caches before it asked for them
    /// would be gone with their page when that moves, and never have been fetched from where it was.
    pub(super) fn one_at_a_time(&mut self) {
        self.batch = 1;
    }

    /// The core that is behind all others, unless it has executed so many instructions.
    fn behind(&self, end: u64) -> Option<usize> {
        let done = self.cores.iter().map(|core| core.done).enumerate();
        done.min_by_key(|(_, done)| *done).filter(|(_, done)| *done < end).map(|(core, _)| core)
    }

    /// Fills the caches with what the cores do before it counts; what one of them does beyond that is told.
    pub(super) fn warm_up(&mut self, told: &mut impl FnMut(Seen), keeper: &mut impl Keeper) {
        while let Some(core) = self.behind(self.warm_up) {
            self.advance(core, told, keeper);
        }
    }

    /// Goes on to the end.
    pub(super) fn pass(&mut self, told: &mut impl FnMut(Seen), keeper: &mut impl Keeper) {
        while let Some(core) = self.behind(self.end) {
            self.advance(core, told, keeper);
        }
    }

    /// A core makes its next accesses; whether it had any to make.
    pub(super) fn advance(
        &mut self,
        number: usize,
        told: &mut impl FnMut(Seen),
        keeper: &mut impl Keeper,
    ) -> bool {
        let Self { cores, shared, frames, steps, traffic, tells_second, .. } = self;
        let core = &mut cores[number];
        if core.done >= self.end {
            return false;
        }
        steps.clear();
        core.source.take(self.batch, Duration::ZERO, steps);
        if steps.is_empty() {
            // A recorded program is over.
            core.done = self.end;
            return false;
        }
        for step in steps {
            core.done += u64::from(step.gap);
            let moved = Step { offset: frames.of(step.offset), ..*step };
            shared.asked.clear();
            core.filter.pass(&moved, shared, traffic);
            let tlb = core.tlb.as_mut();
            let found = tlb.map_or(Translation::First, |tlb| tlb.lookup(step.offset >> 12, false));
            if core.done <= self.warm_up {
                traffic.clear();
                continue;
            }
            core.since += u64::from(step.gap).min(core.done - self.warm_up);
            let at = core.done - self.warm_up;
            let walk = found == Translation::Walk;
            if walk || found == Translation::Second && *tells_second {
                let instructions = std::mem::take(&mut core.since);
                #[expect(clippy::cast_possible_truncation, reason = "pages are below 2^26")]
                let line = (step.offset >> 6) as u32;
                let what = What::Translation { walk };
                keeper.translates(number, at, line, walk);
                told(Seen { core: number, line, what, instructions });
            }
            keeper.accessed(number, at, step, &shared.asked, frames);
            for seen in traffic.drain(..) {
                let instructions = std::mem::take(&mut core.since);
                let line = frames.back(seen.line);
                told(Seen { core: number, line, what: What::Line(seen.kind), instructions });
            }
        }
        true
    }

    /// Instructions of a core since its last line.
    pub(super) fn rest(&mut self, number: usize) -> u64 {
        std::mem::take(&mut self.cores[number].since)
    }

    /// A page moved. DMA, which is coherent, took what of it was dirty out of the caches and wrote over its
    /// frame; so no line of it is in them any more, and none is written back. Tells which of its lines were in the
    /// shared one.
    pub(super) fn moved(&mut self, page: PageId) -> Left {
        let mut left = Left::default();
        for line in self.frames.renew(page.0) {
            left.lines |= u64::from(self.shared.cache.holds(line)) << (line & 63);
            left.dirty |= u64::from(self.shared.cache.invalidate(line)) << (line & 63);
            for core in &mut self.cores {
                core.filter.invalidate(line);
            }
        }
        left
    }
}

/// A core's TLB for pages of 4 KiB, empty.
fn translations(tlb: &PoolTlb) -> Result<Tlb> {
    let level = |entries, ways| Entries { entries, ways };
    let first = level(tlb.first, tlb.first_ways);
    Tlb::new(first, level(0, 1), level(tlb.second, tlb.second_ways))
}
