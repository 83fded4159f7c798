//! One epoch of bursts. A burst clears the accessed bits of a batch of pieces, then looks at
//! growing gaps until (nearly) everything was seen or the epoch ends. Every batch gets one burst
//! that goes on to the end of the epoch, so that the epoch knows what was accessed in it; batches
//! that were seen early get further, shorter bursts for as long as the budget allows, which is
//! what tells hot from hottest.
//!
//! A program accesses memory while it runs: gaps are counted in CPU time of the target, so that
//! a target that waits or is put aside for a while does not look colder than it is.

mod adopt;
mod look;

pub(crate) use adopt::Cleared;

use crate::batch::{Batch, Extras, HUGE_AS_PAGES, group};
use crate::costs::Call;
use crate::evidence::{RUNGS, gap_ns};
use crate::eyes::{Eyes, Lost};
use crate::pacing::{Limits, Pacing};
use crate::piece::Piece;
use crate::sample::Sample;
use crate::walker::{Range, Row};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// The first bursts are spread over one part in so many of the epoch. Every clearing interrupts
/// the CPUs of the target: one after the other, they slowed it to half its pace while it was
/// being measured.
const SPREAD: u64 = 2;
/// Rungs from one look to the next: for a huge page, and for many base pages, which tell enough
/// at fewer looks.
const STEP: [usize; 2] = [1, 2];
/// A burst is over when no more than this share of the pages is still unseen.
const REST: f64 = 0.2;
/// Further bursts span this many rungs: for a huge page, and for many base pages, which tell
/// enough at the first look.
const EXTRA_RUNGS: [usize; 2] = [3, 1];
/// A look comes early by at most one part in so many of its gap; and so where calls are dear.
const SLACK: [u64; 2] = [32, 4];
/// Up to this rung nobody asks what the target does at the start of the gap.
const SHORT_RUNG: usize = 1;
/// Pages that a first burst must have seen for its batch to deserve further ones.
const ENOUGH_PAGES: u32 = 16;
/// Batches whose first look would come later than this get no further bursts.
const LAST_EXTRA_RUNG: usize = 7;

/// What clearing and looking did and cost.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Tally {
    pub(crate) clear_ns: u64,
    pub(crate) look_ns: u64,
    /// CPU time in all.
    pub(crate) spent_ns: u64,
    /// Clearings and looks, one by one.
    pub(crate) calls: Vec<Call>,
    pub(crate) longest_clear_ns: u64,
    /// Inside `clear_refs` and the flush after it.
    pub(crate) refs_ns: u64,
    /// Batches that got no burst for want of budget or time.
    pub(crate) starved: u64,
}

/// One epoch's work on `samples`, which must be sorted by process.
pub(crate) struct Bursts<'a, E> {
    eyes: &'a mut E,
    samples: Vec<Sample>,
    batches: Vec<Batch>,
    /// When, which batch, in which of its bursts.
    due: BinaryHeap<Reverse<(u64, usize, u16)>>,
    pacing: Pacing,
    start_cpu: u64,
    lost: Vec<usize>,
    tally: Tally,
    // Buffers, kept to save allocations.
    ranges: Vec<Range>,
    /// Samples asked for, and their batches.
    asked: Vec<(usize, usize)>,
    rows: Vec<Row>,
}

/// What came out of an epoch.
pub(crate) struct Outcome {
    pub(crate) samples: Vec<Sample>,
    pub(crate) tally: Tally,
    /// Processes that were found gone.
    pub(crate) lost: Vec<usize>,
}

impl<'a, E: Eyes> Bursts<'a, E> {
    /// Groups the samples into batches by process and expected rate.
    pub(crate) fn new(
        eyes: &'a mut E,
        pieces: &[Piece],
        samples: Vec<Sample>,
        limits: Limits,
    ) -> Self {
        let (samples, batches) = group(pieces, samples);
        let (start_ns, start_cpu) = (eyes.now(), eyes.cpu());
        Self {
            eyes,
            samples,
            batches,
            due: BinaryHeap::new(),
            pacing: Pacing::new(limits, start_ns),
            start_cpu,
            lost: Vec::new(),
            tally: Tally::default(),
            ranges: Vec::new(),
            asked: Vec::new(),
            rows: Vec::new(),
        }
    }

