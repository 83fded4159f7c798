//! Replays heat recordings through policies at every capacity; the machine and cost models that
//! `pagetide plan` stands on. Touches no host.

mod advice;
mod areas;
mod cost;
mod curve;
mod heatmap;
mod machine;
mod plan;
mod recommend;
mod split;
mod text;
mod warmup;

pub use advice::{Advice, AdviceKind};
pub use cost::{Band, CORE_ACCESSES_PER_S, CostFacts, CostModel, MEMORY_SHARE};
pub use curve::Curve;
pub use heatmap::{AreaHeat, Heatmap, HeatmapBuilder, HeatmapRow};
pub use machine::{Machine, MachineError, Migration, Tier};
pub use plan::{
    PLAN_SCHEMA_VERSION, Plan, PlanInput, PlanOptions, Point, PolicyCurve, PolicyPlan,
    RecordingFacts, Role, knee, plan,
};
pub use recommend::{Certainty, OtherTargets, Recommendation};
pub use split::{Part, Sharer, Split, Weighting, split};
pub use text::percent;
pub use warmup::{WarmUp, find_warm_up};
