//! What is shown in guests. Each test boots at least one: minutes in all, so `make test-lab` runs
//! them, not `make test`.

mod boot;
mod felt;
mod lab;
mod meter;
mod movers;
mod pairs;
mod shift;
mod shift_cxl;
mod shift_ends;
mod shift_leaving;
mod shift_refusals;
mod shift_without_swap;
mod tiers;
mod topologies;
mod with_pagetide;
