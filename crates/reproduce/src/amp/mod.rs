//! Heo and others, "Adaptive Page Migration Policy with Huge Pages in Tiered Memory Systems"
//! (*AMP*), IEEE TC 2020: one file per figure.

mod recorded;
mod simulated;

pub use recorded::recorded;

use crate::Paper;

/// The paper. A figure is its file, a `mod` line, and an entry here.
pub(crate) const PAPER: Paper = Paper {
    name: "amp",
    title: "Heo and others, \"Adaptive Page Migration Policy with Huge Pages in Tiered Memory \
            Systems\", IEEE TC 2020",
    scale: 64,
    figures: &[simulated::figure_8::FIGURE, recorded::table_6::FIGURE],
};