    /// Works until the end of the epoch. `stop` is asked now and then whether to end early.
    pub(crate) fn run(mut self, stop: &dyn Fn() -> bool) -> Outcome {
        let mut firsts: VecDeque<usize> =
            (0..self.batches.len()).filter(|batch| self.batches[*batch].bursts == 0).collect();
        let mut extras = Extras::default();
        let mut next_clear = 0;
        let (all, limits) = (firsts.len(), self.pacing.limits);
        loop {
            let now = self.eyes.now();
            if now >= limits.end_ns || stop() || self.all_lost() {
                break;
            }
            if self.due.peek().is_some_and(|Reverse((due, ..))| *due <= now) {
                self.look_due(now, &mut extras);
                continue;
            }
            // The next of the first bursts comes when its turn is, not as soon as it could.
            let turn = self.pacing.turn(firsts.len(), all, SPREAD);
            if now >= next_clear {
                if let Some(batch) = firsts.pop_front_if(|_| now >= turn) {
                    if self.spent() < limits.first_ns {
                        next_clear = self.begin(batch);
                    } else {
                        self.tally.starved += 1;
                    }
                    continue;
                }
                let only_extras = firsts.is_empty();
                if only_extras && !extras.is_empty() && self.spent() < self.pacing.allowed(now) {
                    if let Some(batch) = extras.pop() {
                        next_clear = self.begin(batch);
                    }
                    continue;
                }
            }
            let mut wake = limits.end_ns;
            if let Some(Reverse((due, ..))) = self.due.peek() {
                wake = wake.min(*due);
            }
            if !firsts.is_empty() {
                wake = wake.min(next_clear.max(turn));
            } else if !extras.is_empty() {
                let spent = self.spent();
                wake = wake.min(next_clear.max(self.pacing.affordable_at(now, spent)));
            }
            self.eyes.wait_until(wake.max(now + 1).min(now + 100_000_000));
        }
        self.final_looks();
        self.tally.spent_ns = self.spent();
        self.samples.iter_mut().for_each(Sample::close);
        Outcome { samples: self.samples, tally: self.tally, lost: self.lost }
    }

    fn all_lost(&self) -> bool {
        !self.batches.is_empty() && self.batches.iter().all(|b| self.lost.contains(&b.process))
    }

    fn spent(&mut self) -> u64 {
        self.eyes.cpu() - self.start_cpu
    }

    /// Clears a batch and sets its first look. Returns when the next clearing may follow.
    fn begin(&mut self, batch: usize) -> u64 {
        // What was accessed since the last look must be known before it is wiped out.
        if self.batches[batch].bursts > 0 {
            self.look(&[batch], true);
        }
        let Batch { process, first_sample, end_sample, start, .. } = self.batches[batch];
        if self.lost.contains(&process) {
            return 0;
        }
        self.ranges.clear();
        let mut weight = 0;
        for sample in &self.samples[first_sample..end_sample] {
            weight += if sample.huge { u64::from(HUGE_AS_PAGES) } else { sample.pages() };
            self.ranges.push(sample.range);
        }
        let before = self.eyes.now();
        let mut refused = Vec::new();
        if self.eyes.clear(process, &self.ranges, &mut refused) == Err(Lost) {
            self.lost.push(process);
            return 0;
        }
        let after = self.eyes.now();
        let activity = if start > SHORT_RUNG {
            let Ok(activity) = self.eyes.activity(process) else {
                self.lost.push(process);
                return 0;
            };
            Some(activity)
        } else {
            // Asking takes as long as the gap.
            None
        };
        self.tally.clear_ns += after - before;
        self.tally.longest_clear_ns = self.tally.longest_clear_ns.max(after - before);
        for i in refused {
            self.samples[first_sample + i].refused = true;
        }
        let (mut done, mut base, mut huge) = (0, 0, 0);
        for sample in &mut self.samples[first_sample..end_sample] {
            let own = if sample.huge { u64::from(HUGE_AS_PAGES) } else { sample.pages() };
            // The call goes through the ranges in order; each is cleared once the CPUs of the
            // target have answered, at its end.
            sample.looked_ns = before + (after - before) * (done + own) / weight.max(1);
            sample.close();
            done += own;
            sample.watched = !sample.refused;
            sample.risk = if sample.refused { 0 } else { sample.total() };
            huge += u64::from(sample.huge);
            base += if sample.huge { 0 } else { own };
        }
        self.tally.calls.push(Call::clear(base, huge, after - before));
        let entry = &mut self.batches[batch];
        entry.bursts += 1;
        entry.rung = start;
        entry.cleared_ns = after;
        (entry.looked_ns, entry.activity) = (after, activity);
        entry.queued = false;
        self.due.push(Reverse((after + gap_ns(start), batch, entry.bursts)));
        // Lets a thread of the target that wants to change its memory map come in between.
        after + (after - before).max(10_000)
    }

