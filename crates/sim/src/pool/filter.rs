//! A program's accesses through the caches of a node, once: what goes to memory is kept for all replays.

use super::traffic::Misses;
use pagetide_access::Kind;
use pagetide_access::filter::{Cache, Filter, Private, Traffic};
use pagetide_access::generators::Shuffle;
use pagetide_access::parameter::{Result, refuse};
use pagetide_access::patterns::{Source, Step};
use pagetide_machine::PoolCache;
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

/// A line that goes to memory or comes from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    /// The core.
    pub core: usize,
    /// The line, from the start of the program's memory.
    pub line: u32,
    /// What it is.
    pub kind: Kind,
    /// Instructions of the core since the line before, or since the warm-up's end.
    pub instructions: u64,
}

/// Accesses of a core at a time; cores take turns, the one that is behind first.
const BATCH: u32 = 64;

/// One core's way through its caches.
struct Passing<'s> {
    source: &'s mut dyn Source,
    filter: Filter,
    /// Instructions so far.
    done: u64,
    /// Instructions since the last line that was told.
    since: u64,
}

/// What the cores of a node have to do with memory, kept: see [`pass`].
///
/// # Errors
/// As [`pass`].
pub fn filter(
    sources: &mut [Box<dyn Source>],
    caches: &[PoolCache],
    filtering: Filtering,
) -> Result<Vec<Misses>> {
    let mut kept = vec![Misses::default(); sources.len()];
    let rest = pass(sources, caches, filtering, &mut |seen| {
        kept[seen.core].push(seen.line, seen.kind, seen.instructions);
    })?;
    kept.iter_mut().zip(rest).for_each(|(misses, rest)| misses.compute(rest));
    Ok(kept)
}

/// Tells what the cores of a node, which share the last cache, have to do with memory; of each core, what
/// instructions came after its last line. Cores advance by equal instructions. Pages lie in the caches at
/// random, as the frames of a machine that has run for a while do.
///
/// # Errors
/// Caches that make no sense.
pub fn pass(
    sources: &mut [Box<dyn Source>],
    caches: &[PoolCache],
    filtering: Filtering,
    told: &mut impl FnMut(Seen),
) -> Result<Vec<u64>> {
    let [first, second, last] = caches else {
        return refuse("cache", caches.len(), "give three levels");
    };
    let cache = |level: &PoolCache| Cache::new(level.size, level.ways);
    let mut shared = cache(last)?;
    let mut cores = Vec::new();
    for source in sources {
        let filter = Filter::new(Private::new(cache(first)?, cache(second)?), 0);
        cores.push(Passing { source: source.as_mut(), filter, done: 0, since: 0 });
    }
    let frames = Frames::new(filtering.pages, filtering.seed);
    let end = filtering.warm_up.saturating_add(filtering.instructions);
    let (mut steps, mut traffic) = (Vec::new(), Vec::new());
    loop {
        let behind = cores.iter_mut().enumerate().min_by_key(|(_, core)| core.done);
        let Some((number, core)) = behind.filter(|(_, core)| core.done < end) else { break };
        steps.clear();
        core.source.take(BATCH, Duration::ZERO, &mut steps);
        for step in &steps {
            core.advance(step, (&mut shared, &frames), filtering.warm_up, &mut traffic);
            for seen in traffic.drain(..) {
                let instructions = std::mem::take(&mut core.since);
                let line = frames.back(seen.line);
                told(Seen { core: number, line, kind: seen.kind, instructions });
            }
        }
    }
    Ok(cores.into_iter().map(|core| core.since).collect())
}

impl Passing<'_> {
    /// Makes an access; what of it is to be told is appended.
    #[inline]
    fn advance(
        &mut self,
        step: &Step,
        (shared, frames): (&mut Cache, &Frames),
        warm_up: u64,
        traffic: &mut Vec<Traffic>,
    ) {
        self.done += u64::from(step.gap);
        let moved = Step { offset: frames.of(step.offset), ..*step };
        self.filter.pass(&moved, shared, traffic);
        if self.done > warm_up {
            self.since += u64::from(step.gap).min(self.done - warm_up);
        } else {
            traffic.clear();
        }
    }
}

/// Pages in an order of chance, and back.
struct Frames {
    frame: Vec<u32>,
    page: Vec<u32>,
}

impl Frames {
    fn new(pages: u32, seed: u64) -> Self {
        let shuffle = Shuffle::new(u64::from(pages), seed);
        #[expect(clippy::cast_possible_truncation, reason = "below `pages`")]
        let frame: Vec<u32> = (0..pages).map(|page| shuffle.at(u64::from(page)) as u32).collect();
        let mut page = vec![0; frame.len()];
        frame.iter().zip(0..).for_each(|(frame, number)| page[*frame as usize] = number);
        Self { frame, page }
    }

    #[inline]
    fn of(&self, offset: u64) -> u64 {
        #[expect(clippy::cast_possible_truncation, reason = "a page's number")]
        let frame = self.frame[(offset >> 12) as usize];
        u64::from(frame) << 12 | offset & 4095
    }

    #[inline]
    fn back(&self, line: u64) -> u32 {
        #[expect(clippy::cast_possible_truncation, reason = "a page's number, and a line in it")]
        let (frame, within) = ((line >> 6) as usize, (line & 63) as u32);
        self.page[frame] << 6 | within
    }
}

#[cfg(test)]
mod tests {
    use super::*;
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
        let mut sources: Vec<Box<dyn Source>> =
            vec![Box::new(Sweep(0)), Box::new(Sweep(64 * 1000))];
        let filtering = Filtering { warm_up: 5000, instructions: 100_000, pages: 2000, seed: 1 };
        let kept = filter(&mut sources, &caches(), filtering).unwrap();
        for (misses, first) in kept.iter().zip([500, 64_500]) {
            // All are fetched, and given back as many lines later as the caches hold.
            assert_eq!(misses.all()[0].line(), first);
            assert!(misses.fetches().abs_diff(10_000) <= 64, "{}", misses.fetches());
            let held = misses.fetches() - misses.write_backs();
            assert!(held < 1400, "{held} lines are in caches of 1,344");
            assert!(misses.instructions().abs_diff(100_000) <= 640, "{}", misses.instructions());
        }
    }
}
