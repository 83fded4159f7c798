//! The replay: what a recording, lived through by a policy, gives at every size of fast memory. One
//! pass over the epochs ([`replay()`]) for all sizes; the same one at a time ([`replay_at()`]) to hold it
//! against.

mod by_epoch;
mod curve;
mod demand;
mod entry;
mod evaluation;
mod grid;
mod more_entries;
mod naive;
mod per_capacity;
mod per_epoch;
mod population;
mod radix;
mod reach;
mod repair;
mod replay;
mod replay_error;
mod replay_options;
mod sample;
mod simulation;
mod stream;
mod tally;

pub use by_epoch::{ByEpoch, Stretch, Traffic};
pub use curve::{Curve, Replayed, Told};
pub(crate) use evaluation::Evaluation;
pub(crate) use more_entries::{More, replay_more};
pub(crate) use naive::NaiveReplay;
pub use naive::{AtCapacity, replay_at};
pub use per_epoch::{EpochResult, epochs_at};
pub use replay::{Replay, replay};
pub use replay_error::ReplayError;
pub use replay_options::ReplayOptions;
