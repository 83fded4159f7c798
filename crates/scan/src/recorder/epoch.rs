//! One epoch of a recorder: how long it is, what is visited in it, and what it costs.

use super::births::{OFTEN_NS, Whom};
use super::pace::{self, Pace};
use super::{End, Meanwhile, Options, Recorder, draw, whole};
use crate::bits::eyes::Eyes;
use crate::bits::madv_cold::{Live, monotonic_ns, process_cpu};
use crate::error::ScanError;
use crate::survey::change::TELL;
use crate::survey::{Judged, Limits, Outcome, Survey, ladder};
use crate::target::follow::all_ended;
use pagetide_trace::EpochRecord;
use pagetide_types::UnitSize;
use std::time::Duration;

/// A last epoch shorter than this share of a whole one is dropped: it would count as one.
const SHORTEST_LAST: f64 = 0.2;

/// A command that was just started has no memory yet: the first epoch looks for it after this share
/// of its length, and so much time, ns, at most.
const FIRST_WALK: f64 = 0.1;
const LATEST_FIRST_WALK_NS: f64 = 1e9;

/// Where one part in so many of an epoch went by since the last one, the target's CPU time is read again.
const PAUSED: u32 = 50;

/// Visits have this share of the budget at least, whatever else costs; of processes that are watched sparsely more, or
/// so few regions would be visited that a change of theirs is no change of the target's.
const LEAST: f64 = 0.1;
const LEAST_SPARSE: f64 = 0.3;

impl Recorder {
    /// As [`Recorder::epoch`], while pages move: once it is known what is resident, and where, they begin to.
    ///
    /// # Errors
    /// As there.
    pub fn epoch_of_moves(
        &mut self,
        stop: &dyn Fn() -> bool,
        meanwhile: &mut dyn Meanwhile,
    ) -> Result<(Option<EpochRecord>, Option<End>), ScanError> {
        let start_ns = self.live.now();
        let (start_cpu, all_cpu) = (self.live.cpu(), process_cpu());
        let pace = self.pace(start_ns);
        let whole_epoch = pace.length(|outdated| self.first_visits(outdated));
        let passed = Duration::from_nanos(start_ns - self.started_ns);
        let left = self.options.limit.map(|limit| limit.saturating_sub(passed));
        let epoch = left.map_or(whole_epoch, |left| left.min(whole_epoch));
        if pace.paused > epoch / PAUSED {
            // What it did meanwhile is of no epoch.
            let alive = self.known.iter().filter(|known| known.alive);
            let now = alive.map(|known| (known.pid, self.host.cpu_of(&[known.pid])));
            self.used_cpu.forget(now.collect());
        }
        if epoch.is_zero() {
            // Time passed since the last one.
            return Ok((None, Some(End::Limit)));
        }
        let length = epoch.as_nanos() as f64;
        let all = pace.budget_ns(epoch) * self.watched_part();
        if self.epoch == 0 && self.began_with_target {
            self.wait_for_memory(
                start_ns + whole((length * FIRST_WALK).min(LATEST_FIRST_WALK_NS)),
            )?;
        }
        self.look_for_processes(all)?;
        let numbered = self.units.len();
        self.walk_resident_set(all);
        if self.units.len() > numbered {
            self.births.grows(self.live.now(), (self.resident_set_ns, all));
        }
        meanwhile.begin();
        let least = if self.watched_part() < 1.0 { LEAST_SPARSE } else { LEAST } * all;
        // All together takes no more than it is worth.
        let budget = all.min(pace.worth_ns(epoch) * self.watched_part());
        let cleared = self.clear_shared(budget);
        let end_ns = start_ns.saturating_add(u64::try_from(epoch.as_nanos()).unwrap_or(u64::MAX));

        // Writing heat down at the end, and deciding, cost what they cost last time, or before where that was less: now and then
        // an epoch has more rows than others.
        let [last, before] = self.ending_ns;
        let ending_ns =
            last.min(before) + u64::try_from(pace.deciding.as_nanos()).unwrap_or(u64::MAX);
        let used = (self.live.cpu() - start_cpu + ending_ns) as f64;
        let ahead_ns = pace.ahead_ns(epoch).min((budget - used).max(0.0));
        let drawn = self.draw((budget - used - ahead_ns).max(least), ahead_ns);
        let coarse = drawn.first.is_some();
        let used = (self.live.cpu() - start_cpu + ending_ns) as f64;
        let limits = Limits {
            end_ns,
            budget_ns: (budget - used).max(least),
            single_pages: self.options.unit == UnitSize::Base,
        };
        let followed = self.live.followed.iter().zip(&self.known);
        let alive: Vec<_> =
            followed.filter(|(_, known)| known.alive).filter_map(|(f, _)| f.pidfd()).collect();
        let ended = std::cell::Cell::new((start_ns, false));
        let stop_or_ended = || {
            let (last, mut gone) = ended.get();
            let now = monotonic_ns();
            if now - last > 50_000_000 {
                gone = all_ended(&alive);
                ended.set((now, gone));
            }
            gone || stop()
        };
        for (process, known) in self.known.iter_mut().enumerate().filter(|(_, known)| known.alive) {
            known.cpu = self.live.target_cpu(process);
        }
        let cpu_from = self.live.now();
        let gaps = ladder::gaps(self.gap_of_target_ns());
        let whom = Whom::of(&self.host, &self.known, &self.options);
        let mut peek = |live: &mut Live| self.births.peek(live, &mut self.units, whom);
        let mut survey = Survey::new(&mut self.live, &self.regions, gaps, limits);
        if let Some(first) = &drawn.first {
            let shortest = self.options.opening.unwrap_or(epoch).as_nanos();
            let not_before_ns = start_ns + u64::try_from(shortest).unwrap_or(u64::MAX);
            survey = survey.coarse(first.waves, not_before_ns);
        } else if self.options.opening.is_some() {
            survey = survey.judged(Judged {
                last_visits: &mut self.last_visits,
                counts: self.estimator.accesses(self.known.len()),
                ends_early: self.patience.is_over(),
            });
        }
        cleared.iter().for_each(|cleared| survey.adopt(cleared));
        if self.options.opening.is_none() {
            survey = survey.beside(&mut peek);
        }
        let outcome = survey.run(&drawn.draw.waves, draw::random(&mut self.random), &stop_or_ended);
        self.idle_until(end_ns, &outcome, &stop_or_ended);
        let cpu_seconds = (self.live.now() - cpu_from).max(1) as f32;
        for (process, known) in self.known.iter_mut().enumerate().filter(|(_, known)| known.alive) {
            // A process that ended has no clock any more: what it had counts as if it went on.
            if let Some(used) = self.live.target_cpu(process).checked_sub(known.cpu) {
                known.cores = used as f32 / cpu_seconds;
            }
        }
        tracing::debug!(epoch = self.epoch, coarse, visits = outcome.visits.len(), ?outcome.tally);
        self.learn_cost(&outcome, coarse);
        let end_of_epoch = self.live.now();
        let mut record =
            self.record(&outcome, &drawn.chances(outcome.tally.waves), start_ns, end_of_epoch);
        let others_cpu = all_cpu + meanwhile.cpu_ns();
        record.epoch.recorder_s = process_cpu().saturating_sub(others_cpu) as f64 * 1e-9;
        self.length = Duration::from_nanos(end_of_epoch - start_ns);
        let took_ns = record.epoch.recorder_s * 1e9 + pace.deciding.as_nanos() as f64;
        self.owed_ns = pace.owes_ns(self.length, took_ns);
        self.ended_ns = Some(self.live.now());
        self.worth.lasts(self.length);
        self.judge(coarse);
        self.crowded += u32::from(2.0 * self.ending_ns[0] as f64 > all);
        for process in &outcome.lost {
            self.lose(*process);
        }

        let end = if self.following.ended(&self.host, &alive) {
            Some(End::TargetEnded(self.following.status()))
        } else if stop() {
            Some(End::Stopped)
        } else if self
            .options
            .limit
            .is_some_and(|limit| u128::from(end_of_epoch - self.started_ns) >= limit.as_nanos())
        {
            Some(End::Limit)
        } else {
            None
        };
        let length_s = (end_of_epoch - start_ns) as f64 * 1e-9;
        let short = end.is_some() && length_s < SHORTEST_LAST * whole_epoch.as_secs_f64();
        self.epoch += 1;
        Ok((Some(record).filter(|_| !(short && self.epoch > 1)), end))
    }

