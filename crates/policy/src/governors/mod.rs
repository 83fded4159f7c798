//! Governors: whether the pages of a process move at all. One file per governor (`none`, `adaptive`,
//! `gain`) and one line in the registry; what they are shown is `counters`, what they share is
//! `ticks` and `access_change`.

mod access_change;
mod adaptive;
mod books;
mod counters;
mod gain;
mod governor;
mod level;
mod none;
mod ping_pong;
mod registry;
mod ticks;

pub use counters::{Balance, Counters, Entries};
pub use governor::{Governor, GovernorInfo, Verdict, Watch};
pub use registry::{GOVERNORS, GovernorSpec, Governors};
