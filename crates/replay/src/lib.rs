//! Replays heat recordings through policies at every capacity; the cost model and the
//! answers of `pagetide plan`. Touches no host.

#![forbid(unsafe_code)]

mod answer;
mod cost;
mod cpu_cache;
mod curves;
mod pictures;
mod recording;

pub use answer::{
    Advice, AdviceKind, Certainty, Choice, Decisions, EpochHits, Figure, HotSet, Interval,
    LEAST_EPOCHS, LEAST_SECONDS, NextStep, Offer, OtherTargets, PLAN_SCHEMA_VERSION, Part, Plan,
    PlanError, PlanInput, PlanOptions, Point, PolicyCurve, PolicyPlan, Recommendation,
    RecordingFacts, Replicates, Role, Said, Share, Sharer, Split, Weighting, all_policies, knee,
    much_is_unknown, next_step, percent, percent_exactly, percents, plan, plan_recording, split,
    unknown_heat, unmapped_memory,
};
pub use cost::{Band, CORE_ACCESSES_PER_S, Charge, CostFacts, CostModel, CurveCost, MEMORY_SHARE};
pub use cpu_cache::CpuCache;
pub use curves::{
    AtCapacity, ByEpoch, Curve, EpochResult, Replay, ReplayError, ReplayOptions, Replayed, Stretch,
    Told, Traffic, epochs_at, replay, replay_at,
};
pub use pictures::{
    Gap, HeatColumn, HeatPicture, PictureArea, PictureRow, Pictures, RankedRates, RateStep,
    Timeline, TimelinePoint,
};
pub use recording::{
    AreaHeat, Heatmap, HeatmapBuilder, HeatmapRow, Overview, WarmUp, find_warm_up, not_judged,
};
