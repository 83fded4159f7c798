//! One epoch's survey: waves of visits. A wave clears the accessed bits of some regions, one after
//! the other, and then looks at all of them at growing gaps. Waves come at random times; each is a
//! miniature of all memory, drawn with known probabilities (`draw`).

mod alike;
pub(crate) mod cache_gap;
pub(crate) mod change;
mod charge;
pub(crate) mod clock;
pub(crate) mod draw;
pub(crate) mod estimate;
pub(crate) mod glimpse;
pub(crate) mod history;
pub(crate) mod ladder;
pub(crate) mod lines;
pub(crate) mod measured;
pub(crate) mod mixture;
pub(crate) mod visit;
mod wave;

use crate::bits::eyes::Eyes;
use crate::pages::both;
use crate::target::activity::Activity;
use crate::target::region::Region;
use crate::walk::row::{Range, Row};
use change::LastVisits;
use glimpse::{WINDOW, window_mask};
use mixture::RATES;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use visit::{NEVER, Visit};
use wave::Wave;

/// Regions of a wave: clearing so many takes about a millisecond. Where a change is to be seen soon, waves are smaller and come
/// more often.
pub(crate) const WAVE: usize = 32;
pub(crate) const SMALL_WAVE: usize = 8;
/// Of the epoch's budget so much may be spent beyond what its time allows.
const AHEAD: f64 = 0.1;
/// And a wave or two at most where waves come in turn. Their budget is large: spent at one go on a CPU that the target shares it would
/// keep the target from running until all visits had had their looks, which then show nothing.
const AHEAD_IN_TURN_NS: f64 = 4e6;
/// Waves begin in this share of the epoch: the last one is to be looked at some times.
const LAST_START: f64 = 0.97;
/// A wave that waits for its turn waits so long at least.
const RETRY_NS: u64 = 2_000_000;
/// No region has been visited.
const NONE: usize = usize::MAX;

/// What an epoch's survey may use.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    pub(crate) end_ns: u64,
    /// CPU time, ns.
    pub(crate) budget_ns: f64,
    /// Single pages count.
    pub(crate) single_pages: bool,
}

/// What clearing and looking did and cost.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Tally {
    pub(crate) clear_ns: u64,
    pub(crate) look_ns: u64,
    /// CPU time in all.
    pub(crate) spent_ns: u64,
    pub(crate) longest_clear_ns: u64,
    /// Inside `clear_refs` and the flush after it.
    pub(crate) refs_ns: u64,
    /// Waves that were begun, and that were to be.
    pub(crate) waves: usize,
    pub(crate) planned: usize,
}

/// What came out of an epoch.
pub(crate) struct Outcome {
    pub(crate) visits: Vec<Visit>,
    pub(crate) tally: Tally,
    /// Processes that were found gone.
    pub(crate) lost: Vec<usize>,
}

/// Regions of one process that somebody else cleared at one go (`clear_refs`).
#[derive(Clone, Debug)]
pub(crate) struct Cleared {
    pub(crate) process: usize,
    /// Regions, in the order in which they were cleared.
    pub(crate) regions: Vec<usize>,
    /// When clearing began, and when it (and the flush) had ended.
    pub(crate) from_ns: u64,
    pub(crate) to_ns: u64,
    /// What the process did then.
    pub(crate) activity: Activity,
    /// No translation of before is cached any more.
    pub(crate) flushed: bool,
}

/// How visits are held against what is known.
pub(crate) struct Judged<'a> {
    /// From epoch to epoch.
    pub(crate) last_visits: &'a mut LastVisits,
    /// What a page counts for, by process and rate.
    pub(crate) counts: Vec<[f64; RATES]>,
    /// The survey ends when they say that the target has changed.
    pub(crate) ends_early: bool,
}

