//! Memory, simulated access by access. No I/O but for [`sweep`], which keeps what it computed.

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
