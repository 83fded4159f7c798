//! One target, epoch by epoch: observe, decide, move; at first what was decided moves while the next epoch is observed.

mod decide;
mod glance;
mod orders;

use crate::ahead::Ahead;
use crate::assumed::Assumed;
use crate::meanwhile;
use crate::page_cache::PageCache;
use crate::place::Layout;
use crate::{Budget, EpochLine, Summary, Tiers, Tracker, Watched};
use glance::Whole;
use nix::time::{ClockId, clock_gettime};
use pagetide_migrate::{Amount, BackOff, Background, Kernel, Mover, Refusal, Report, Round};
use pagetide_policy::{CostBenefit, Decider, Governors, Outcome, PolicySpec, Tenant};
use pagetide_scan::{End, Meanwhile, Place, ScanError};
use pagetide_trace::EpochRecord;
use pagetide_types::{Bytes, EpochHeat, MayBring, UnitId};
use std::time::Duration;

/// How a target is managed.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The policy.
    pub policy: PolicySpec,
    /// How much fast memory.
    pub budget: Budget,
    /// What moves cost and bring; none: every one is worth it.
    pub cost_benefit: Option<CostBenefit>,
    /// Decide, and move nothing.
    pub dry_run: bool,
    /// What is managed, for the summary.
    pub target: String,
}

/// Says what the tiers are now; none: as before.
pub type Follow = Box<dyn FnMut() -> Option<Tiers>>;

/// The loop of one target. Call [`Manager::epoch`] until it says that it ended.
pub struct Manager<T, K> {
    tracker: T,
    moving: Background<K>,
    /// One for each order of the last decision, and until the next one what became of it.
    ordered: Vec<Outcome>,
    /// Units that went down only for what will be born, or up only for what leaves, ascending: what that brings no
    /// governor sees, so it is not to see what it costs.
    off_books: Vec<UnitId>,
    tiers: Tiers,
    follow: Option<Follow>,
    settings: Settings,
    tenant: Tenant,
    /// Units that refused to move.
    refused: BackOff<UnitId>,
    /// By unit, whether it was watched in some epoch.
    known: Vec<bool>,
    /// What was never watched, as of the last epoch.
    unknown: Bytes,
    /// Seconds a second that the best placement would bring, as of the last decision.
    may_bring: Option<MayBring>,
    /// Processes that are watched sparsely, ascending.
    sparse: Vec<u32>,
    assumed: Assumed,
    ahead: Ahead,
    page_cache: PageCache,
    /// The last announcement for which what could be done is done.
    heeded: Option<u64>,
    /// More was to go up for what is about to leave than may move at once.
    later: bool,
    /// Whether pages moved since it was looked where they lie.
    moved: bool,
    /// The last epoch.
    record: Option<EpochRecord>,
    /// When the last epoch ended by which was decided, and the last one of which governors were asked, by its clock.
    decided_s: f64,
    asked_s: f64,
    whole: Whole,
    /// CPU time of this program by then.
    cpu: Duration,
    summary: Summary,
}

/// Where so large a part of what may be fast is to go up that was not before, the target is not known yet or has changed:
/// it is looked at again soon. So large a part of its memory is much to be unknown, too.
const MUCH: f64 = 0.1;

/// The recorder visits so much memory together at most.
const VISITED: Bytes = Bytes::mib(2);

/// CPU time of this program's threads, or of this one.
fn cpu_time(of: ClockId) -> Duration {
    clock_gettime(of).map_or(Duration::ZERO, Duration::from)
}

const PROGRAM: ClockId = ClockId::CLOCK_PROCESS_CPUTIME_ID;
const THREAD: ClockId = ClockId::CLOCK_THREAD_CPUTIME_ID;

/// Moves, for who watches meanwhile.
struct Moves<'a, K>(&'a mut Background<K>);

impl<K: Kernel + Send + 'static> Meanwhile for Moves<'_, K> {
    fn begin(&mut self) {
        self.0.begin();
    }

    fn cpu_ns(&self) -> u64 {
        self.0.cpu_ns()
    }
}

