//! The recorder: epoch by epoch, which processes belong to the target, what of their memory is
//! resident, how hot it is, and what it cost to find out.

mod clear_shared;
mod counters;
mod draw;
pub(crate) mod heat;
mod pace;
mod places;
mod record;
mod resident;
mod sparse;
mod stalls;

pub use places::{PerNode, Place};

use crate::bits::eyes::Eyes;
use crate::bits::live::{Live, monotonic_ns, process_cpu};
use crate::error::ScanError;
use crate::observer::{Observer, REMEMBERED};
use crate::pages::PageHeat;
use crate::recorder::heat::HeatTable;
use crate::recorder::pace::Pace;
use crate::recorder::stalls::Stalls;
use crate::survey::estimate::Estimator;
use crate::survey::{Limits, Outcome, Survey, ladder};
use crate::target::claims::Claims;
use crate::target::follow::{Following, Target, all_ended};
use crate::target::region::Region;
use crate::target::resident_set::ResidentSet;
use crate::target::units::Units;
use crate::walk::row::Range;
use pagetide_host::Host;
use pagetide_privilege::Account;
use pagetide_trace::EpochRecord;
use pagetide_types::{Bytes, Patience, Pid, UnitSize};
use std::hash::RandomState;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::ExitStatus;
use std::sync::Arc;
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

/// How to record.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Length of an epoch.
    pub epoch: Duration,
    /// For who wants a first answer soon: the first two epochs are so long, each next one twice as long, up
    /// to `epoch`; and what was never visited comes first, with few looks: an epoch in which the budget
    /// reaches for all that is left of it is no longer than that takes. None: all epochs are alike.
    pub opening: Option<Duration>,
    /// What gets a rate of its own.
    pub unit: UnitSize,
    /// With units of 4 KiB: base pages have rows of their own up to a limit; where there are more, those that differ in
    /// heat do. A huge page, and the base pages of 2 MiB that are alike or too many, have one row together. None: every
    /// page has a row.
    pub single_pages: Option<SinglePages>,
    /// Share of one core that clearing and scanning may use; an epoch may also use that of the time since
    /// the last one, up to as much again.
    pub budget: f64,
    /// The budget is a share of each core that the target kept busy in the last epoch; of one at least, and half a
    /// core at most.
    pub by_busy_cores: bool,
    /// Ends the recording; else it goes on until the target ends.
    pub limit: Option<Duration>,
    /// As whom a command is started; none: as we run.
    pub account: Option<Account>,
    /// What a command prints goes to standard error, for standard output carries an answer.
    pub output_aside: bool,
    /// Also watches memory that `MADV_COLD` cannot clear, by `clear_refs`, for which page faults
    /// of the target must wait.
    pub clear_shared: bool,
    /// The CPU cache of a core: traffic is what goes past it.
    pub cache_per_core: Bytes,
    /// Only memory at these addresses is recorded.
    pub within: Range,
    /// Shared memory that no process of the target maps is recorded, too: it has units of its own, which lie nowhere.
    pub unmapped: bool,
}

/// Which base pages have rows of their own.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SinglePages {
    /// So many of them at most.
    pub at_most: u64,
    /// How often a page is accessed, per second of CPU time, for which it may be worth a move of its own, where there
    /// are more.
    pub matters: f64,
}

/// All addresses.
const EVERYWHERE: Range = Range { start: 0, end: u64::MAX };

impl Default for Options {
    fn default() -> Self {
        Self {
            epoch: Duration::from_secs(5),
            opening: None,
            unit: UnitSize::default(),
            single_pages: None,
            budget: 0.01,
            by_busy_cores: false,
            limit: None,
            account: None,
            output_aside: false,
            clear_shared: false,
            cache_per_core: Bytes::mib(2),
            within: EVERYWHERE,
            unmapped: true,
        }
    }
}

/// What our other threads do while an epoch is watched, which is no part of watching.
pub trait Meanwhile {
    /// It is known where pages lie: from now on they may move.
    fn begin(&mut self);

    /// CPU time used for it since then, ns.
    fn cpu_ns(&self) -> u64;
}

/// Nothing else is done.
impl Meanwhile for () {
    fn begin(&mut self) {}

    fn cpu_ns(&self) -> u64 {
        0
    }
}

/// Why a recording ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The target ended, a command with this status.
    TargetEnded(Option<ExitStatus>),
    /// The time was up.
    Limit,
    /// The caller asked to stop.
    Stopped,
}

/// A process that is followed, beside its [`Followed`] handles.
struct Known {
    pid: Pid,
    command: String,
    space: u64,
    alive: bool,
    /// CPU time at the start of the epoch, ns.
    cpu: u64,
    /// CPU seconds per second of the epoch.
    cores: f32,
    /// Epochs in which it was met.
    epochs: u32,
    /// The part of the budget that watching it may take.
    watch: f64,
}

