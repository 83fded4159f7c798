//! How long a page that is under way blocks who comes to it, on a machine that is scaled down.
//!
//! There a page stands for many, which are moved one batch after the other, and what is one batch here
//! is so many of them: each lasts for that share of the time. A thread comes to the page as many times
//! too often as memory is too small, and waits each time for the batch that would be under way just
//! then, which is as many times too short. So there are as many waits as on the large machine, each as
//! long as there: of few long ones threads that meet at barriers would make more than of many short ones.
//! Who has waited goes on. A visit is a stay in the page, line after line; who comes back later, as
//! random accesses do, visits it again.

use std::collections::HashMap;

/// Who is away for longer has left, ns.
const AWAY_NS: f64 = 5_000.0;

/// Visits to the pages of one batch.
#[derive(Clone, Debug, Default)]
pub(super) struct Meetings {
    /// The share of the batch's time that one of those lasts for which it stands.
    share: f64,
    /// When the batch began, ns.
    begun_ns: f64,
    /// How long each of those lasted for which the one before stood, ns; 0: there was none.
    each_ns: f64,
    /// By job and core, the last visit.
    visits: HashMap<(usize, usize), Visit>,
}

#[derive(Clone, Copy, Debug)]
struct Visit {
    /// The base page that was accessed last, and when.
    page: usize,
    at_ns: f64,
}

impl Meetings {
    /// The next batch begins.
    pub(super) fn begin(&mut self, share: f64, now_ns: f64) {
        (self.share, self.begun_ns) = (share, now_ns);
        self.visits.clear();
    }

    /// It has ended.
    pub(super) fn end(&mut self, now_ns: f64) {
        self.each_ns = self.share * (now_ns - self.begun_ns);
    }

    /// Until when an access of a core to a page waits for the job that it is of, ns, if it does.
    /// `there_ns`: when that is there, at the soonest.
    pub(super) fn waits(
        &mut self,
        job: impl FnOnce() -> usize,
        page: usize,
        core: usize,
        (now_ns, there_ns): (f64, f64),
    ) -> Option<f64> {
        if self.share >= 1.0 {
            return Some(there_ns);
        }
        let visited = self.visits.entry((job(), core));
        let mut is_new = true;
        let visit = visited
            .and_modify(|visit| {
                is_new = visit.page.abs_diff(page) > 1 || now_ns - visit.at_ns > AWAY_NS;
            })
            .or_insert(Visit { page, at_ns: now_ns });
        *visit = Visit { page, at_ns: now_ns };
        if !is_new {
            return None;
        }
        let until_ns = if self.each_ns > 0.0 {
            // They follow each other.
            now_ns + self.each_ns - (now_ns - self.begun_ns) % self.each_ns
        } else {
            now_ns + self.share * (there_ns - now_ns).max(0.0)
        };
        visit.at_ns = until_ns;
        Some(until_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Huge pages that are moved one after the other, each for 1 ms, and a core that accesses memory all the
    /// while: the share of the time that it waits. `next` is the base page after one.
    fn waits(pages: usize, scale: f64, each_ns: f64, mut next: impl FnMut(usize) -> usize) -> f64 {
        let mut meetings = Meetings::default();
        let (mut page, mut waited, mut now) = (0, 0.0, 0.0);
        let batches = 400;
        for batch in 0..batches {
            meetings.begin(1.0 / scale, now);
            let moving = batch * 389 % pages;
            let end = f64::from(u32::try_from(batch + 1).unwrap()) * 1e6;
            while now < end {
                page = next(page) % (pages * 512);
                if page / 512 == moving
                    && let Some(until) = meetings.waits(|| 0, page, 0, (now, end))
                {
                    waited += until.min(end) - now;
                    now = until;
                }
                now += each_ns;
            }
            meetings.end(end);
        }
        waited / now
    }

    #[test]
    fn random_accesses_wait_as_long_at_every_scale() {
        let mut state = 1u64;
        let mut random = |_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            usize::try_from(state >> 33).unwrap()
        };
        // x meetings in a move: it waits for 1 - (1 - e^-x) / x of the time.
        for (pages, each_ns) in [(1024, 1000.0), (1024, 300.0)] {
            let x = 1e6 / each_ns / pages as f64;
            let right = 1.0 - (1.0 - f64::exp(-x)) / x;
            for scale in [1, 4, 16] {
                let found = waits(pages / scale, scale as f64, each_ns, &mut random);
                assert!((found - right).abs() < 0.05, "scale {scale}: {found} for {right}");
            }
        }
    }

    #[test]
    fn a_sweep_visits_a_page_once() {
        // 20 us in each huge page: at full size it comes by within a move with 50 of 1024 pages.
        for scale in [1, 16] {
            let found = waits(1024 / scale, scale as f64, 40.0, |page| page + 1);
            assert!(found > 0.0 && found < 0.05, "scale {scale}: {found}");
        }
    }
}
