//! What a page draws beside the plan: heat over address and time as finely as a screen shows it,
//! rates by rank, and what happened from epoch to epoch. Everything is summed up in bounded room,
//! and says at which resolution; nothing is left out.

mod heat;
mod rates;
mod timeline;

pub use heat::{HeatColumn, HeatPicture, PictureArea, PictureRow};
pub use rates::{RankedRates, RateStep};
pub use timeline::{Gap, Timeline, TimelinePoint};

use crate::curves::Evaluation;
use crate::curves::NaiveReplay;
use crate::{CpuCache, HeatmapBuilder, Plan, PlanError, ReplayError};
use pagetide_policy::PolicySpec;
use pagetide_trace::{EpochRecord, Recording, epoch_times};
use pagetide_types::EpochHeat;
use serde::Serialize;

/// Columns of the heat picture at most; half of it at least where there are as many epochs.
const COLUMNS: usize = 240;
/// Rows of the heat picture, about.
const ROWS: usize = 240;

/// What a page draws beside the plan.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Pictures {
    /// Heat over address and time.
    pub heat: HeatPicture,
    /// Rates by rank.
    pub rates: RankedRates,
    /// From epoch to epoch.
    pub timeline: Timeline,
}

impl Pictures {
    /// Reads the recording once more, with the recommended policy at the recommended size, if
    /// there is one.
    ///
    /// # Errors
    /// A recording that cannot be read, or whose epochs have no proper length.
    pub fn read(recording: &Recording, plan: &Plan) -> Result<Self, PlanError> {
        let mut gathering = Gathering::new(recording, plan);
        let cache = CpuCache::of(&plan.machine);
        for record in recording.records() {
            let mut record = record?;
            let length_s = record.epoch.length_s;
            if !length_s.is_finite() || length_s < 0.0 {
                let name = recording.path().display().to_string();
                let source = ReplayError::Length { epoch: gathering.seen, length_s };
                return Err(PlanError::Replay { name, source });
            }
            cache.filter_epoch(&mut record.heat, &record.epoch);
            gathering.push(record);
        }
        Ok(gathering.finish())
    }
}

/// The pictures under way.
struct Gathering<'a> {
    plan: &'a Plan,
    times: Vec<(f64, f64)>,
    heat: HeatmapBuilder,
    rates: rates::Gather,
    timeline: timeline::Gather,
    placement: Option<NaiveReplay>,
    evaluation: Evaluation,
    /// The epoch before with its length: decided on when there is a next one.
    held: Option<(EpochHeat, f64)>,
    seen: usize,
}

impl<'a> Gathering<'a> {
    fn new(recording: &Recording, plan: &'a Plan) -> Self {
        let epochs = recording.epochs();
        let answer = plan.recommendation.as_ref();
        let spec = answer.and_then(|answer| answer.policy.parse::<PolicySpec>().ok());
        let placement =
            spec.zip(answer).map(|(spec, answer)| NaiveReplay::new(&spec, answer.fast_bytes));
        Self {
            plan,
            times: epoch_times(epochs),
            heat: HeatmapBuilder::with_columns(COLUMNS),
            rates: rates::Gather::default(),
            timeline: timeline::Gather::new(epochs, placement.is_some()),
            placement,
            evaluation: Evaluation::new(plan.warm_up.epochs, !recording.header().began_with_target),
            held: None,
            seen: 0,
        }
    }

    fn push(&mut self, record: EpochRecord) {
        self.heat.push(&record);
        let (heat, epoch) = (&record.heat, &record.epoch);
        if self.seen >= self.plan.warm_up.epochs {
            self.rates.push(heat, epoch.length_s);
        }
        let mut point = TimelinePoint::of(epoch, heat, self.times[self.seen]);
        self.place(record.heat, record.epoch.length_s, &mut point);
        self.timeline.push(point);
        self.seen += 1;
    }

    /// Lives through an epoch with the recommended policy, as the plan did.
    fn place(&mut self, heat: EpochHeat, length_s: f64, point: &mut TimelinePoint) {
        let Some(replay) = &mut self.placement else { return };
        if let Some((before, length_s)) = self.held.take() {
            let cue = self.evaluation.cue(self.seen - 1);
            let moves = replay.decide(&before, length_s, cue.free_moves);
            if cue.counts {
                point.moved(&moves, &before);
            }
        }
        let (fast, pushed) = replay.arrive(&heat);
        let cue = self.evaluation.cue(self.seen);
        if cue.counts {
            point.placed(&heat, &fast, length_s);
        }
        if cue.counts && !cue.begins {
            point.moved(&pushed, &heat);
        }
        self.held = Some((heat, length_s));
    }

    fn finish(self) -> Pictures {
        Pictures {
            heat: heat::picture(self.heat, &self.times, ROWS, self.plan),
            rates: self.rates.finish(),
            timeline: self.timeline.finish(),
        }
    }
}