/// Watches one target. Create it, then call [`Recorder::epoch`] until it says that it ended.
pub struct Recorder {
    host: Host,
    live: Live,
    following: Following,
    options: Options,
    known: Vec<Known>,
    spaces: u64,
    units: Units,
    heat: HeatTable,
    page_heat: PageHeat,
    resident_set: ResidentSet,
    regions: Vec<Region>,
    estimator: Estimator,
    visit_cost: draw::VisitCost,
    random: u64,
    /// Orders regions by chance, the same way for as long as this lives.
    sample: RandomState,
    stalls: Stalls,
    turns: clear_shared::Turns,
    epoch: u32,
    /// What it took last to find out who belongs to the target, and what is resident.
    refresh_ns: u64,
    resident_set_ns: u64,
    /// When the last epoch ended.
    ended_ns: Option<u64>,
    /// CPU time that the last epoch took to turn what was seen into a record and to write it.
    ending_ns: u64,
    /// Epochs of which writing heat down took more than half of the budget.
    crowded: u32,
    /// Processes that may be followed at once, and how many there were beyond.
    most: usize,
    unwatched: usize,
    /// For other recorders to know whom this one watches, and how many they had before.
    claims: Claims,
    watched_twice: usize,
    /// CPU time of the target so far, s, and the part of it that no process had that was watched.
    cpu_s: (f64, f64),
    /// Somebody moved pages since the last resident-set walk.
    moved: bool,
    /// The next epoch is to be short.
    hurried: bool,
    /// Whether an epoch ends early where the target has changed.
    patience: Patience,
    started_ns: u64,
    /// It was started by the recorder.
    began_with_target: bool,
    last_cpu: Duration,
}

impl Recorder {
    /// Starts or finds the target and makes sure that it can be watched.
    ///
    /// # Errors
    /// When it cannot: see [`ScanError`]. A command that was started is ended again.
    pub fn start(
        observer: Observer,
        host: Host,
        target: &Target,
        options: Options,
    ) -> Result<Self, ScanError> {
        let unit = options.unit;
        let mut live = Live::new(observer.walker);
        live.walker.report_pages(true);
        let account = options.account.as_ref();
        let following = Following::start(target, &host, account, options.output_aside)?;
        pagetide_privilege::hurry();
        let started_ns = live.now();
        let stalls = Stalls::new(host.stall_events());
        let most = resident::most_processes(stalls.descriptors());
        let estimator = Estimator::new(options.cache_per_core);
        let mut recorder = Self {
            host,
            live,
            following,
            options,
            known: Vec::new(),
            spaces: 0,
            units: Units::of(unit),
            heat: HeatTable::default(),
            page_heat: PageHeat::default(),
            resident_set: ResidentSet::default(),
            regions: Vec::new(),
            estimator,
            visit_cost: draw::VisitCost::default(),
            random: started_ns,
            sample: RandomState::new(),
            stalls,
            turns: clear_shared::Turns::default(),
            epoch: 0,
            refresh_ns: 0,
            resident_set_ns: 0,
            ended_ns: None,
            ending_ns: 0,
            crowded: 0,
            most,
            unwatched: 0,
            claims: Claims::on(Path::new(REMEMBERED)),
            watched_twice: 0,
            cpu_s: (0.0, 0.0),
            moved: false,
            hurried: false,
            patience: Patience::default(),
            started_ns,
            began_with_target: matches!(target, Target::Command(_)),
            last_cpu: Duration::ZERO,
        };
        let checked = recorder.check_permission();
        if let Err(error) = checked {
            recorder.terminate();
            return Err(error);
        }
        Ok(recorder)
    }

    /// What the target accesses is not what it accessed: in the next epoch all of it is visited again first, with few
    /// looks, and that epoch is no longer than this takes, where the first ones are short ([`Options::opening`]).
    pub fn changed(&mut self) {
        self.hurried = true;
        if self.options.opening.is_some() && self.epoch > 1 {
            self.regions.iter_mut().for_each(|region| region.outdated = true);
        }
    }

    /// Processes of the target that are alive now.
    #[must_use]
    pub fn processes(&self) -> usize {
        self.known.iter().filter(|known| known.alive).count()
    }

    /// Processes of the target that could not be watched at some time: there are more than our limit
    /// of open files allows.
    #[must_use]
    pub fn unwatched(&self) -> usize {
        self.unwatched
    }

    /// Processes of the target that another recorder watched already when this one met them.
    #[must_use]
    pub fn watched_twice(&self) -> usize {
        self.watched_twice
    }

    /// The next epoch is as short as the first one, where that is short ([`Options::opening`]): who decides
    /// cannot wait.
    pub fn hurry(&mut self) {
        self.hurried = true;
    }

    /// Processes of the target that another recorder began to watch while this one did.
    #[must_use]
    pub fn also_watched(&self) -> usize {
        self.claims
            .also_watched(self.known.iter().filter(|known| known.alive).map(|known| known.pid))
    }

    /// The share of the target's CPU time that processes had which lived too short to be watched: they
    /// began and ended within an epoch. None before a second of it has passed.
    #[must_use]
    pub fn too_short_lived(&self) -> Option<f64> {
        let (all, unseen) = self.cpu_s;
        (all >= 1.0).then(|| unseen / all)
    }

