//! AMP's figures on the access-level simulator, with [models](programs) of its programs.

pub(super) mod ablations;
pub(super) mod figure_10;
pub(super) mod figure_11;
pub(super) mod figure_12;
pub(super) mod figure_14;
pub(super) mod figure_15;
pub(super) mod figure_16;
pub(super) mod figure_17;
pub(super) mod figure_2;
pub(super) mod figure_5;
pub(super) mod figure_6;
pub(super) mod figure_8;
mod programs;
mod runs;
pub(super) mod scales;
mod statistics;
#[cfg(test)]
mod tests;