    /// Looks at all batches that are due now, or nearly.
    fn look_due(&mut self, now: u64, extras: &mut Extras) {
        let mut batches = Vec::new();
        let mut process = None;
        let slack_share = SLACK[usize::from(self.pacing.limits.together > 1)];
        while let Some(Reverse((due, batch, burst))) = self.due.peek().copied() {
            if burst != self.batches[batch].bursts {
                // It was cleared again since: this look belongs to an earlier burst.
                self.due.pop();
                continue;
            }
            // Looks may come a little early if that saves a call.
            let slack = gap_ns(self.batches[batch].rung) / slack_share;
            let same = process.is_none_or(|p| p == self.batches[batch].process);
            if due > now + slack || !same || batches.len() >= 64 {
                break;
            }
            process = Some(self.batches[batch].process);
            self.due.pop();
            batches.push(batch);
        }
        self.look(&batches, false);
        for batch in batches {
            self.go_on(batch, extras);
        }
    }

    /// After a look: the burst is over, or the next look is set; the batch may deserve another.
    fn go_on(&mut self, batch: usize, extras: &mut Extras) {
        let entry = &mut self.batches[batch];
        if self.lost.contains(&entry.process) {
            return;
        }
        let samples = &self.samples[entry.first_sample..entry.end_sample];
        let risk: u32 = samples.iter().map(|sample| u32::from(sample.risk)).sum();
        let total: u32 = samples.iter().map(|sample| u32::from(sample.total())).sum();
        let seen = total.saturating_sub(risk);
        let populous = samples.iter().any(|sample| !sample.huge);
        // A look while the target did not run says nothing of the right gap.
        let ran = entry.looked_ns > entry.cleared_ns;
        if entry.rung == entry.start && ran {
            entry.adapt(seen, total, populous);
        }
        let mostly = f64::from(risk) <= REST * f64::from(total);
        let looks = entry.rung + 1 - entry.start.min(entry.rung);
        // A first burst goes on to the epoch's end, which knows what was accessed in it; the
        // further ones are for the rate and need not wait for the rest, unless each page counts.
        let single = samples.iter().any(|sample| sample.pages.is_some());
        let enough_looks = looks >= EXTRA_RUNGS[usize::from(populous)];
        let over = mostly || (entry.bursts > 1 && enough_looks);
        let told = over || (enough_looks && seen >= ENOUGH_PAGES);
        let again = told && entry.rung <= LAST_EXTRA_RUNG && entry.may_repeat() && total > 0;
        if again && !entry.queued {
            entry.queued = true;
            extras.push(batch, entry.start);
        }
        let step = STEP[usize::from(populous)];
        if over && again && !single || risk == 0 || entry.rung + step >= RUNGS {
            return;
        }
        entry.rung += step;
        let due = entry.cleared_ns + gap_ns(entry.rung);
        if due < self.pacing.limits.end_ns {
            self.due.push(Reverse((due, batch, entry.bursts)));
        }
    }
}

#[cfg(test)]
#[path = "burst_tests.rs"]
mod tests;