    /// Shared memory that no process of the target maps now.
    #[must_use]
    pub fn unmapped(&self) -> Bytes {
        self.resident_set.unmapped.bytes()
    }

    /// The processes that are watched now, and by which to know that a number is still theirs.
    #[must_use]
    pub fn held(&self) -> Vec<(Pid, Arc<OwnedFd>)> {
        let followed = self.live.followed.iter().zip(&self.known);
        let alive = followed.filter(|(_, known)| known.alive);
        alive.filter_map(|(followed, _)| Some((followed.pid(), followed.pidfd()?))).collect()
    }

    /// CPU time that a process has used so far; none: it is gone.
    #[must_use]
    pub fn cpu(&self, process: Pid) -> Option<Duration> {
        self.host.process(process).ok().map(|process| process.cpu)
    }

    /// Whether in most epochs more than half of the budget went into writing heat down, so that
    /// little was left for watching. The first one, in which all is new, may well be such.
    #[must_use]
    pub fn crowded(&self) -> bool {
        2 * self.crowded > self.epoch
    }

    /// Ends a command that the recorder started, with all its descendants; does nothing to other
    /// targets. Says who did not end within 5 s of SIGTERM and was killed.
    pub fn terminate(&mut self) -> Vec<Pid> {
        self.following.terminate(&self.host)
    }

    /// The command's exit status, once it ended.
    #[must_use]
    pub fn status(&self) -> Option<ExitStatus> {
        self.following.status()
    }

    fn check_permission(&mut self) -> Result<(), ScanError> {
        self.refresh()?;
        match self.known.iter().position(|known| known.alive) {
            Some(process) => match self.live.try_clear(process) {
                // A command may have ended already.
                Err(ScanError::NoMemory(_)) | Ok(()) => Ok(()),
                Err(error) => Err(error),
            },
            None => Ok(()),
        }
    }

    /// Records one epoch. `stop` is asked now and then whether to end early.
    ///
    /// # Errors
    /// When the machine refuses; a target that ends is no error.
    pub fn epoch(
        &mut self,
        stop: &dyn Fn() -> bool,
    ) -> Result<(Option<EpochRecord>, Option<End>), ScanError> {
        self.epoch_of_moves(stop, &mut ())
    }

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
            let alive = self.known.iter().filter(|known| known.alive).map(|known| known.pid);
            self.last_cpu = self.host.cpu_of(&alive.collect::<Vec<_>>());
        }
        if epoch.is_zero() {
            // Time passed since the last one.
            return Ok((None, Some(End::Limit)));
        }
        let length = epoch.as_nanos() as f64;
        let budget = pace.budget_ns(epoch) * self.watched_part();
        if self.epoch == 0 && self.began_with_target {
            self.live.wait_until(start_ns + whole((length * FIRST_WALK).min(LATEST_FIRST_WALK_NS)));
        }
        self.look_for_processes(budget)?;
        self.walk_resident_set(budget);
        meanwhile.begin();
        let cleared = self.clear_shared(budget);
        let end_ns = start_ns.saturating_add(u64::try_from(epoch.as_nanos()).unwrap_or(u64::MAX));

        // Writing heat down at the end costs what it cost last time.
        let least = if self.watched_part() < 1.0 { LEAST_SPARSE } else { LEAST } * budget;
        let used = (self.live.cpu() - start_cpu + self.ending_ns) as f64;
        let (drawn, first) = self.draw((budget - used).max(least));
        let coarse = first.is_some();
        let used = (self.live.cpu() - start_cpu + self.ending_ns) as f64;
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
        let mut survey = Survey::new(&mut self.live, &self.regions, gaps, limits);
        if let Some(first) = first {
            let shortest = self.options.opening.unwrap_or(epoch).as_nanos();
            let not_before_ns = start_ns + u64::try_from(shortest).unwrap_or(u64::MAX);
            survey = survey.coarse(first, not_before_ns);
        } else if self.options.opening.is_some() && self.patience.is_over() {
            survey = survey.alert();
        }
        cleared.iter().for_each(|cleared| survey.adopt(cleared));
        let outcome = survey.run(&drawn.waves, draw::random(&mut self.random), &stop_or_ended);
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
        let mut record = self.record(&outcome, &drawn.expected, start_ns, end_of_epoch);
        let others_cpu = all_cpu + meanwhile.cpu_ns();
        record.epoch.recorder_s = process_cpu().saturating_sub(others_cpu) as f64 * 1e-9;
        self.ended_ns = Some(self.live.now());
        if !coarse && self.patience.believes(outcome.changed) {
            tracing::debug!(epoch = self.epoch, "the target has changed");
            self.changed();
        }
        self.crowded += u32::from(2.0 * self.ending_ns as f64 > budget);
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
        Pace {
            epoch: self.epoch,
            usual: self.options.epoch,
            opening: self.options.opening,
            hurry: std::mem::take(&mut self.hurried),
            paused: Duration::from_nanos(paused),
            budget: self.budget(),
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

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
fn whole(value: f64) -> u64 {
    value as u64
}