    /// Whether the target has changed; not in an epoch that visits what is new first.
    fn judge(&mut self, coarse: bool) {
        let differs = self.last_visits.say_changed();
        if differs || coarse {
            self.last_visits.forget();
        }
        self.has_changed = !coarse && self.patience.believes(differs);
        if self.has_changed {
            tracing::debug!(epoch = self.epoch, "the target has changed");
            self.changed();
        }
    }

    /// Lets a command that was just started get its memory, and numbers that in the order in which it appears.
    fn wait_for_memory(&mut self, until_ns: u64) -> Result<(), ScanError> {
        while self.live.now() + OFTEN_NS < until_ns {
            let next_ns = self.live.now() + OFTEN_NS;
            self.live.wait_until(next_ns);
            self.refresh()?;
            let whom = Whom::of(&self.host, &self.known, &self.options);
            self.births.peek(&mut self.live, &mut self.units, whom);
        }
        // Whether it is a virtual machine monitor is asked by the epoch.
        self.known.iter_mut().for_each(|known| known.epochs = known.epochs.min(1));
        self.live.wait_until(until_ns);
        Ok(())
    }

    /// The share of one core that observing may use now.
    fn budget(&self) -> f64 {
        let Options { budget, by_busy_cores: true, .. } = self.options else {
            return self.options.budget;
        };
        let alive = self.known.iter().filter(|known| known.alive);
        pace::of_cores(budget, alive.map(|known| f64::from(known.cores)).sum())
    }

    /// What is known of an epoch that begins now.
    fn pace(&mut self, start_ns: u64) -> Pace {
        let paused = self.ended_ns.map_or(0, |ended| start_ns.saturating_sub(ended));
        let hurry = std::mem::take(&mut self.hurried);
        let all = self.epoch == 0 || hurry && self.first_visits(true).is_some();
        let budget = self.budget();
        let noticing_s = TELL as f64 * self.visit_cost.of(false, self.huge_share()) * 1e-9;
        Pace {
            epoch: self.epoch,
            usual: self.options.epoch,
            opening: self.options.opening,
            hurry,
            paused: Duration::from_nanos(paused),
            // The first decision on much that is new takes far longer than the next ones.
            deciding: self.deciding[0].min(self.deciding[1]),
            last: self.length,
            ahead: self.options.opening.is_some() && all,
            owed_ns: self.owed_ns,
            budget,
            worth: if self.options.thrifty { self.worth.of(budget, noticing_s) } else { 1.0 },
        }
    }

    /// With nothing to watch (not yet, or all gone) an epoch still lasts.
    fn idle_until(&mut self, end_ns: u64, outcome: &Outcome, stop: &dyn Fn() -> bool) {
        if outcome.tally.planned > 0 && outcome.lost.is_empty() {
            return;
        }
        while self.live.now() < end_ns && !stop() {
            let wake = (self.live.now() + 20_000_000).min(end_ns);
            self.live.wait_until(wake);
        }
    }
}
