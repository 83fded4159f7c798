//! A program's accesses through the caches of a node, once: what goes to memory is kept for all replays.

use super::counts::PageId;
use super::frames::Frames;
use super::traffic::Misses;
use pagetide_access::Kind;
use pagetide_access::filter::{Cache, Entries, Filter, Private, Tlb, Traffic, Translation};
use pagetide_access::parameter::{Result, refuse};
use pagetide_access::patterns::{Source, Step};
use pagetide_machine::{PoolCache, PoolTlb};
use std::fmt;
use std::time::Duration;

/// How much of a program is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Filtering {
    /// Instructions of each core that only fill the caches.
    pub warm_up: u64,
    /// Instructions of each core that are kept, about: it ends with an access.
    pub instructions: u64,
    /// Pages of the program's memory.
    pub pages: u32,
    /// Of where its pages are in the caches' eyes.
    pub seed: u64,
}

/// What [`Seen`] is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// A line goes to memory or comes from it.
    Line(Kind),
    /// Its page is translated by the second level of the core's TLB, or not even by that.
    Translation {
        /// Not even by that.
        walk: bool,
    },
}

/// A line that goes to memory or comes from it, or whose page has to be translated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    /// The core.
    pub core: usize,
    /// The line, from the start of the program's memory.
    pub line: u32,
    /// What it is.
    pub what: What,
    /// Instructions of the core since the line before, or since the warm-up's end.
    pub instructions: u64,
}

/// Accesses of a core at a time; cores take turns, the one that is behind first.
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

