//! Machine models: the tiers of memory a program could have and what moving pages costs there, and
//! how TOML models like these are read. Needs no recording, no policy and no host.

#![forbid(unsafe_code)]

mod machine;
pub mod model;
mod parts;

pub use machine::{Machine, Migration, Tier};
pub use parts::{Cache, Cores, Kernel, Tlb};
