//! Small programs with known accesses, to be run in a guest: what the meter is checked against,
//! and what the emulated CPU is measured by.

mod area;
mod compute;
mod device;
mod fill;
mod fragment;
mod giant;
mod mark;
mod run;

pub(crate) use compute::{compute_ns, crossing_ns};
pub(crate) use run::{Probe, run};