/// The caches of a node, with the programs that go through them. Pages lie in them at random, as the
/// frames of a machine that has run for a while do.
pub struct NodeCaches {
    cores: Vec<Passing>,
    shared: Cache,
    frames: Frames,
    /// What the second level of a TLB has is told, too.
    tells_second: bool,
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
            shared: cache(last)?,
            frames: Frames::new(filtering.pages, filtering.seed),
            tells_second: tlb.is_some_and(|tlb| tlb.second_ns > 0.0),
            warm_up: filtering.warm_up,
            end: filtering.warm_up.saturating_add(filtering.instructions),
            steps: Vec::new(),
            traffic: Vec::new(),
        })
    }

    /// The core that is behind all others, unless it has executed so many instructions.
    fn behind(&self, end: u64) -> Option<usize> {
        let done = self.cores.iter().map(|core| core.done).enumerate();
        done.min_by_key(|(_, done)| *done).filter(|(_, done)| *done < end).map(|(core, _)| core)
    }

    /// Fills the caches with what the cores do before it counts.
    pub(super) fn warm_up(&mut self) {
        while let Some(core) = self.behind(self.warm_up) {
            self.advance(core, &mut |_| {});
        }
    }

    /// A core makes its next accesses; whether it had any to make.
    pub(super) fn advance(&mut self, number: usize, told: &mut impl FnMut(Seen)) -> bool {
        let Self { cores, shared, frames, steps, traffic, tells_second, .. } = self;
        let core = &mut cores[number];
        if core.done >= self.end {
            return false;
        }
        steps.clear();
        core.source.take(BATCH, Duration::ZERO, steps);
        if steps.is_empty() {
            // A recorded program is over.
            core.done = self.end;
            return false;
        }
        for step in steps {
            core.done += u64::from(step.gap);
            let moved = Step { offset: frames.of(step.offset), ..*step };
            core.filter.pass(&moved, shared, traffic);
            let tlb = core.tlb.as_mut();
            let found = tlb.map_or(Translation::First, |tlb| tlb.lookup(step.offset >> 12, false));
            if core.done <= self.warm_up {
                traffic.clear();
                continue;
            }
            core.since += u64::from(step.gap).min(core.done - self.warm_up);
            let walk = found == Translation::Walk;
            if walk || found == Translation::Second && *tells_second {
                let instructions = std::mem::take(&mut core.since);
                #[expect(clippy::cast_possible_truncation, reason = "pages are below 2^26")]
                let line = (step.offset >> 6) as u32;
                told(Seen { core: number, line, what: What::Translation { walk }, instructions });
            }
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

    /// A page moved: lines of it that are in the caches are of its old frame, and serve nobody.
    pub(super) fn moved(&mut self, page: PageId) {
        self.frames.renew(page.0);
    }
}

/// What the cores of a node have to do with memory, kept: see [`pass`].
///
/// # Errors
/// As [`pass`].
pub fn filter(
    sources: Vec<Box<dyn Source>>,
    caches: &[PoolCache],
    tlb: Option<&PoolTlb>,
    filtering: Filtering,
) -> Result<Vec<Misses>> {
    let mut kept = vec![Misses::default(); sources.len()];
    let rest = pass(sources, caches, tlb, filtering, &mut |seen| kept[seen.core].add(&seen))?;
    kept.iter_mut().zip(rest).for_each(|(misses, rest)| misses.compute(rest));
    Ok(kept)
}

/// Tells what the cores of a node, which share the last cache, have to do with memory; of each core, what
/// instructions came after its last line. Cores advance by equal instructions.
///
/// # Errors
/// Caches that make no sense.
pub fn pass(
    sources: Vec<Box<dyn Source>>,
    caches: &[PoolCache],
    tlb: Option<&PoolTlb>,
    filtering: Filtering,
    told: &mut impl FnMut(Seen),
) -> Result<Vec<u64>> {
    let mut node = NodeCaches::new(sources, caches, tlb, filtering)?;
    while let Some(core) = node.behind(node.end) {
        node.advance(core, told);
    }
    Ok((0..node.cores.len()).map(|core| node.rest(core)).collect())
}

/// A core's TLB for pages of 4 KiB, empty.
fn translations(tlb: &PoolTlb) -> Result<Tlb> {
    let level = |entries, ways| Entries { entries, ways };
    let first = level(tlb.first, tlb.first_ways);
    Tlb::new(first, level(0, 1), level(tlb.second, tlb.second_ways))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pool::Request;
    use pagetide_access::patterns::Op;
    use pagetide_types::Bytes;

    /// Lines in order, one every ten instructions, each core its own.
    struct Sweep(u64);

    impl Source for Sweep {
        fn take(&mut self, n: u32, _: Duration, steps: &mut Vec<Step>) {
            for _ in 0..n {
                steps.push(Step { offset: self.0 << 6, gap: 10, op: Op::Write, dependent: false });
                self.0 += 1;
            }
        }
    }

    fn caches() -> Vec<PoolCache> {
        let level = |kib, shared| PoolCache { size: Bytes::kib(kib), ways: 4, shared };
        vec![level(4, false), level(16, false), level(64, true)]
    }

    #[test]
    fn what_misses_is_kept_with_the_instructions_between() {
        let sources: Vec<Box<dyn Source>> = vec![Box::new(Sweep(0)), Box::new(Sweep(64 * 1000))];
        let filtering = Filtering { warm_up: 5000, instructions: 100_000, pages: 2000, seed: 1 };
        let kept = filter(sources, &caches(), None, filtering).unwrap();
        for (misses, first) in kept.iter().zip([500, 64_500]) {
            // All are fetched, and given back as many lines later as the caches hold.
            assert_eq!(misses.all()[0].line(), first);
            assert!(misses.fetches().abs_diff(10_000) <= 64, "{}", misses.fetches());
            let held = misses.fetches() - misses.write_backs();
            assert!(held < 1400, "{held} lines are in caches of 1,344");
            assert!(misses.instructions().abs_diff(100_000) <= 640, "{}", misses.instructions());
        }
    }

    #[test]
    fn pages_that_no_level_translates_are_told_before_their_lines() {
        let sources: Vec<Box<dyn Source>> = vec![Box::new(Sweep(0))];
        let filtering = Filtering { warm_up: 0, instructions: 100_000, pages: 2000, seed: 1 };
        let tlb = PoolTlb {
            first: 16,
            first_ways: 4,
            second: 0,
            second_ways: 0,
            second_ns: 0.0,
            walk_ns: 30.0,
            flush_all: false,
        };
        let kept = filter(sources, &caches(), Some(&tlb), filtering).unwrap();
        let all = kept[0].all();
        let walked = all.iter().filter(|miss| miss.request() == Request::Translation);
        let pages: Vec<u32> = walked.map(|miss| miss.line() >> 6).collect();
        // A line every ten instructions: each page once, in order.
        assert_eq!(pages, (0..u32::try_from(pages.len()).unwrap()).collect::<Vec<_>>());
        assert!(pages.len().abs_diff(100_000 / 640) <= 2, "{}", pages.len());
        assert_eq!((all[0].request(), all[1].request()), (Request::Translation, Request::Fetch));
        assert!(kept[0].instructions().abs_diff(100_000) <= 640);
    }
}
