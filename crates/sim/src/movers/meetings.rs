//! Whether a page that is under way blocks who comes to it, on a machine that is scaled down.
//!
//! There a page stands for many that are moved one after the other, and while one is under way a share of
//! the memory is that is as many times too large. A thread meets it as many times too often: of its visits
//! only that share blocks. A visit is a stay in the page, line after line; who comes back later, as random
//! accesses do, visits it again.

use std::collections::HashMap;

/// Who is away for longer has left, ns.
const AWAY_NS: f64 = 5_000.0;

/// Visits to the pages of one batch.
#[derive(Clone, Debug, Default)]
pub(super) struct Meetings {
    /// Batches so far, and the share of the visits to the one under way that block.
    batch: u64,
    share: f64,
    /// By job and core, the last visit.
    visits: HashMap<(usize, usize), Visit>,
}

#[derive(Clone, Copy, Debug)]
struct Visit {
    /// The base page that was accessed last, and when.
    page: usize,
    at_ns: f64,
    /// Of this core to this job.
    number: u64,
    blocked: bool,
}

impl Meetings {
    /// The next batch begins, which blocks this share of the visits.
    pub(super) fn begin(&mut self, share: f64) {
        self.batch += 1;
        self.share = share;
        self.visits.clear();
    }

    /// Whether an access of a core to a page waits for the job that it is of. Who waits goes on waiting.
    pub(super) fn blocks(
        &mut self,
        job: impl FnOnce() -> usize,
        page: usize,
        core: usize,
        now_ns: f64,
    ) -> bool {
        if self.share >= 1.0 {
            return true;
        }
        let job = job();
        let before = self.visits.get(&(job, core)).copied();
        let goes_on = |visit: &Visit| {
            let near = visit.page.abs_diff(page) <= 1 && now_ns - visit.at_ns <= AWAY_NS;
            near || visit.blocked
        };
        let visit = match before {
            Some(visit) if goes_on(&visit) => Visit { page, at_ns: now_ns, ..visit },
            _ => {
                let number = before.map_or(0, |visit| visit.number + 1);
                let blocked = self.drawn(job, core, number) < self.share;
                Visit { page, at_ns: now_ns, number, blocked }
            }
        };
        self.visits.insert((job, core), visit);
        visit.blocked
    }

    /// From 0 to 1, the same for the same visit.
    fn drawn(&self, job: usize, core: usize, number: u64) -> f64 {
        let visit = self.batch << 40 ^ number << 24 ^ (job as u64) << 12 ^ core as u64;
        // The finaliser of splitmix64.
        let mut mixed = visit.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ mixed >> 31) >> 11) as f64 / (1u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Huge pages that are moved one after the other, each for 1 ms, and a core that accesses memory all the
    /// while: the share of the time that it waits. `next` is the base page after one.
    fn waits(pages: usize, scale: f64, each_ns: f64, mut next: impl FnMut(usize) -> usize) -> f64 {
        let mut meetings = Meetings::default();
        let (mut page, mut waited) = (0, 0.0);
        let batches = 400;
        for batch in 0..batches {
            meetings.begin(1.0 / scale);
            let moving = batch * 389 % pages;
            let mut now = 0.0;
            while now < 1e6 {
                page = next(page) % (pages * 512);
                if page / 512 == moving && meetings.blocks(|| 0, page, 0, now) {
                    waited += 1e6 - now;
                    break;
                }
                now += each_ns;
            }
        }
        waited / (f64::from(u32::try_from(batches).unwrap()) * 1e6)
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
            assert!(found < 0.05, "scale {scale}: {found}");
        }
    }
}
