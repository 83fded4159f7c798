//! Machine models: the tiers of memory a program could have and what moving pages costs there, the
//! pools of memory that nodes share, and how TOML models like these are read. Needs no recording, no
//! policy and no host.

#![forbid(unsafe_code)]

mod lines;
mod machine;
pub mod model;
mod parts;
mod pool;

pub use machine::{Machine, Migration, Tier};
pub use parts::{Cache, Cores, Kernel, Tlb};
pub use pool::{
    LocalMemory, Network, Pool, PoolCache, PoolCore, PoolMachine, PoolTlb, Rows, WriteBuffer,
};
