//! A program's accesses through the caches of a node, once: what goes to memory.

use super::caches::NodeCaches;
use super::kept::Nothing;
use pagetide_access::Kind;
use pagetide_access::parameter::Result;
use pagetide_access::patterns::Source;
use pagetide_machine::{PoolCache, PoolTlb};

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
    node.pass(told, &mut Nothing);
    Ok((0..node.cores()).map(|core| node.rest(core)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pool::{Request, filter};
    use pagetide_access::patterns::{Op, Step};
    use pagetide_types::Bytes;
    use std::time::Duration;

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
        let kept = filter(sources, &caches(), None, filtering).unwrap().misses;
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
        let kept = filter(sources, &caches(), Some(&tlb), filtering).unwrap().misses;
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
