//! Governors: whether the pages of a process move at all. One file per governor (`none`, `adaptive`,
//! `gain`) and one line in the registry; what they are shown is `counters`, what they share is
//! `ticks`, `counting` and `access_change`. `gain` stops by its `books`, and goes on as `watched` says.

mod access_change;
mod adaptive;
mod books;
mod counters;
mod counting;
mod gain;
mod governor;
mod level;
mod loss;
mod none;
mod ping_pong;
mod registry;
mod ticks;
mod watched;

pub use counters::{Balance, Counters, Entries};
pub use governor::{Governor, GovernorInfo, Verdict, Watch};
pub use registry::{GOVERNORS, GovernorSpec, Governors};
