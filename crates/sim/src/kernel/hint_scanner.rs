//! NUMA balancing's scanner: every period it walks a part of a tenant's address space and makes the
//! pages of some nodes fault at their next access; the fault says how long after the marking that was
//! (`task_numa_work` of Linux's kernel/sched/fair.c, `change_pte_range` of mm/mprotect.c,
//! `numa_hint_fault_latency`).
//!
//! Simpler than Linux: the tenant is one area that all of its threads use, so that none is left out for
//! want of faults; the walk takes its time from one of the tenant's cores at once; its threads scan in turn
//! and run all the time, so that none does so again before its period has passed, and 32 times what its
//! scan took; latencies are in microseconds, not milliseconds; the first scan comes at once, not after a
//! second.

use super::{HintFaultCounts, ScanPeriod};
use crate::engine::{HUGE_PAGES, World, bit};
use pagetide_machine::Kernel;
use std::ops::Range;

/// Where nothing is marked a scan goes on over so many times its size at most.
const VIRTUAL: usize = 8;

/// A thread runs so many times longer than it scans.
const OWN: f64 = 32.0;

/// What one scan did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Scan {
    /// Entries that it looked at.
    pub entries: u64,
    /// Base pages that will fault now and would not have before.
    pub marked: u64,
    /// It came to the end of the address space.
    pub wrapped: bool,
}

/// See the module.
#[derive(Clone, Debug)]
pub struct HintScanner {
    tenant: usize,
    pages: Range<usize>,
    /// By tier, whether its pages are marked.
    tiers: [bool; 4],
    /// Base pages of a scan.
    size: usize,
    period: ScanPeriod,
    scan_ns: f64,
    interrupt_ns: f64,
    /// The page that is next, from the first of the tenant.
    at: usize,
    /// Base pages that it has passed so far.
    passed: u64,
    faults: HintFaultCounts,
    /// By page, the first one of a huge page, when it was marked, us.
    marked_us: Vec<u32>,
}

impl HintScanner {
    /// One for a tenant's pages on some tiers: in Linux's tiering mode on all but the fast one.
    #[must_use]
    pub fn new(tenant: usize, pages: Range<usize>, tiers: &[usize], costs: &Kernel) -> Self {
        Self {
            tenant,
            tiers: [0, 1, 2, 3].map(|tier| tiers.contains(&tier)),
            size: 256 << 20 >> 12,
            period: ScanPeriod::default(),
            scan_ns: costs.scan_ns,
            interrupt_ns: costs.interrupt_us * 1e3,
            at: 0,
            passed: 0,
            faults: HintFaultCounts::default(),
            marked_us: vec![0; pages.len()],
            pages,
        }
    }

    /// The same that scans so many base pages at a time (`numa_balancing_scan_size_mb`; 256 MiB).
    #[must_use]
    pub fn with_size(self, pages: usize) -> Self {
        Self { size: pages.max(1), ..self }
    }

    /// The same with other bounds of its period.
    #[must_use]
    pub fn with_period(self, period: ScanPeriod) -> Self {
        Self { period, ..self }
    }

    /// Counts a hint fault of the tenant, which will adapt the period.
    pub fn count(&mut self, faults: HintFaultCounts) {
        let all = &mut self.faults;
        all.local += faults.local;
        all.remote += faults.remote;
        all.private += faults.private;
        all.shared += faults.shared;
        all.failed += faults.failed;
    }

    /// How long after its marking a page faults at `now_ns`, ns.
    #[must_use]
    pub fn latency_ns(&self, page: usize, now_ns: f64, world: &World) -> f64 {
        let first = world.pages.mapped_with(page).start - self.pages.start;
        f64::from(microseconds(now_ns).wrapping_sub(self.marked_us[first])) * 1e3
    }

    /// One scan, and when the next one is due, ns.
    pub fn wake(&mut self, now_ns: f64, world: &mut World) -> f64 {
        let scan = self.scan(now_ns, world);
        let (resident, size) = ((self.pages.len() as u64) << 12, (self.size as u64) << 12);
        if scan.wrapped {
            let faults = std::mem::take(&mut self.faults);
            self.period.adapt(faults, resident, size);
        }
        let period_ns = self.period.next_ns(resident, size);
        let threads = world.cores.count(self.tenant).max(1) as f64;
        now_ns + period_ns.max((period_ns + OWN * self.takes_ns(scan)) / threads)
    }

    /// How long a scan takes the thread that does it, ns.
    fn takes_ns(&self, scan: Scan) -> f64 {
        scan.entries as f64 * self.scan_ns
    }

    /// Base pages that it has passed so far, round after round.
    #[must_use]
    pub fn passed(&self) -> u64 {
        self.passed
    }

    /// Marks the next part of the address space. One that has nothing to mark does not count, up to
    /// eight times the size.
    pub fn scan(&mut self, now_ns: f64, world: &mut World) -> Scan {
        let mut done = Scan::default();
        let (mut left, mut virtual_left) = (self.size, VIRTUAL * self.size);
        while left > 0 && virtual_left > 0 && !done.wrapped {
            let end = (self.at + left).next_multiple_of(HUGE_PAGES).min(self.pages.len());
            let walked = end - self.at;
            self.passed += walked as u64;
            let part = self.mark(self.at..end, now_ns, world);
            done.entries += part.entries;
            done.marked += part.marked;
            if part.marked > 0 {
                left = left.saturating_sub(walked);
                // What is marked must leave all translation buffers.
                world.cores.interrupt(self.tenant, self.interrupt_ns);
            }
            virtual_left = virtual_left.saturating_sub(walked);
            done.wrapped = end == self.pages.len();
            self.at = if done.wrapped { 0 } else { end };
        }
        world.cores.task_work(self.tenant, self.takes_ns(done));
        done
    }

    fn mark(&mut self, part: Range<usize>, now_ns: f64, world: &mut World) -> Scan {
        let mut done = Scan::default();
        let now = microseconds(now_ns);
        let mut page = self.pages.start + part.start;
        while page < self.pages.start + part.end {
            let mapped = world.pages.mapped_with(page);
            let entry = world.pages.entry(page);
            page = mapped.end;
            if entry & bit::ABSENT != 0 {
                continue;
            }
            done.entries += 1;
            // A page that is marked already keeps its time.
            let skip = entry & (bit::HINT | bit::MOVING) != 0;
            if !skip && self.tiers[world.pages.tier(mapped.start)] {
                self.marked_us[mapped.start - self.pages.start] = now;
                done.marked += mapped.len() as u64;
                world.pages.set_all(mapped, bit::HINT);
            }
        }
        done
    }
}

/// Wraps after 71 minutes.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it wraps")]
fn microseconds(ns: f64) -> u32 {
    (ns / 1e3) as u64 as u32
}

#[cfg(test)]
#[path = "hint_scanner_tests.rs"]
mod tests;