impl<T: Tracker, K: Kernel + Send + 'static> Manager<T, K> {
    /// A loop that has seen no epoch.
    pub fn new(
        tracker: T,
        mover: Mover<K>,
        tiers: Tiers,
        governors: Governors,
        settings: Settings,
    ) -> Self {
        let mut summary = Summary {
            target: settings.target.clone(),
            policy: settings.policy.to_string(),
            governor: governors.name().to_owned(),
            dry_run: settings.dry_run,
            ..Summary::default()
        };
        summary.is_of(&tiers);
        let decider = Decider::new(&settings.policy);
        Self {
            tenant: Tenant::new(decider, governors, settings.cost_benefit),
            tracker,
            ordered: Vec::new(),
            off_books: Vec::new(),
            tiers,
            follow: None,
            settings,
            refused: BackOff::default(),
            known: Vec::new(),
            unknown: Bytes(u64::MAX),
            may_bring: None,
            sparse: Vec::new(),
            assumed: Assumed::default(),
            ahead: Ahead::default(),
            page_cache: PageCache::new(mover.kernel().reads()),
            moving: Background::new(mover),
            heeded: None,
            later: false,
            moved: false,
            record: None,
            decided_s: 0.0,
            asked_s: 0.0,
            whole: Whole::default(),
            cpu: cpu_time(PROGRAM),
            summary,
        }
    }

    /// With tiers that come and go, which are asked for after each epoch.
    #[must_use]
    pub fn following(mut self, follow: Follow) -> Self {
        self.follow = Some(follow);
        self
    }

    /// Observes for an epoch, decides at its end, and moves. As long as the target's memory is visited for the first time,
    /// what was decided moves while the next epoch is observed, and what has not moved when that ends is decided on again:
    /// other pages are visited than move. Later nothing is observed while pages move, for of a page under way the accessed bit
    /// cannot be cleared. `stop` is asked now and then whether to end early; pages under way arrive.
    ///
    /// # Errors
    /// When the machine refuses to be observed; a target that ends, and pages that refuse to move,
    /// are no errors.
    pub fn epoch(
        &mut self,
        stop: &(dyn Fn() -> bool + Sync),
    ) -> Result<(Option<EpochLine>, Option<End>), ScanError> {
        let moved = std::mem::take(&mut self.moved);
        let Self { tracker, moving, .. } = self;
        let mut watched = tracker.epoch(&|| stop(), moved, &mut Moves(moving));
        // Also where watching failed.
        let round = self.moving.end();
        let began = round.as_ref().and(watched.as_ref().ok()).map(|watched| watched.places.clone());
        let mut moves = round.map(|round| {
            let places = watched.as_mut().map(|watched| &mut watched.places[..]);
            self.take_in(round, places.unwrap_or_default())
        });
        let Watched { record, places, glance, changed, end } = watched?;
        if changed {
            self.tenant.changed();
        }
        let Some(record) = record else { return Ok((None, end)) };
        let decides_from = cpu_time(THREAD);
        let tiers_changed = self.follow_tiers();
        let layout = Layout::new(places, &record.heat, &self.tiers);
        let differs = changed || tiers_changed;
        if let Some(resident) = glance {
            let mut line = self.glance(&record, &layout, (resident, differs));
            self.tracker.decided(cpu_time(THREAD).saturating_sub(decides_from));
            self.tell(&mut line, tiers_changed);
            return Ok((Some(line), end));
        }
        let began = began.map(|places| Layout::new(places, &record.heat, &self.tiers));
        let mut line = self.act(&record, (began.as_ref(), &layout), end.is_some());
        self.tracker.decided(cpu_time(THREAD).saturating_sub(decides_from));
        let goes_on = self.visits_go_on(&record.heat);
        let known = self.unknown.as_f64() <= MUCH * record.heat.resident().as_f64();
        tracing::debug!(may_bring = ?self.may_bring, known);
        // Who is watched sparsely has little already, and what waits for the next decision is not to wait for long.
        let waits = self.later || self.tiers.leaving.is_some() || line.room_for_births.0 > 0;
        let holds = known && self.sparse.is_empty() && !waits;
        self.tracker.may_bring(self.may_bring.filter(|_| holds));
        // What moves while the next epoch is observed is not done.
        let mut done = !self.later;
        if goes_on {
            done &= !self.moving.is_ordered();
        } else if let Some(round) = self.moving.run(stop) {
            let report = self.take_in(round, &mut []);
            if !report.refused(Refusal::OutOfTime).is_zero() {
                self.tracker.hurry();
                done = false;
            }
            moves.get_or_insert_default().add(&report);
        }
        if let (true, Some(leaving)) = (done, self.tiers.leaving) {
            self.heeded = Some(leaving.number);
        }
        line.moves = moves;
        let glances = self.may_glance(&line, differs);
        self.tracker.glances(glances);
        self.tell(&mut line, tiers_changed);
        self.record = Some(record);
        Ok((Some(line), end))
    }

    /// An epoch is over.
    fn tell(&mut self, line: &mut EpochLine, tiers_changed: bool) {
        line.tiers = tiers_changed.then(|| self.tiers.describe());
        let before = std::mem::replace(&mut self.cpu, cpu_time(PROGRAM));
        line.cpu_s = self.cpu.saturating_sub(before).as_secs_f64();
        self.summary.add(line);
    }

    /// Whether much was never watched, and the last epoch watched some of that.
    fn visits_go_on(&mut self, heat: &EpochHeat) -> bool {
        let is_known = |row: &usize| self.known.get(heat.unit[*row].index()) == Some(&true);
        let unknown: Bytes =
            (0..heat.len()).filter(|row| !is_known(row)).map(|row| heat.bytes(row)).sum();
        let before = std::mem::replace(&mut self.unknown, unknown);
        unknown.as_f64() > MUCH * heat.resident().as_f64()
            && unknown.as_f64() < (1.0 - MUCH) * before.as_f64()
    }

    /// A round of moves is over. `places`: as they were before it.
    fn take_in(&mut self, round: Round, places: &mut [Place]) -> Report {
        meanwhile::put(places, &round, &self.ordered);
        self.ordered = meanwhile::outcomes(&round, std::mem::take(&mut self.ordered));
        for (outcome, order) in self.ordered.iter().zip(&round.report.orders) {
            if order.moved > 0 {
                self.refused.obeyed(&outcome.unit);
            } else if order.refused > 0 {
                self.refused.refused(outcome.unit);
            }
        }
        let report = &round.report;
        let (mut moved, mut refused) = (report.moved(), Amount::default());
        moved += report.moved_back;
        let tried = report.refused.iter().filter(|(why, _)| why.is_of_the_page());
        tried.for_each(|(_, amount)| refused += *amount);
        if refused.bytes() < moved.bytes() {
            // Else most of it went into asking.
            self.tenant.moves_took(moved.base_pages, moved.huge_pages, report.cpu_ns as f64 * 1e-9);
        }
        self.page_cache.went(report.cache_given_up, report.cache_refused);
        let off_books = |unit: &UnitId| self.off_books.binary_search(unit).is_ok();
        let booked = self.ordered.iter().filter(|outcome| !off_books(&outcome.unit));
        // Room for the reserve alone is borne by nobody.
        let up = report.promoted.bytes().as_f64();
        let room_s = if up > 0.0 { report.making_room_ns as f64 * 1e-9 / up } else { 0.0 };
        self.tenant.learn(booked.copied(), room_s);
        self.moved = true;
        self.summary.promoted_then_demoted = self.tenant.promoted_then_demoted();
        self.summary.moves.add(&round.report);
        round.report
    }

    /// Takes the tiers as they are now; whether that is another machine than before.
    fn follow_tiers(&mut self) -> bool {
        let Some(now) = self.follow.as_mut().and_then(|follow| follow()) else { return false };
        let changed = !now.are(&self.tiers);
        if changed && !now.slow.is_empty() {
            self.summary.is_of(&now);
        }
        self.tiers = now;
        changed
    }

    /// The last announcement of memory that leaves ([`Tiers::leaving`]) for which what could be done is done.
    #[must_use]
    pub fn heeded(&self) -> Option<u64> {
        self.heeded
    }

    /// What the last epoch saw, once.
    pub fn take_record(&mut self) -> Option<EpochRecord> {
        self.record.take()
    }

    /// What happened so far.
    #[must_use]
    pub fn summary(&self) -> &Summary {
        &self.summary
    }

    /// Adds what is to be said of how it was watched.
    pub fn note(&mut self, notes: Vec<String>) {
        self.summary.notes = notes;
    }

    /// The tracker.
    pub fn tracker(&mut self) -> &mut T {
        &mut self.tracker
    }
}
