//! The plan: from a recording to what `pagetide plan` answers.

mod decisions;
mod knee;
mod plan;
mod plan_recording;

pub use decisions::{Choice, Decisions, Figure};
pub use knee::knee;
pub use plan::{
    HotSet, PLAN_SCHEMA_VERSION, Plan, PlanInput, PlanOptions, Point, PolicyCurve, PolicyPlan,
    RecordingFacts, Role, plan,
};
pub use plan_recording::{PlanError, all_policies, plan_recording};
