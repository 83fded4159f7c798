//! The recorder: epoch by epoch, which processes belong to the target, what of their memory is
//! resident, how hot it is, and what it cost to find out.

mod births;
mod clear_shared;
mod counters;
mod draw;
mod epoch;
pub(crate) mod heat;
mod options;
mod pace;
mod places;
mod record;
mod resident;
mod sparse;
mod stalled_cycles;
mod used_cpu;
mod worth;

pub use options::{Options, SinglePages};
pub use places::Place;

use crate::bits::eyes::Eyes;
use crate::bits::madv_cold::Live;
use crate::error::ScanError;
use crate::observer::{Observer, REMEMBERED};
use crate::pages::PageHeat;
use crate::recorder::births::Births;
use crate::recorder::heat::HeatTable;
use crate::recorder::stalled_cycles::Stalls;
use crate::recorder::used_cpu::UsedCpu;
use crate::recorder::worth::Worth;
use crate::survey::change::LastVisits;
use crate::survey::estimate::Estimator;
use crate::target::claims::Claims;
use crate::target::follow::{Following, Target};
use crate::target::region::Region;
use crate::target::resident_set::ResidentSet;
use crate::target::units::Units;
use pagetide_host::Host;
use pagetide_trace::EpochRecord;
use pagetide_types::{Bytes, MayBring, Patience, Pid};
use std::hash::RandomState;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::Duration;

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
    births: Births,
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
    /// CPU time that the last epoch took to turn what was seen into a record and to write it, and the one before.
    ending_ns: [u64; 2],
    /// Only what is visited is to have rows, and whether that was so in the last epoch.
    glances: bool,
    glanced: bool,
    /// CPU time that the caller took to decide after it, and after the one before.
    deciding: [Duration; 2],
    /// How long it was.
    length: Duration,
    worth: Worth,
    /// CPU time that was spent ahead and is to be saved, ns.
    owed_ns: f64,
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
    /// The last epoch saw the target change.
    has_changed: bool,
    /// What tells that the target has changed.
    last_visits: LastVisits,
    /// Whether an epoch ends early where it has.
    patience: Patience,
    started_ns: u64,
    /// It was started by the recorder.
    began_with_target: bool,
    used_cpu: UsedCpu,
    /// The epoch in which what cannot be cleared was looked up again last.
    retried: u32,
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
            births: Births::default(),
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
            ending_ns: [0; 2],
            glances: false,
            glanced: false,
            deciding: [Duration::ZERO; 2],
            length: Duration::ZERO,
            worth: Worth::default(),
            owed_ns: 0.0,
            crowded: 0,
            most,
            unwatched: 0,
            claims: Claims::on(Path::new(REMEMBERED)),
            watched_twice: 0,
            cpu_s: (0.0, 0.0),
            moved: false,
            hurried: false,
            has_changed: false,
            last_visits: LastVisits::default(),
            patience: Patience::default(),
            started_ns,
            began_with_target: matches!(target, Target::Command(_)),
            used_cpu: UsedCpu::default(),
            retried: 0,
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
        self.worth = Worth::default();
        if self.options.opening.is_some() && self.epoch > 1 {
            self.regions.iter_mut().for_each(|region| region.outdated = true);
        }
    }

    /// Whether the last epoch saw the target change.
    #[must_use]
    pub fn has_changed(&self) -> bool {
        self.has_changed
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

    /// Watching may bring so much, as far as the caller knows (none: nobody does). It takes no more than that is worth, but for
    /// a tenth of the budget, where it is to be [`Options::thrifty`] and the target has been the same for some epochs. Who
    /// pauses does not promise less at once.
    pub fn may_bring(&mut self, may_bring: Option<MayBring>) {
        self.worth.told(may_bring, self.length);
    }

    /// The caller took so much CPU time to decide by the last epoch, which is part of the budget of the next. Where it is much
    /// of it, and the first epochs are short ([`Options::opening`]), later ones are longer than usual.
    pub fn decided(&mut self, cpu: Duration) {
        self.deciding = [cpu, self.deciding[0]];
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
        self.epoch > 1 && 2 * self.crowded > self.epoch
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
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
fn whole(value: f64) -> u64 {
    value as u64
}
