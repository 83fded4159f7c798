//! Policies: which units belong in fast memory. One file per policy (`policies/`), one line each
//! in the registry. Governors: whether anything of a process moves at all, one file each as well
//! (`governors/`). The core that turns an order into a placement and moves is `select`; the access
//! history that policies share is `access_history`, the order `priority_order`; a `tenant` holds it
//! all. No I/O, no clock, no unsafe.

#![forbid(unsafe_code)]

mod access_history;
mod amp_pages;
mod births;
mod by_history;
mod channel;
mod cost_benefit;
mod decider;
mod governors;
mod interval_history;
mod limit;
mod may_bring;
mod options;
mod period;
mod policies;
mod policy;
mod population;
mod priority_order;
mod process;
mod processes;
mod recent_moves;
mod registry;
mod select;
mod shadow;
mod spec;
mod tenant;

pub use access_history::{AccessHistory, Known, observed};
pub use cost_benefit::CostBenefit;
pub use decider::{Decider, Now};
pub use governors::{
    Balance, Counters, Entries, GOVERNORS, Governor, GovernorInfo, GovernorSpec, Governors,
    Verdict, Watch,
};
pub use limit::{Chosen, Limits, apply_limits};
pub use options::{Kind, OptionInfo, Owner, PolicyOptions, SpecError};
pub use policy::{
    Birth, Class, EpochView, FigureInfo, Fixed, Needs, Observation, Placement, Policy, PolicyInfo,
    RankPolicy,
};
pub use priority_order::PriorityOrder;
pub use processes::Change;
pub use registry::{PolicySpec, REGISTRY};
pub use select::{Moves, moves};
pub use spec::{Entry, Spec};
pub use tenant::{Decision, Glance, Here, Outcome, Places, Room, Tenant};