/// One epoch's work on `regions`, which are sorted by process and address.
pub(crate) struct Survey<'a, E> {
    eyes: &'a mut E,
    regions: &'a [Region],
    gaps: Vec<u64>,
    gaps_of_huge: Vec<u64>,
    limits: Limits,
    /// Waves come one after the other, as soon as the budget allows; none is left out. It is over when so many of them
    /// have had all their looks, at this time at the earliest.
    in_turn: Option<(usize, u64)>,
    judged: Option<Judged<'a>>,
    /// By that it is to end.
    changed: bool,
    visits: Vec<Visit>,
    /// By region, its last visit.
    last: Vec<usize>,
    waves: Vec<Wave>,
    /// When, which wave.
    due: BinaryHeap<Reverse<(u64, usize)>>,
    start_ns: u64,
    start_cpu: u64,
    lost: Vec<usize>,
    tally: Tally,
    /// What else is to be done now and then.
    beside: Option<&'a mut dyn FnMut(&mut E)>,
    // Buffers, kept to save allocations.
    ranges: Vec<Range>,
    rows: Vec<Row>,
}

impl<'a, E: Eyes> Survey<'a, E> {
    /// `gaps`: after which base pages are looked at, ascending.
    pub(crate) fn new(
        eyes: &'a mut E,
        regions: &'a [Region],
        gaps: Vec<u64>,
        limits: Limits,
    ) -> Self {
        let (start_ns, start_cpu) = (eyes.now(), eyes.cpu());
        Self {
            eyes,
            regions,
            gaps,
            gaps_of_huge: ladder::gaps_of_huge(),
            limits,
            in_turn: None,
            judged: None,
            changed: false,
            visits: Vec::new(),
            last: vec![NONE; regions.len()],
            waves: Vec::new(),
            due: BinaryHeap::new(),
            start_ns,
            start_cpu,
            lost: Vec::new(),
            tally: Tally::default(),
            beside: None,
            ranges: Vec::new(),
            rows: Vec::new(),
        }
    }

    /// Looks fewer times at each region, and takes the waves in turn: what comes first matters most. When the `first` waves are
    /// done it ends, after `not_before_ns`.
    pub(crate) fn coarse(mut self, first: usize, not_before_ns: u64) -> Self {
        self.in_turn = Some((first, not_before_ns));
        self.gaps = ladder::coarse(&self.gaps);
        self.gaps_of_huge = ladder::coarse(&self.gaps_of_huge);
        self
    }

    /// Does something else, too, each time before it waits, and it waits for a tenth of a second at most.
    pub(crate) fn beside(mut self, beside: &'a mut dyn FnMut(&mut E)) -> Self {
        self.beside = Some(beside);
        self
    }

    /// Holds visits against what is known. Ends early where they say that the target has changed, if it is to: who decides is
    /// not to wait for the epoch's end.
    pub(crate) fn judged(mut self, judged: Judged<'a>) -> Self {
        self.judged = Some(judged);
        self
    }

