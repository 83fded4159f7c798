//! Published systems, each in a file of its own; the registry has a line for each.

mod adaptive;
mod amp;
mod demotion;
mod fixed;
mod governed;
mod hint_promotion;
#[cfg(test)]
mod hint_scenarios;
mod linux_tiering;
mod memtis;
mod nimble;
mod nomad;
mod pagetide;
mod ranked;
mod refault_distance;
mod registry;
mod rhythm;
mod setup;
#[cfg(test)]
mod slow_node;
mod tpp;
mod tpp_mod;

pub use ranked::Ranked;
pub use registry::{REGISTRY, SystemError, SystemInfo, find};
pub use setup::{DecisionLog, Given, Log, MovedBytes, Period, TenantSetup, Told, Tracking};
