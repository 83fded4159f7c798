//! Caches and TLBs between a program's accesses and its memory: which accesses memory sees, which of
//! them wait for a page table's walk, and which lines come back. Pure and fast enough for billions
//! of accesses; no times, which are a simulator's.

mod cache;
mod hierarchy;
mod misses;
mod row;
mod sets;
#[cfg(test)]
mod tests;
mod tlb;

pub use cache::{Cache, Evicted, LINE, Looked};
pub use hierarchy::{Last, Level, Private, Served, Written};
pub use misses::{Filter, Filtered, Traffic};
pub use tlb::{Entries, Tlb, Translation};