    /// Works until the end of the epoch on `waves` of regions, each ascending. `random`: between 0
    /// and 1. `stop` is asked now and then whether to end early.
    pub(crate) fn run(
        mut self,
        waves: &[Vec<usize>],
        mut random: impl FnMut() -> f64,
        stop: &dyn Fn() -> bool,
    ) -> Outcome {
        self.tally.planned = waves.len();
        let (start, length) = (self.start_ns, self.limits.end_ns.saturating_sub(self.start_ns));
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "in the epoch")]
        let at = |part: f64| start + (length as f64 * part * LAST_START) as u64;
        let in_turn = self.in_turn.is_some();
        let mut start_of = |wave: usize| match () {
            () if wave >= waves.len() => u64::MAX,
            () if in_turn => start,
            () => at((wave as f64 + random()) / waves.len() as f64),
        };
        let (mut next, mut next_start) = (0, start_of(0));
        loop {
            let now = self.eyes.now();
            if now >= self.limits.end_ns || stop() || self.all_lost() {
                break;
            }
            if self.changed || self.is_done(now) {
                break;
            }
            if let Some(Reverse((_, wave))) = self.due.peek().copied().filter(|d| d.0.0 <= now) {
                self.due.pop();
                self.go_on(wave);
                continue;
            }
            if now >= next_start {
                let affordable = self.affordable(now);
                if affordable {
                    self.begin(&waves[next]);
                    self.tally.waves += 1;
                }
                if affordable || !in_turn {
                    next += 1;
                    next_start = start_of(next);
                } else {
                    next_start = self.affordable_at().max(now + RETRY_NS);
                }
                if in_turn && now > at(1.0) {
                    next_start = u64::MAX;
                }
                continue;
            }
            if let Some(beside) = &mut self.beside {
                beside(self.eyes);
            }
            let due = self.due.peek().map_or(u64::MAX, |Reverse((due, _))| *due);
            let wake = due.min(next_start).min(self.limits.end_ns).min(now + 100_000_000);
            self.eyes.wait_until(wake.max(now + 1));
        }
        self.final_looks();
        self.tally.spent_ns = self.spent();
        Outcome { visits: self.visits, tally: self.tally, lost: self.lost }
    }

    /// Whether all that was to come first has been looked at.
    fn is_done(&self, now: u64) -> bool {
        self.in_turn.is_some_and(|(first, not_before_ns)| {
            let waiting = self.due.iter().any(|Reverse((_, wave))| *wave < first);
            now >= not_before_ns && self.tally.waves >= first && !waiting
        })
    }

    /// Holds visits that have had all their looks against what is known of their regions.
    fn judge(&mut self, visits: std::ops::Range<usize>) {
        let Some(Judged { last_visits, counts, ends_early }) = &mut self.judged else { return };
        for visit in self.visits[visits].iter().filter(|visit| !visit.refused && !visit.late) {
            let region = &self.regions[visit.region];
            let judge = |counts| region.history.judge(visit, counts);
            if let Some(judgement) =
                counts.get(region.process).filter(|_| !region.sparse).and_then(judge)
            {
                last_visits.add(judgement);
            }
        }
        self.changed = *ends_early && last_visits.say_changed();
    }

    fn all_lost(&self) -> bool {
        !self.regions.is_empty() && self.regions.iter().all(|r| self.lost.contains(&r.process))
    }

    fn spent(&mut self) -> u64 {
        self.eyes.cpu() - self.start_cpu
    }

    /// Whether another wave may begin now.
    fn affordable(&mut self, now: u64) -> bool {
        let length = self.limits.end_ns.saturating_sub(self.start_ns).max(1) as f64;
        let passed = (now - self.start_ns) as f64 / length;
        (self.spent() as f64) < self.limits.budget_ns * passed + self.ahead_ns()
    }

    /// What may be spent beyond what the time allows.
    fn ahead_ns(&self) -> f64 {
        let ahead_ns = AHEAD * self.limits.budget_ns;
        if self.in_turn.is_some() { ahead_ns.min(AHEAD_IN_TURN_NS) } else { ahead_ns }
    }

    /// When another wave may begin, if nothing is spent until then.
    fn affordable_at(&mut self) -> u64 {
        let length = self.limits.end_ns.saturating_sub(self.start_ns) as f64;
        let part = (self.spent() as f64 - self.ahead_ns()) / self.limits.budget_ns;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
        let after = (length * part.max(0.0)) as u64;
        self.start_ns.saturating_add(after).saturating_add(1)
    }

    /// Takes over the looks at what somebody else cleared.
    pub(crate) fn adopt(&mut self, cleared: &Cleared) {
        let took = cleared.to_ns.saturating_sub(cleared.from_ns);
        self.tally.refs_ns += took;
        self.tally.longest_clear_ns = self.tally.longest_clear_ns.max(took);
        let first = self.visits.len();
        let count = cleared.regions.len().max(1) as u64;
        for (i, region) in (0..).zip(&cleared.regions) {
            let cleared_ns = cleared.from_ns + took * i / count;
            let range = self.regions[*region].range;
            let visit =
                Visit { late: true, cached: !cleared.flushed, ..self.visit(*region, range) };
            self.last[*region] = self.visits.len();
            self.visits.push(Visit { cleared_ns, ..visit });
        }
        let wave = Wave::adopted(first..self.visits.len(), cleared);
        self.due.push(Reverse((wave.due_ns(), self.waves.len())));
        self.waves.push(wave);
    }

    /// What the next visit to a region is to.
    fn range_of_next(&self, region: usize) -> Range {
        let at = &self.regions[region];
        at.window.filter(|_| self.last[region] == NONE).unwrap_or(at.range)
    }

    /// A visit to so much of a region that has not begun.
    fn visit(&self, region: usize, range: Range) -> Visit {
        let at = &self.regions[region];
        let single = self.limits.single_pages && !at.huge && at.pages.is_some();
        let glimpse = range != at.range;
        let own = at.own_mask();
        Visit {
            region,
            range,
            glimpse,
            pages: if glimpse { WINDOW } else { at.weight() },
            stuck: if glimpse { 0 } else { at.shared() },
            huge: at.huge,
            own: if glimpse { both(&own, &window_mask(range)) } else { own },
            first_seen: single.then(|| Box::new([NEVER; 512])),
            ..Visit::default()
        }
    }

    /// The epoch ends: was what was cleared accessed until now?
    fn final_looks(&mut self) {
        let visited: Vec<usize> =
            self.last.iter().copied().filter(|visit| *visit != NONE).collect();
        for chunk in visited.chunks(1024) {
            self.accessed_since(chunk);
        }
    }

    /// Looks at visits' regions once more, which ends them. Returns what their process did, where all are of one.
    fn accessed_since(&mut self, visits: &[usize]) -> Option<Activity> {
        let mut activity = None;
        let process_of =
            |survey: &Self, visit: usize| survey.regions[survey.visits[visit].region].process;
        let mut rest = visits;
        while let Some(first) = rest.first() {
            let process = process_of(self, *first);
            let count = rest.iter().take_while(|v| process_of(self, **v) == process).count();
            let (group, later) = rest.split_at(count);
            rest = later;
            if !self.lost.contains(&process) {
                activity = self.end(process, group);
            }
        }
        activity
    }

    /// The same, of one process.
    fn end(&mut self, process: usize, visits: &[usize]) -> Option<Activity> {
        let now = self.eyes.now();
        let mut rows = Vec::with_capacity(visits.len());
        let activity =
            self.look(process, visits, |_, row, bits| rows.push(row.copied().zip(bits.copied())))?;
        for (at, row) in visits.iter().zip(&rows) {
            let visit = &self.visits[*at];
            let same = row.as_ref().filter(|(row, _)| row.huge == visit.huge && !visit.closed);
            let gap_ns = same.and_then(|(row, _)| self.ran(*at, process, (now, activity), row.ns));
            let visit = &mut self.visits[*at];
            let seen = row.as_ref().map_or(0, |(row, _)| row.accessed.saturating_sub(visit.stuck));
            let seen = if visit.huge { seen.min(1) } else { seen };
            visit.take_end(gap_ns, seen, row.as_ref().map(|(_, bits)| bits));
        }
        Some(activity)
    }

    /// CPU time that the process used from a visit's clearing until `ns`; `now` it had done so much.
    fn ran(
        &mut self,
        visit: usize,
        process: usize,
        (now, activity): (u64, Activity),
        ns: u64,
    ) -> Option<f64> {
        let cleared_ns = self.visits[visit].cleared_ns;
        let wave = self.waves.partition_point(|wave| wave.end() <= visit);
        let clock = self.waves.get_mut(wave)?.clock(process)?;
        clock.tick(now, activity);
        Some(clock.between(cleared_ns, ns))
    }

    /// Looks at the regions of visits of one process; gives each its row, none if nothing is
    /// resident. Returns what the process did.
    fn look(
        &mut self,
        process: usize,
        visits: &[usize],
        mut take: impl FnMut(&mut Visit, Option<&Row>, Option<&crate::walk::row::RowBits>),
    ) -> Option<Activity> {
        self.ranges.clear();
        self.ranges.extend(visits.iter().map(|visit| self.visits[*visit].range));
        let before = self.eyes.now();
        let Ok(activity) = self.eyes.look(process, &self.ranges, &mut self.rows) else {
            self.lost.push(process);
            return None;
        };
        self.tally.look_ns += self.eyes.now() - before;
        let mut rows = self.rows.iter().zip(0..).peekable();
        for (request, visit) in (0..).zip(visits) {
            let row = rows.next_if(|(row, _)| row.request == request);
            let bits = row.and_then(|(_, at)| self.eyes.bits().get::<usize>(at));
            take(&mut self.visits[*visit], row.map(|(row, _)| row), bits);
        }
        Some(activity)
    }
}

#[cfg(test)]
mod accuracy_tests;
#[cfg(test)]
mod rates_tests;
#[cfg(test)]
mod simulated;
#[cfg(test)]
mod tests;
