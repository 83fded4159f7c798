//! Replays heat recordings through policies at every capacity; the cost model and the
//! answers of `pagetide plan`. Touches no host.

mod advice;
mod areas;
mod by_epoch;
mod cost;
mod cpu_cache;
mod curve;
mod curve_cost;
mod decisions;
mod demand;
mod entry;
mod evaluation;
mod facts;
mod grid;
mod heatmap;
mod interval;
mod knee;
mod lane;
mod move_cost;
mod naive;
mod per_capacity;
mod per_epoch;
mod pictures;
mod plan;
mod plan_recording;
mod population;
mod queue;
mod radix;
mod recommend;
mod repair;
mod sample;
mod split;
mod stack;
mod stream;
mod tally;
mod text;
mod warmup;

pub use advice::{Advice, AdviceKind};
pub use by_epoch::{ByEpoch, Stretch, Traffic};
pub use cost::{Band, CORE_ACCESSES_PER_S, Charge, CostFacts, CostModel, MEMORY_SHARE};
pub use cpu_cache::CpuCache;
pub use curve::{Curve, Replayed, Told};
pub use curve_cost::CurveCost;
pub use decisions::{Choice, Decisions, Figure};
pub use facts::Overview;
pub use heatmap::{AreaHeat, Heatmap, HeatmapBuilder, HeatmapRow};
pub use interval::{EpochHits, Interval, Replicates};
pub use knee::knee;
pub use naive::{AtCapacity, NaiveReplay, replay_at};
pub use per_epoch::{EpochResult, epochs_at};
pub use pictures::{
    Gap, HeatColumn, HeatPicture, PictureArea, PictureRow, Pictures, RankedRates, RateStep,
    Timeline, TimelinePoint,
};
pub use plan::{
    HotSet, PLAN_SCHEMA_VERSION, Plan, PlanInput, PlanOptions, Point, PolicyCurve, PolicyPlan,
    RecordingFacts, Role, plan,
};
pub use plan_recording::{PlanError, all_policies, plan_recording};
pub use recommend::{Certainty, LEAST_EPOCHS, OtherTargets, Recommendation};
pub use split::{Part, Share, Sharer, Split, Weighting, split};
pub use stack::{Replay, ReplayError, ReplayOptions, replay};
pub use text::{percent, percent_exactly};
pub use warmup::{WarmUp, find_warm_up, not_judged};
