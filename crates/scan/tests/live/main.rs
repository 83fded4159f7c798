//! The recorder on real processes of known behaviour. Needs root; elsewhere the tests say
//! `SKIPPED` and why.
#![expect(clippy::unwrap_used, reason = "test")]

mod births;
mod child;
mod dirty;
mod glimpses;
mod hinted;
mod mapped;
mod opening;
mod pause;
mod recorded;
mod shared;
mod sparse;
mod threads;
mod uncleared;
mod uneven;
mod unmapped;
