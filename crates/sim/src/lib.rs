//! Memory, simulated access by access. No I/O.

pub mod curve;
