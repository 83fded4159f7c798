//! A recording as a whole: what is known of it before any policy is tried.

mod areas;
mod heatmap;
mod overview;
pub(crate) mod regions;
mod unmapped;
mod warm_up;

pub use heatmap::{AreaHeat, Heatmap, HeatmapBuilder, HeatmapRow};
pub(crate) use heatmap::{Cell, Part, whole_bytes};
pub use overview::Overview;
pub use warm_up::{WarmUp, find_warm_up, not_judged};
pub(crate) use warm_up::{ended_in_the_last, not_judged_before};
