//! Nodes that share a pool of slow memory, after Kommareddy et al., "Page Migration Support for
//! Disaggregated Non-Volatile Memories", MEMSYS 2019: cores with a bounded number of misses under
//! way, a network, modules with banks and queues, a controller that counts accesses to pages, and a
//! central manager that swaps pages between the pool and the nodes' own memory.
//!
//! Two stages: a program's accesses go through the caches of a node once ([`filter()`]), and what these let
//! through is kept with the instructions between ([`Filtered`]). It is then replayed for every setting
//! ([`Engine`]). As long as no page moves, this is what goes to memory. A page that moves leaves the caches, and
//! that changes what they do for all; so where pages move, what the cores' own caches let through is replayed,
//! and the shared one behind them is simulated in time ([`Engine::sharing`]). [`NodeCaches`] are caches all of
//! which are simulated in time, to see how good that is.

mod caches;
mod clock;
mod controller;
mod core;
mod counts;
mod dma;
mod engine;
mod filter;
mod frames;
mod governed;
mod hardware;
mod kept;
mod later;
mod learner;
mod link;
mod load;
mod local;
mod lost;
mod manager;
mod module;
mod node;
mod outcome;
mod pact;
mod payback;
mod placement;
mod places;
mod policy;
mod pool_module;
pub mod scenario;
mod scheduler;
mod settings;
mod shared;
mod slots;
#[cfg(test)]
mod tests;
mod time;
mod touches;
mod traffic;
mod translations;

pub use caches::NodeCaches;
pub use controller::{Controller, Spills};
pub use counts::{Hot, PageId};
pub use engine::{Engine, Program};
pub use filter::{Filtering, Seen, What, pass};
pub use kept::{Filtered, filter};
pub use load::Prices;
pub use local::{Frame, LocalTable};
pub use manager::Swapped;
pub use module::{Banks, Module};
pub use outcome::{NodeOutcome, PoolOutcome};
pub use payback::Payback;
pub use placement::Placement;
pub use policy::{Hottest, NodeView, SwapPolicy};
pub use settings::{Accounting, Chooser, Migration, PoolError, SwapStall};
pub use slots::Slots;
pub use time::Ps;
pub use traffic::{Miss, Misses, Request};
