//! The words of Pagetide as types (docs/words.md): bytes, page and unit sizes,
//! unit identity, nodes, epochs, heat, and how long it counts; and what foreign text becomes before it is shown. No I/O, and no dependency on any other crate of ours.

#![forbid(unsafe_code)]

mod bytes;
mod fading;
mod heat;
mod ids;
mod may_bring;
mod nearest;
mod printable;
pub mod shell;
mod succession;
mod units;

pub use bytes::{Bytes, ParseBytesError};
pub use fading::{KEEP, Patience, surprising};
pub use heat::{EpochHeat, HeatFlags, HeatRow};
pub use ids::{EpochId, NodeId, ObjectId, Pid, TierId, UnitId};
pub use may_bring::MayBring;
pub use nearest::nearest;
pub use printable::{acts, printable, printable_json, printable_lines, printable_report};
pub use succession::Succession;
pub use units::{AreaKind, PageSize, PhysAddr, UnitKey, UnitSize, VirtAddr};
