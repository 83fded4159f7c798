//! The recorder: epoch by epoch, which processes belong to the target, what of their memory is
//! resident, how hot it is, and what it cost to find out.

use crate::budget::{Costs, Plan, learn};
use crate::burst::{Bursts, Limits, Outcome, Tally};
use crate::census::{Census, Subject};
use crate::error::ScanError;
use crate::evidence::{Estimate, Evidence};
use crate::eyes::Eyes;
use crate::follow::{Following, Target};
use crate::heat::HeatTable;
use crate::live::{self, Followed, Live, monotonic_ns};
use crate::observer::Observer;
use crate::piece::Piece;
use crate::sample::Sample;
use crate::shared::exclusive_share;
use crate::units::Units;
use pagetide_host::Host;
use pagetide_trace::{Epoch, EpochRecord};
use pagetide_types::{EpochId, Pid};
use std::process::ExitStatus;
use std::time::Duration;

/// Share of an epoch's budget for the first bursts of all batches.
const FIRST_SHARE: f64 = 0.5;
/// Share of it for the census of what is resident; dearer ones are taken less often.
const CENSUS_SHARE: f64 = 0.2;
/// Pages that might be shared are looked up in pagemap so often per epoch at most.
const SHARED_CHECKS: usize = 256;
/// Pages found shared are tried again after so many epochs.
const RETRY_EPOCHS: u32 = 16;
/// A last epoch shorter than this share of a whole one is dropped: it would count as one.
const SHORTEST_LAST: f64 = 0.2;

/// How to record.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Length of an epoch.
    pub epoch: Duration,
    /// Share of one core that clearing and scanning may use.
    pub budget: f64,
    /// Ends the recording; else it goes on until the target ends.
    pub limit: Option<Duration>,
}

impl Default for Options {
    fn default() -> Self {
        Self { epoch: Duration::from_secs(5), budget: 0.01, limit: None }
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
    census: Census,
    pieces: Vec<Piece>,
    /// What earlier epochs have seen of each unit.
    memory: Vec<Evidence>,
    costs: Costs,
    epoch: u32,
    census_ns: u64,
    started_ns: u64,
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
        let mut live = Live::new(observer.walker);
        live::hurry();
        let following = Following::start(target, &host)?;
        let started_ns = live.now();
        let mut recorder = Self {
            host,
            live,
            following,
            options,
            known: Vec::new(),
            spaces: 0,
            units: Units::default(),
            heat: HeatTable::default(),
            census: Census::default(),
            pieces: Vec::new(),
            memory: Vec::new(),
            costs: Costs::default(),
            epoch: 0,
            census_ns: 0,
            started_ns,
            last_cpu: Duration::ZERO,
        };
        let checked = recorder.check_permission();
        if let Err(error) = checked {
            recorder.following.terminate();
            return Err(error);
        }
        Ok(recorder)
    }

    /// Processes of the target that are alive now.
    #[must_use]
    pub fn processes(&self) -> usize {
        self.known.iter().filter(|known| known.alive).count()
    }

