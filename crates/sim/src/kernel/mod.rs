//! A small kernel under the simulated systems, after Linux: nodes with watermarks, first touch that
//! spills, lists of pages by age. A model on which every system stands, not a helper of one.

mod first_touch;
mod lists;
mod nodes;
mod units;

pub use first_touch::{FirstTouch, Share};
pub use lists::{Kind, Lists};
pub use nodes::{Node, Nodes, Watermarks};
pub use units::Units;
