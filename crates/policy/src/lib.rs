//! Policies: which units belong in fast memory. One file per policy (`policies/`), one line each
//! in the registry. The core that turns an order into a placement and moves is `select`; the
//! memory of past epochs that policies share is `book`. No I/O, no clock, no unsafe.

mod amp_pages;
mod book;
mod by_history;
mod decider;
mod interval_history;
mod limit;
mod noise;
mod octaves;
mod options;
mod period;
mod policies;
mod policy;
mod population;
mod registry;
mod select;
mod shadow;
mod slots;

pub use book::{Known, UnitBook, observed};
pub use decider::{Decider, Now};
pub use limit::{Chosen, Limits, Worth, within};
pub use options::{OptionInfo, PolicyOptions, SpecError};
pub use policy::{
    Class, EpochView, FigureInfo, Fixed, Needs, Observation, Placement, Policy, PolicyInfo,
    RankPolicy,
};
pub use registry::{PolicySpec, REGISTRY};
pub use select::{Moves, moves};
pub use slots::Slots;
