//! Plans and recordings as text for a terminal (tables, charts, heatmaps) and as HTML pages. Computes no results;
//! every figure comes from [`pagetide_replay`].

#![forbid(unsafe_code)]

mod at_size;
mod bench;
mod chart;
mod curve;
mod doctor;
mod heatmap;
mod html;
mod live;
mod number;
mod plan;
mod policies;
mod pool;
mod processes;
mod recording;
mod said;
mod sim;
mod split;
mod style;
mod table;
mod trace_diff;

pub use at_size::plan_at;
pub use bench::bench_migrate;
pub use curve::{CurveOf, CurvePoint, CurveSample, CurveTable, curve};
pub use doctor::{FindingRow, Mark, doctor};
pub use html::{Subject, Together, html};
pub use live::{epoch_parts, run_summary, seen};
pub use plan::plan;
pub use policies::{GovernorRow, OptionRow, PolicyRow, governors, policies};
pub use pool::pool;
pub use processes::trace_processes;
pub use recording::trace_info;
pub use sim::{sim, systems};
pub use split::split;
pub use style::Style;
pub use trace_diff::trace_diff;
