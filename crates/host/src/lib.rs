//! Reads what the host says of itself: processes, memory maps, cgroups, NUMA nodes, features.
//!
//! Everything is read below one injected root ([`Host::new`]), so tests use fake trees. Nothing
//! here decides or changes anything. The formats are the kernel's own: proc(5), `Documentation/
//! filesystems/proc.rst`, `Documentation/ABI/{stable,testing}/sysfs-*` of Linux.
//!
//! The parsers are our own, because target names and paths are arbitrary bytes: the `procfs`
//! crate (0.18) refuses non-UTF-8 input or panics on some of it, and takes several times longer
//! for memory maps (`benches/maps.rs`). It stays as the oracle in tests.

#![forbid(unsafe_code)]

mod affinity;
mod area;
mod blocks;
mod cgroup;
mod cpu;
mod dax;
mod dax_shown;
mod device_users;
mod doctor;
mod error;
#[cfg(test)]
mod fake;
mod features;
mod files;
mod frames;
mod held;
mod identity;
mod mapped;
mod maps;
mod meminfo;
mod memory_limit;
mod memory_pressure;
mod mounts;
mod node_map;
mod nodes;
mod nvdimm;
mod process;
mod room;
mod smaps;
mod stall_counters;
mod stat;
mod tree;

pub use area::{Area, Dev, Perms, Skip};
pub use blocks::{AutoOnline, BlockId, BlockState, MemoryBlock};
pub use cgroup::{Cgroup, CgroupVersion, Hierarchy};
pub use cpu::Cpu;
pub use dax::{DaxDevice, DaxDriver};
pub use dax_shown::DaxShown;
pub use device_users::{DeviceKind, DeviceUser};
pub use doctor::{Finding, Status};
pub use error::Error;
pub use features::{Capabilities, Features, HugePages, KernelTypes, Pmu};
pub use files::Host;
pub use frames::FrameCounts;
pub use mapped::{
    LARGEST_UNTOLD, MappedFrames, MappedPages, MappedSearch, Parts, Resident, Untold,
};
pub use maps::Maps;
pub use memory_pressure::MemoryPressure;
pub use mounts::Mount;
pub use node_map::{NodeMap, NodeRange, Pfn};
pub use nodes::{MemoryTier, Node};
pub use nvdimm::{Namespace, Region};
pub use process::{Identity, Process};
pub use room::Room;
pub use smaps::{AreaFacts, VmFlags};
pub use stall_counters::{CpuEvent, StallEvents};
