//! Memory, simulated access by access. No I/O.

pub mod curve;
pub mod engine;
pub mod kernel;
pub mod movers;
pub mod scenario;
pub mod systems;
pub mod trackers;
