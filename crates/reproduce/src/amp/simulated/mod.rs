//! AMP's figures on the access-level simulator, with [models](programs) of its programs.

pub(super) mod figure_8;
mod programs;
mod runs;
