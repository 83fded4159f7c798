//! What a placement costs: the model of docs/cost.md, on a machine of `pagetide_machine`.

mod curve_cost;
mod model;
mod move_cost;
mod queue;

pub use curve_cost::CurveCost;
pub(crate) use model::Reading;
pub use model::{Band, CORE_ACCESSES_PER_S, Charge, CostFacts, CostModel, MEMORY_SHARE};