    /// Ends a command that the recorder started; does nothing to other targets.
    pub fn terminate(&mut self) {
        self.following.terminate();
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

    /// Brings the list of processes up to date.
    fn refresh(&mut self) -> Result<(), ScanError> {
        let pids = self.following.pids(&self.host);
        for known in &mut self.known {
            known.alive &= pids.contains(&known.pid);
        }
        for pid in pids {
            let known = self.known.iter().position(|known| known.pid == pid);
            if known.is_some_and(|i| self.known[i].alive) {
                continue;
            }
            let handles = match Followed::new(&self.live.walker, pid) {
                Ok(handles) => handles,
                Err(ScanError::Gone(_)) => continue,
                Err(error) => return Err(error),
            };
            let command = self.host.process(pid).map_or_else(|_| String::new(), |p| p.name);
            self.live.followed.push(handles);
            self.spaces += 1;
            self.known.push(Known {
                pid,
                command,
                space: self.spaces,
                alive: true,
                cpu: 0,
                cores: 0.0,
            });
        }
        Ok(())
    }

    /// Records one epoch. `stop` is asked now and then whether to end early.
    ///
    /// # Errors
    /// When the machine refuses; a target that ends is no error.
    pub fn epoch(
        &mut self,
        stop: &dyn Fn() -> bool,
    ) -> Result<(Option<EpochRecord>, Option<End>), ScanError> {
        let start_ns = self.live.now();
        let start_cpu = self.live.cpu();
        let length = self.options.epoch.as_nanos() as f64;
        let budget = length * self.options.budget;
        self.refresh()?;
        self.take_census(budget);
        let mut end_ns =
            start_ns + u64::try_from(self.options.epoch.as_nanos()).unwrap_or(u64::MAX);
        if let Some(limit) = self.options.limit {
            let limit = u64::try_from(limit.as_nanos()).unwrap_or(u64::MAX);
            end_ns = end_ns.min(self.started_ns.saturating_add(limit));
        }

        let used = (self.live.cpu() - start_cpu) as f64;
        let left = (budget - used).max(budget * 0.1);
        // The looks at the end of the epoch are paid for in advance.
        let last_looks = self.pieces.len() as f64 * self.costs.look_huge;
        let plan = Plan::fit(&self.pieces, &self.costs, left * FIRST_SHARE);
        let samples = self.samples(plan);
        let limits = Limits {
            end_ns,
            first_ns: whole(left * FIRST_SHARE * 1.3),
            total_ns: whole((left - last_looks).max(left * 0.5)),
        };
        let alive: Vec<Pid> = self.known.iter().filter(|k| k.alive).map(|k| k.pid).collect();
        let host = self.host.clone();
        let ended = std::cell::Cell::new((start_ns, false));
        let stop_or_ended = || {
            // Looking for a process that is gone costs a little: not at every turn.
            let (last, mut gone) = ended.get();
            let now = monotonic_ns();
            if now - last > 50_000_000 {
                gone = alive
                    .iter()
                    .all(|pid| host.process(*pid).map_or(true, |process| process.has_ended()));
                ended.set((now, gone));
            }
            gone || stop()
        };
        for process in 0..self.known.len() {
            self.known[process].cpu = self.live.target_cpu(process);
        }
        let cpu_from = self.live.now();
        let outcome =
            Bursts::new(&mut self.live, &self.pieces, samples, limits).run(&stop_or_ended);
        self.idle_until(end_ns, &outcome, &stop_or_ended);
        let cpu_seconds = (self.live.now() - cpu_from).max(1) as f32;
        for process in 0..self.known.len() {
            // A process that ended has no clock any more: what it had counts as if it went on.
            if let Some(used) = self.live.target_cpu(process).checked_sub(self.known[process].cpu) {
                self.known[process].cores = used as f32 / cpu_seconds;
            }
        }
        self.learn(&outcome.tally);
        let end_of_epoch = self.live.now();
        let record = self.record(&outcome, start_ns, end_of_epoch, start_cpu);
        for process in &outcome.lost {
            self.lose(*process);
        }

        let end = if self.following.ended(&self.host) {
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
        let short = ((end_of_epoch - start_ns) as f64) < SHORTEST_LAST * length;
        self.epoch += 1;
        Ok((Some(record).filter(|_| !(short && self.epoch > 1)), end))
    }

    /// With nothing to watch (not yet, or all gone) an epoch still lasts.
    fn idle_until(&mut self, end_ns: u64, outcome: &Outcome, stop: &dyn Fn() -> bool) {
        if !outcome.samples.is_empty() && outcome.lost.is_empty() {
            return;
        }
        while self.live.now() < end_ns && !stop() {
            let wake = (self.live.now() + 20_000_000).min(end_ns);
            self.live.wait_until(wake);
        }
    }

    /// A process ended or executes another program: its pieces are gone.
    fn lose(&mut self, process: usize) {
        self.pieces.retain(|piece| piece.process != process);
        // If it is still there it is met again as a new address space.
        self.known[process].alive = false;
    }

    /// Finds out what is resident, if it is time: a dear census is taken less often.
    fn take_census(&mut self, budget: f64) {
        let every = (self.census_ns as f64 / (budget * CENSUS_SHARE)).ceil().max(1.0);
        if self.epoch > 0 && !u64::from(self.epoch).is_multiple_of(whole(every)) {
            return;
        }
        let cpu = self.live.cpu();
        let before = std::mem::take(&mut self.pieces);
        let mut pieces = Vec::with_capacity(before.len() + before.len() / 8);
        for process in 0..self.known.len() {
            if !self.known[process].alive {
                continue;
            }
            let from = before.partition_point(|piece| piece.process < process);
            let to = before.partition_point(|piece| piece.process <= process);
            let known = &self.known[process];
            let subject = Subject {
                process,
                pid: known.pid,
                space: known.space,
                command: &known.command,
                epoch: EpochId(self.epoch),
            };
            let first = from == to;
            let at = pieces.len();
            let taken = self.census.take(
                &self.host,
                &mut self.live,
                &mut self.units,
                &subject,
                &before[from..to],
                &mut pieces,
            );
            match taken {
                Ok(same) if same || first => {}
                _ => {
                    // Gone, or another program: what was read belongs to nobody we know.
                    pieces.truncate(at);
                    self.known[process].alive = false;
                }
            }
        }
        let spent = self.live.cpu() - cpu;
        if !pieces.is_empty() {
            learn(&mut self.costs.census_piece, spent as f64 / pieces.len() as f64);
        }
        self.census_ns = spent;
        self.pieces = pieces;
        if self.epoch.is_multiple_of(RETRY_EPOCHS) {
            for piece in &mut self.pieces {
                piece.uncleared = false;
            }
        }
    }

    fn samples(&self, plan: Plan) -> Vec<Sample> {
        let watched = self
            .pieces
            .iter()
            .enumerate()
            .filter(|(i, piece)| !piece.uncleared && plan.watches(*i, self.epoch));
        watched
            .map(|(i, piece)| Sample::new(i, plan.window_of(piece, i, self.epoch), piece))
            .collect()
    }

    fn learn(&mut self, tally: &Tally) {
        tracing::debug!(epoch = self.epoch, ?tally, costs = ?self.costs);
        let per = |cost: u64, count: u64| cost as f64 / count as f64;
        if tally.cleared_pages > 4 * tally.cleared_huge * 16 {
            learn(&mut self.costs.clear_page, per(tally.clear_ns, tally.cleared_pages));
        } else {
            learn(&mut self.costs.clear_huge, per(tally.clear_ns, tally.cleared_huge));
        }
        if tally.looked_tables > tally.looked_huge {
            learn(&mut self.costs.look_table, per(tally.look_ns, tally.looked_tables));
        } else {
            learn(&mut self.costs.look_huge, per(tally.look_ns, tally.looked_huge));
        }
    }

    /// Turns what was seen into heat, and the epoch into its record.
    fn record(
        &mut self,
        outcome: &Outcome,
        start_ns: u64,
        end_ns: u64,
        start_cpu: u64,
    ) -> EpochRecord {
        let mut checks = SHARED_CHECKS;
        let mut watched_pages = 0;
        self.heat.begin(self.units.len());
        self.memory.resize(self.units.len(), Evidence::default());
        let mut samples: Vec<Option<&Sample>> = vec![None; self.pieces.len()];
        let lost = |piece: &Piece| outcome.lost.contains(&piece.process);
        for sample in &outcome.samples {
            samples[sample.piece] = Some(sample);
        }
        for (piece, sample) in self.pieces.iter_mut().zip(samples) {
            if lost(piece) {
                continue;
            }
            if let Some(sample) = sample.filter(|sample| sample.watched && sample.present > 0) {
                let pages = f32::from(piece.weight(piece.present));
                tracing::trace!(epoch = self.epoch, unit = piece.unit.0, evidence = ?sample.evidence);
                piece.saturated = false;
                match self.memory[piece.unit.index()].learn(&sample.evidence, !piece.huge) {
                    Estimate::Rate(rate) => piece.rate = Some(rate * pages),
                    Estimate::AtLeast(rate) => {
                        piece.rate = Some(rate * pages);
                        piece.saturated = true;
                    }
                    Estimate::Unseen => piece.rate = Some(0.0),
                    Estimate::Nothing => {}
                }
                if piece.saturated && checks > 0 {
                    checks -= 1;
                    let pid = self.known[piece.process].pid;
                    piece.uncleared =
                        exclusive_share(pid, piece.range).is_ok_and(|share| share < 0.5);
                }
                watched_pages += u64::from(sample.present);
            }
            if sample.is_some_and(|sample| sample.refused) {
                piece.uncleared = true;
            }
            self.heat.add(piece, sample, self.known[piece.process].cores);
        }
        let heat = self.heat.finish(EpochId(self.epoch));
        let pages: u64 = heat.pages.iter().map(|pages| u64::from(*pages)).sum();
        let pids: Vec<Pid> = self.known.iter().filter(|k| k.alive).map(|k| k.pid).collect();
        let cpu = self.host.cpu_of(&pids);
        let tally = &outcome.tally;
        let seconds = |ns: u64| ns as f64 * 1e-9;
        let epoch = Epoch {
            epoch: EpochId(self.epoch),
            start_s: seconds(start_ns - self.started_ns),
            length_s: seconds(end_ns - start_ns),
            processes: u32::try_from(pids.len()).unwrap_or(u32::MAX),
            target_cpu_s: cpu.saturating_sub(self.last_cpu).as_secs_f64(),
            clear_s: seconds(tally.clear_ns),
            scan_s: seconds(tally.look_ns + self.census_ns),
            recorder_s: seconds(self.live.cpu() - start_cpu),
            longest_clear_s: seconds(tally.longest_clear_ns),
            watched_share: (watched_pages as f64 / pages.max(1) as f64).min(1.0),
            uncleared_bytes: self.heat.uncleared_pages() << 12,
            stall_share: None,
        };
        self.last_cpu = cpu;
        EpochRecord {
            epoch,
            new_units: std::mem::take(&mut self.units.new_units),
            new_areas: std::mem::take(&mut self.units.new_areas),
            heat,
        }
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
fn whole(value: f64) -> u64 {
    value as u64
}
