//! The page-table walk: reads accessed and dirty bits, page sizes and nodes of ranges of a process,
//! by an eBPF program.

pub(crate) mod direct_map;
pub(crate) mod group_clock;
pub(crate) mod nodes;
pub(crate) mod ram;
pub(crate) mod row;
pub(crate) mod walker;
