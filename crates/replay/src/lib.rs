//! Replays heat recordings through policies at every capacity; the cost model and the
//! answers of `pagetide plan`. Touches no host.

mod advice;
mod answer;
mod cost;
mod cpu_cache;
mod curve_cost;
mod curves;
mod interval;
mod move_cost;
mod pictures;
mod queue;
mod recommend;
mod recording;
mod split;
mod text;

pub use advice::{Advice, AdviceKind};
pub use answer::{
    Choice, Decisions, Figure, HotSet, PLAN_SCHEMA_VERSION, Plan, PlanError, PlanInput,
    PlanOptions, Point, PolicyCurve, PolicyPlan, RecordingFacts, Role, all_policies, knee, plan,
    plan_recording,
};
pub use cost::{Band, CORE_ACCESSES_PER_S, Charge, CostFacts, CostModel, MEMORY_SHARE};
pub use cpu_cache::CpuCache;
pub use curve_cost::CurveCost;
pub use curves::{
    AtCapacity, ByEpoch, Curve, EpochResult, NaiveReplay, Replay, ReplayError, ReplayOptions,
    Replayed, Stretch, Told, Traffic, epochs_at, replay, replay_at,
};
pub use interval::{EpochHits, Interval, Replicates};
pub use pictures::{
    Gap, HeatColumn, HeatPicture, PictureArea, PictureRow, Pictures, RankedRates, RateStep,
    Timeline, TimelinePoint,
};
pub use recommend::{Certainty, LEAST_EPOCHS, OtherTargets, Recommendation};
pub use recording::{
    AreaHeat, Heatmap, HeatmapBuilder, HeatmapRow, Overview, WarmUp, find_warm_up, not_judged,
};
pub use split::{Part, Share, Sharer, Split, Weighting, split};
pub use text::{percent, percent_exactly};
