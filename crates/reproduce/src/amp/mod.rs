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
    figures: &[
        simulated::figure_2::FIGURE,
        simulated::figure_5::FIGURE,
        simulated::figure_6::FIGURE,
        simulated::figure_8::FIGURE,
        simulated::figure_10::FIGURE,
        simulated::ablations::FIGURE,
        simulated::ablations::PROGRAMS,
        simulated::figure_11::FIGURE,
        simulated::figure_12::FIGURE,
        simulated::figure_11::FIGURE_13,
        simulated::figure_14::FIGURE,
        simulated::figure_15::FIGURE,
        simulated::figure_16::FIGURE,
        simulated::figure_17::FIGURE,
        recorded::table_6::FIGURE,
        simulated::scales::FIGURE,
    ],
    parts: &[],
};
