//! A wave: regions cleared one after the other, and looked at together at growing gaps, each
//! counted from its own clearing.

use super::clock::Clock;
use super::ladder::LONGEST_NS;
use super::{Cleared, Survey};
use crate::bits::eyes::{Eyes, Lost};
use crate::walk::row::Row;
use std::cmp::Reverse;
use std::ops::Range;

/// A look may come early by this share of its gap, if that saves a call.
const EARLY: u64 = 8;
/// A look waits for others of its wave for one part in so many of its gap.
const TOGETHER: u64 = 4;
/// What is due so soon is waited for; going to sleep and waking up takes longer.
const SOON_NS: u64 = 150_000;
/// Between two clearings somebody who waits to change the memory map gets a turn.
const PAUSE_NS: u64 = 5_000;
/// First look after `clear_refs` and a flush, and where translations may have stayed cached. Of 32
/// hot base pages none to all were seen after 20 ms, at least 27 after 0.33 s: other work on the
/// CPU evicts them.
const FLUSHED_NS: u64 = 5_000_000;
const CACHED_NS: u64 = 330_000_000;

/// See the module.
#[derive(Default)]
pub(super) struct Wave {
    visits: Range<usize>,
    /// By visit, which of the gaps is next.
    next: Vec<usize>,
    /// By process.
    clocks: Vec<(usize, Clock)>,
    /// Gaps of its own, where it was cleared by somebody else.
    own_gaps: Vec<u64>,
    cleared_ns: u64,
}

impl Wave {
    /// One that somebody else cleared.
    pub(super) fn adopted(visits: Range<usize>, cleared: &Cleared) -> Self {
        let first = if cleared.flushed { FLUSHED_NS } else { CACHED_NS };
        let mut gaps = vec![first];
        while let Some(next) = gaps.last().map(|last| last * 4).filter(|gap| *gap <= 4 * LONGEST_NS)
        {
            gaps.push(next);
        }
        Self {
            next: vec![0; visits.len()],
            visits,
            clocks: vec![(cleared.process, Clock::new(cleared.to_ns, cleared.activity))],
            own_gaps: gaps,
            cleared_ns: cleared.to_ns,
        }
    }

    /// When its first look is due.
    pub(super) fn due_ns(&self) -> u64 {
        self.cleared_ns + self.own_gaps.first().copied().unwrap_or(LONGEST_NS)
    }

    /// Its visits are those before this one.
    pub(super) fn end(&self) -> usize {
        self.visits.end
    }

    pub(super) fn clock(&mut self, process: usize) -> Option<&mut Clock> {
        self.clocks.iter_mut().find(|(of, _)| *of == process).map(|(_, clock)| clock)
    }
}

