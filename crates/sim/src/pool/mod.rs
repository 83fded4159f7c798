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
//!
//! # Where is what
//!
//! | question | module |
//! |---|---|
//! | A scenario, a sweep | `scenario` |
//! | Caches, and what they let through | `caches`, `filter`, `kept`, `traffic`; in time `shared` |
//! | The order of what happens | `engine`, `later`, `core` |
//! | Network and banks | `network`, `bank_queues` (in order), `bank_scheduler` (out of order), `pool_module` for either |
//! | Counts at the pool | `controller`, `counts`, `pact` (the table that they are kept in) |
//! | Epochs, shootdowns, swaps | `manager`, `dma` for swaps one by one, `translations` for what shootdowns take |
//! | Which pages move: the paper's | `policy`, `clock` for victims |
//! | Which pages move: those that pay | `payback`, with `learner` (what pages will bring) and `load` (what lines and stalls cost all), `lost` (lines in caches) |
//! | A governor for each node | `governor` |

mod bank_queues;
mod bank_scheduler;
mod caches;
mod central_manager;
mod clock;
mod controller;
mod core;
mod counts;
mod dma;
mod engine;
mod filter;
mod frames;
mod governor;
mod hardware;
mod kept;
mod later;
mod learner;
mod load;
mod local;
mod lost;
mod network;
mod node;
mod outcome;
mod pact;
mod payback;
mod placement;
mod places;
mod policy;
mod pool_module;
pub mod scenario;
mod settings;
mod shared;
mod slots;
#[cfg(test)]
mod tests;
mod time;
mod touches;
mod traffic;
mod translations;

pub use bank_queues::{Banks, Module};
pub use caches::NodeCaches;
pub use central_manager::Swapped;
pub use controller::{Controller, Spills};
pub use counts::{Hot, PageId};
pub use engine::{Engine, Program};
pub use filter::{Filtering, Seen, What, pass};
pub use kept::{Filtered, filter};
pub use load::Prices;
pub use local::{Frame, LocalTable};
pub use outcome::{NodeOutcome, PoolOutcome};
pub use payback::Payback;
pub use placement::Placement;
pub use policy::{Hottest, NodeView, SwapPolicy};
pub use settings::{Accounting, Chooser, Migration, PoolError, SwapStall};
pub use slots::Slots;
pub use time::Ps;
pub use traffic::{Miss, Misses, Request};
