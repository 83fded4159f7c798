//! The words of Pagetide as types (docs/design.md, "Words"): bytes, page and unit sizes,
//! unit identity, nodes, epochs and heat. No I/O, and no dependency on any other crate of ours.

mod bytes;
mod heat;
mod ids;
mod nearest;
mod units;

pub use bytes::{Bytes, ParseBytesError};
pub use heat::{EpochHeat, HeatFlags, HeatRow};
pub use ids::{EpochId, NodeId, ObjectId, Pid, TierId, UnitId};
pub use nearest::nearest;
pub use units::{AreaKind, PageSize, PhysAddr, UnitKey, UnitSize, VirtAddr};