impl<E: Eyes> Survey<'_, E> {
    /// Clears the regions of a wave, and looks at them as long as looks are due soon.
    pub(super) fn begin(&mut self, regions: &[usize]) {
        let first = self.visits.len();
        let mut wave = Wave { visits: first..first, ..Wave::default() };
        let all = self.regions;
        for of_process in regions.chunk_by(|a, b| all[*a].process == all[*b].process) {
            let process = self.process_of(of_process[0]);
            if self.lost.contains(&process) || !self.start_clock(&mut wave, process, of_process) {
                continue;
            }
            for region in of_process {
                if !self.clear(&mut wave, *region) {
                    break;
                }
                // Looks that are due also keep the clearings apart.
                if !self.look_at_due(&mut wave) {
                    let pause = self.eyes.now() + PAUSE_NS;
                    self.eyes.wait_until(pause);
                }
            }
        }
        if wave.visits.is_empty() {
            return;
        }
        self.waves.push(wave);
        self.go_on(self.waves.len() - 1);
    }

    fn process_of(&self, region: usize) -> usize {
        self.regions[region].process
    }

    /// What was accessed since the last visit must be known before it is wiped out; the same call
    /// tells what the process does.
    fn start_clock(&mut self, wave: &mut Wave, process: usize, regions: &[usize]) -> bool {
        let before: Vec<usize> =
            regions.iter().map(|r| self.last[*r]).filter(|visit| *visit != super::NONE).collect();
        let activity = if before.is_empty() {
            self.eyes.activity(process).ok()
        } else {
            self.accessed_since(&before)
        };
        for visit in before {
            self.visits[visit].closed = true;
        }
        let now = self.eyes.now();
        match activity {
            Some(activity) => wave.clocks.push((process, Clock::new(now, activity))),
            None => self.lost.push(process),
        }
        activity.is_some()
    }

    /// Clears a region; false if its process is gone.
    fn clear(&mut self, wave: &mut Wave, region: usize) -> bool {
        let (process, range) = (self.process_of(region), self.range_of_next(region));
        let before = self.eyes.now();
        let mut refused = Vec::new();
        if self.eyes.clear(process, &[range], &mut refused) == Err(Lost) {
            self.lost.push(process);
            return false;
        }
        let after = self.eyes.now();
        self.tally.clear_ns += after - before;
        self.tally.longest_clear_ns = self.tally.longest_clear_ns.max(after - before);
        let mut visit = self.visit(region, range);
        visit.refused = !refused.is_empty();
        // Bits are cleared page by page and take effect with the flush at the end.
        visit.cleared_ns = if visit.huge { after } else { before.midpoint(after) };
        self.last[region] = self.visits.len();
        self.visits.push(visit);
        wave.visits.end = self.visits.len();
        wave.next.push(0);
        wave.cleared_ns = after;
        true
    }

    fn gap(&self, wave: &Wave, i: usize) -> Option<u64> {
        let visit = &self.visits[wave.visits.start + i];
        let gaps = match () {
            () if !wave.own_gaps.is_empty() => &wave.own_gaps,
            () if visit.huge => &self.gaps_of_huge,
            () => &self.gaps,
        };
        let done = visit.closed || visit.refused;
        gaps.get(wave.next[i]).copied().filter(|_| !done)
    }

    /// Looks at all visits of a wave whose next look is due, or nearly; whether there were any.
    fn look_at_due(&mut self, wave: &mut Wave) -> bool {
        let now = self.eyes.now();
        let due: Vec<usize> = (0..wave.next.len())
            .filter(|i| {
                let cleared = self.visits[wave.visits.start + i].cleared_ns;
                self.gap(wave, *i).is_some_and(|gap| cleared + gap <= now + gap / EARLY)
            })
            .collect();
        let (all, visits, first) = (self.regions, &self.visits, wave.visits.start);
        let processes: Vec<usize> =
            due.iter().map(|i| all[visits[first + i].region].process).collect();
        let mut at = 0;
        for of_process in processes.chunk_by(|a, b| a == b) {
            let group = &due[at..at + of_process.len()];
            at += group.len();
            if !self.lost.contains(&of_process[0]) {
                self.look_at(wave, of_process[0], group);
            }
        }
        for i in &due {
            // Gaps that have passed meanwhile are not made up for.
            let passed = now.saturating_sub(self.visits[wave.visits.start + i].cleared_ns);
            while self.gap(wave, *i).is_some_and(|gap| gap <= passed + gap / EARLY) {
                wave.next[*i] += 1;
            }
        }
        !due.is_empty()
    }

    fn look_at(&mut self, wave: &mut Wave, process: usize, group: &[usize]) {
        let visits: Vec<usize> = group.iter().map(|i| wave.visits.start + i).collect();
        let now = self.eyes.now();
        let mut seen: Vec<(u64, Option<Row>)> = Vec::with_capacity(group.len());
        let mut bits = Vec::new();
        let found = self.look(process, &visits, |_, row, of_row| {
            seen.push((row.map_or(now, |row| row.ns), row.copied()));
            bits.push(of_row.copied());
        });
        let (Some(activity), Some(clock)) = (found, wave.clock(process)) else { return };
        clock.tick(now, activity);
        for ((visit, (ns, row)), bits) in visits.into_iter().zip(seen).zip(&bits) {
            let visit = &mut self.visits[visit];
            let Some(row) = row.filter(|row| row.huge == visit.huge) else {
                // Nothing is there any more, or pages of another size.
                (visit.pages, visit.closed) = (0, true);
                continue;
            };
            if !visit.huge {
                visit.pages = visit.pages.min(row.present.saturating_sub(visit.stuck));
            }
            let own = row.accessed.saturating_sub(visit.stuck);
            let own = if visit.huge { own.min(1) } else { own };
            visit.waited_ns = ns.saturating_sub(visit.cleared_ns);
            visit.take(clock.between(visit.cleared_ns, ns), own, bits.as_ref());
        }
    }

    /// Looks at a wave as long as looks are due soon; then sets the time of the next.
    pub(super) fn go_on(&mut self, at: usize) {
        let mut wave = std::mem::take(&mut self.waves[at]);
        loop {
            self.look_at_due(&mut wave);
            let Some(due) = self.next_look(&wave) else {
                self.judge(wave.visits.clone());
                break;
            };
            let now = self.eyes.now();
            if due > now + SOON_NS {
                if due < self.limits.end_ns {
                    self.due.push(Reverse((due, at)));
                }
                break;
            }
            self.eyes.wait_until(due);
        }
        self.waves[at] = wave;
    }

    /// When a wave is to be looked at next: as soon as a look is due; a little later where all
    /// that have the same gap to wait for can then be looked at by one call.
    fn next_look(&self, wave: &Wave) -> Option<u64> {
        let due = |i: usize| {
            let cleared = self.visits[wave.visits.start + i].cleared_ns;
            self.gap(wave, i).map(|gap| (cleared + gap, gap))
        };
        let all = || (0..wave.next.len()).filter_map(due);
        let (first, gap) = all().min()?;
        let last = all().filter(|(_, other)| *other == gap).map(|(due, _)| due).max()?;
        Some(if last - first <= gap / TOGETHER { last } else { first })
    }
}
