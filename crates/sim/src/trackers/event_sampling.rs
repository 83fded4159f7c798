//! Event sampling: hardware leaves a record of every so many loads that miss the caches and of every so
//! many stores; a thread of the kernel reads them and counts. What is seen of a unit is the number of its
//! records. The periods adapt to what that thread takes (MEMTIS, SOSP 2023; `ksampled` of its published
//! code, with its figures).
//!
//! On a machine that is scaled down a page has as many accesses in an interval as on the large one, so
//! periods stay, as does the share of a CPU; buffers and the thread's own times are as many times
//! smaller.

use super::{Interval, Looked, Tracker, heat};
use crate::engine::{EventPeriods, Events, World};
use crate::kernel::Units;

/// Events from one record to the next: of loads, and of stores. Each step is a longer pair; the list of
/// stores ends sooner.
const LOADS: [u32; 30] = [
    199, 293, 401, 499, 599, 701, 797, 907, 997, 1201, 1399, 1601, 1801, 1999, 2503, 3001, 3499,
    4001, 4507, 4999, 6007, 7001, 7993, 9001, 10007, 12007, 13999, 16001, 17989, 19997,
];
const STORES: [u32; 5] = [100_007, 300_007, 600_011, 1_000_003, 1_500_003];
/// Share of a CPU that its thread may take, and how far off it may be before the periods change.
const CPU_SHARE: f64 = 0.03;
const CPU_SLACK: f64 = 0.005;
/// How often that is looked at, ns.
const ADAPT_NS: f64 = 15e9;
/// How long the thread sleeps when it has read all, ns.
const SLEEP_NS: f64 = 2e6;
/// Records of 32 bytes that the 32 pages of a core's buffer hold.
const RECORDS: f64 = 4096.0;
/// What the thread takes for a record, ns, inferred: it looks for the process, walks its page table and moves
/// the page from bin to bin, each under a lock.
pub const SAMPLE_NS: f64 = 1000.0;

/// See the module.
#[derive(Clone, Debug)]
pub struct EventSampling {
    sample_ns: f64,
    /// Memory and times are so many times smaller than what is modelled.
    scale: f64,
    /// Place in the lists of periods: of loads and of stores.
    step: (usize, usize),
    /// By unit, its records since the last look.
    counts: Vec<u32>,
    /// What its thread took since the periods were looked at, and when that was, ns.
    busy_ns: f64,
    since_ns: f64,
    /// What it took since the last look, ns.
    spent_ns: f64,
}

impl EventSampling {
    /// One whose thread takes so long for a record, on a machine that is so many times smaller than
    /// what is modelled.
    #[must_use]
    pub fn new(sample_ns: f64, scale: f64) -> Self {
        Self {
            sample_ns,
            scale,
            step: (0, 0),
            counts: Vec::new(),
            busy_ns: 0.0,
            since_ns: 0.0,
            spent_ns: 0.0,
        }
    }

    /// Of how many events one leaves a record now.
    #[must_use]
    pub fn periods(&self) -> EventPeriods {
        EventPeriods { loads: LOADS[self.step.0], stores: STORES[self.step.1] }
    }

    /// Takes the next longer or shorter periods if the thread took more or less than it may; whether
    /// they changed.
    fn adapt(&mut self, now_ns: f64) -> bool {
        let elapsed = now_ns - self.since_ns;
        if elapsed < ADAPT_NS / self.scale {
            return false;
        }
        let share = self.busy_ns / elapsed;
        (self.since_ns, self.busy_ns) = (now_ns, 0.0);
        let before = self.step;
        let (loads, stores) = before;
        if share > CPU_SHARE + CPU_SLACK {
            self.step = ((loads + 1).min(LOADS.len() - 1), (stores + 1).min(STORES.len() - 1));
        } else if share < CPU_SHARE - CPU_SLACK {
            self.step = (loads.saturating_sub(1), stores.saturating_sub(1));
        }
        self.step != before
    }
}

impl Tracker for EventSampling {
    fn look(&mut self, interval: &Interval<'_>, world: &mut World) -> Looked {
        let counts = &mut self.counts;
        counts.resize(interval.units.len(), 0);
        let heat = heat(interval, world, |unit, _| {
            let count = std::mem::take(&mut counts[unit]);
            (Some(count > 0), interval.rate(u64::from(count)))
        });
        Looked { heat, cpu_ns: 0.0, thread_ns: std::mem::take(&mut self.spent_ns) }
    }

    fn has_thread(&self) -> bool {
        true
    }

    /// Reads all records that there are.
    fn work(&mut self, tenant: usize, units: &Units, now_ns: f64, world: &mut World) -> f64 {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "records")]
        let room = (RECORDS * world.cores.count(tenant) as f64 / self.scale).ceil() as usize;
        let records = match world.events(tenant) {
            Some(events) => {
                events.set_room(room);
                events.take()
            }
            None => {
                world.sample(tenant, Events::new(self.periods(), room));
                Vec::new()
            }
        };
        self.counts.resize(units.len(), 0);
        for page in &records {
            self.counts[units.of(*page as usize)] += 1;
        }
        let takes_ns = records.len() as f64 * self.sample_ns;
        world.cores.kernel(now_ns, takes_ns);
        self.busy_ns += takes_ns;
        self.spent_ns += takes_ns;
        let done = now_ns + takes_ns;
        if self.adapt(done) {
            let periods = self.periods();
            world.events(tenant).into_iter().for_each(|events| events.set_periods(periods));
        }
        done + SLEEP_NS / self.scale
    }
}

#[cfg(test)]
#[path = "event_sampling_tests.rs"]
mod tests;
