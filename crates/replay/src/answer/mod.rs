//! The plan: from a recording to what `pagetide plan` answers.

mod advice;
mod confirm;
mod decisions;
mod facts;
mod interval;
mod knee;
mod next_step;
mod plan;
mod plan_recording;
mod recommend;
mod said;
mod sentence;
mod split;
mod stands_on;

pub use advice::{Advice, AdviceKind};
pub use decisions::{Choice, Decisions, Figure};
pub use facts::{RecordingFacts, much_is_unknown, unknown_heat, unmapped_memory};
pub use interval::{EpochHits, Interval, Replicates};
pub use knee::knee;
pub use next_step::{NextStep, next_step};
pub use plan::{
    HotSet, PLAN_SCHEMA_VERSION, Plan, PlanInput, PlanOptions, Point, PolicyCurve, PolicyPlan,
    Role, plan,
};
pub use plan_recording::{PlanError, all_policies, plan_recording};
pub use recommend::{Certainty, LEAST_EPOCHS, LEAST_SECONDS, OtherTargets, Recommendation};
pub use said::Said;
pub use sentence::{percent, percent_exactly, percents};
pub use split::{Offer, Part, Share, Sharer, Split, Weighting, split};
