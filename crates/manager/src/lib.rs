//! The live loop: observe, decide, move, epoch by epoch, for one target. Keeps the budget, the free
//! reserve and the governor's word outside of the policies; contains no policy, and moves nothing
//! by itself.

#![forbid(unsafe_code)]

mod ahead;
mod assumed;
mod budget;
mod leaving;
mod manager;
mod meanwhile;
mod page_cache;
mod parted;
mod place;
mod room;
mod second_half;
mod seen;
mod summary;
mod take_over;
mod tiers;

pub use budget::{Amount, Budget};
pub use leaving::Leaving;
pub use manager::{Follow, Manager, Settings};
pub use second_half::{Parts, SecondHalf};
pub use seen::{Tracker, Watched};
pub use summary::{Ended, EpochLine, Summary, TierChange, Turn, Verified};
pub use take_over::{TakeOver, restore_left_over};
pub use tiers::{TierError, Tiers};
