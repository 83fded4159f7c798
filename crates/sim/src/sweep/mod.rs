//! One scenario, run at many points: some of its values are changed, and every combination is simulated.

mod coarse;
mod columns;
mod csv;
mod draft;
mod encode;
mod error;
mod heard;
mod journal;
mod order;
mod plan;
mod vary;
mod write;

pub use coarse::Coarse;
pub use columns::{Cells, Column, columns};
pub use csv::{csv, is_timeline, timeline};
pub use draft::{Draft, Resolved, text_of};
pub(crate) use draft::{key, one_kind};
pub use encode::parquet;
pub use error::SweepError;
pub use journal::Journal;
pub(crate) use order::{lost, ordered, taken};
pub use plan::{MODEL, Now, Plan, Point};
pub(crate) use plan::{combinations, values};
pub use vary::{Setting, Vary};
pub(crate) use vary::{longer, set};
pub use write::{beside, writable, write};
