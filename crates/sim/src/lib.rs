//! Memory, simulated access by access. No I/O but for [`sweep`], which keeps what it computed.
//!
//! | What | Where |
//! |---|---|
//! | A machine of two tiers: threads, caches, channels, who goes next | [`engine`] |
//! | What an operating system does on it: first touch, lists, reclaim, scanners | [`kernel`] |
//! | What systems learn of accesses: accessed bits, hint faults, sampled events | [`trackers`] |
//! | What carries pages: copies, exchanges, transactions | [`movers`] |
//! | The systems themselves, one file each: TPP, NOMAD, MEMTIS, Nimble, ours, … | [`systems`] |
//! | What a user writes, and what came of it; many of these at once | [`scenario`], [`sweep`] |
//! | Nodes on one shared pool, with an engine and scenarios of its own | [`pool`] |
//! | Miss ratios by the size of fast memory, without time | [`curve`] |
//! | Frames of physical memory and who compacts them | [`frames`] |

pub mod curve;
pub mod engine;
pub mod frames;
pub mod kernel;
pub mod movers;
pub mod pool;
pub mod scenario;
pub mod sweep;
pub mod systems;
pub mod trackers;
