//! How often a page of the pool will be accessed further, as far as a node has seen it: learned from a sixteenth
//! of the pages, chosen by their numbers, which never move. What lasted so long is taken to last as long again.

use super::Ps;
use super::counts::PageId;
use pagetide_access::generators::mix;
use std::collections::{HashMap, VecDeque};

/// One of so many pages stays and is watched.
const WATCHED: u64 = 16;
/// Times after which is looked how often a page was accessed further.
const HORIZONS: [Ps; 4] =
    [Ps(100_000_000), Ps(1_000_000_000), Ps(10_000_000_000), Ps(100_000_000_000)];
/// Counts are told apart by their powers of two.
const BINS: usize = 16;
/// Fewer pages than this tell nothing.
const LEAST: f64 = 8.0;
/// With more, the older ones count half.
const MOST: f64 = 256.0;

/// A watched page that reached a count.
#[derive(Clone, Copy, Debug)]
struct Reached {
    page: PageId,
    count: u32,
    due: Ps,
}

/// See the module.
#[derive(Clone, Debug, Default)]
pub(super) struct Learner {
    /// Of the watched pages.
    counts: HashMap<PageId, u32>,
    waiting: [VecDeque<Reached>; HORIZONS.len()],
    /// By horizon and count: how many pages, and how often they were accessed further, in all.
    further: [[(f64, f64); BINS]; HORIZONS.len()],
}

/// Whether a page stays and is watched.
pub(super) fn watched(page: PageId) -> bool {
    mix(page.0.into()).is_multiple_of(WATCHED)
}

/// What tells counts apart.
pub(super) fn bin(count: u32) -> usize {
    (count.max(1).ilog2() as usize).min(BINS - 1)
}

impl Learner {
    /// A watched page was accessed, so often by now.
    pub(super) fn saw(&mut self, page: PageId, count: u32, now: Ps) {
        self.counts.insert(page, count);
        if count.is_power_of_two() {
            for (waiting, after) in self.waiting.iter_mut().zip(HORIZONS) {
                waiting.push_back(Reached { page, count, due: now + after });
            }
        }
    }

    /// Looks at the pages whose time has come.
    pub(super) fn learn(&mut self, now: Ps) {
        for (waiting, further) in self.waiting.iter_mut().zip(&mut self.further) {
            while let Some(Reached { page, count, .. }) = waiting.pop_front_if(|at| at.due <= now) {
                let since = self.counts.get(&page).map_or(0, |all| all.saturating_sub(count));
                let (pages, accesses) = &mut further[bin(count)];
                *pages += 1.0;
                *accesses += f64::from(since);
                if *pages >= MOST {
                    (*pages, *accesses) = (*pages / 2.0, *accesses / 2.0);
                }
            }
        }
    }

    /// How often a page that reached a count is accessed further within a time, as far as is known; after the
    /// longest time that is known it goes on at the last pace.
    fn within(&self, count: u32, time: f64) -> f64 {
        let known = self.further.iter().zip(HORIZONS).filter_map(|(further, after)| {
            let (pages, accesses) = further[bin(count)];
            (pages >= LEAST).then(|| (after.ns(), accesses / pages))
        });
        let (mut all, mut pace, mut last, mut times) = (0.0, 0.0, (0.0, 0.0), 0);
        for (after, further) in known {
            pace = ((further - last.1) / (after - last.0)).max(0.0);
            all += (time.min(after) - last.0).max(0.0) * pace;
            (last, times) = ((after, further), times + 1);
        }
        // One time alone tells no pace for what comes later.
        if times < 2 { all } else { all + (time - last.0).max(0.0) * pace }
    }

    /// How often a page that reached a count so long ago is expected to be accessed further: for as long as it
    /// all lasted so far, or the longest time that is known.
    pub(super) fn expected(&self, count: u32, ago: Ps, now: Ps) -> f64 {
        let [_, _, _, longest] = HORIZONS;
        let known = self.further.iter().zip(HORIZONS).rev();
        let known = known.filter(|(further, _)| further[bin(count)].0 >= LEAST);
        let last = known.map(|(_, after)| after).next().unwrap_or(longest);
        let all = self.within(count, now.max(last).ns());
        (all - self.within(count, ago.ns())).max(0.0)
    }

    /// How often it is expected to be accessed within the shortest of the times.
    pub(super) fn soon(&self, count: u32, ago: Ps) -> f64 {
        let [shortest, ..] = HORIZONS;
        self.within(count, (ago + shortest).ns()) - self.within(count, ago.ns())
    }
}
