//! Yan, Lustig, Nellans and Bhattacharjee, "Nimble Page Management for Tiered Memory Systems"
//! (*Nimble*), ASPLOS 2019: one file per figure.

mod calibration;
mod figure_10;
mod figure_11;
mod figure_12;
mod figure_13;
mod figure_14;
mod figure_2;
mod figure_3;
mod figure_8;
mod figure_9;
mod programs;
mod scales;
mod slow_tier;
mod table_2;
mod threads;

use crate::Paper;

/// The paper. A figure is its file, a `mod` line, and an entry here.
pub(crate) const PAPER: Paper = Paper {
    name: "nimble",
    title: "Yan and others, \"Nimble Page Management for Tiered Memory Systems\", ASPLOS 2019",
    scale: 256,
    figures: &[
        figure_2::FIGURE,
        figure_3::FIGURE,
        figure_8::FIGURE,
        figure_9::FIGURE,
        figure_10::FIGURE,
        figure_11::FIGURE,
        table_2::FIGURE,
        figure_12::FIGURE,
        figure_12::LATENCY,
        figure_12::INDEPENDENT,
        figure_12::WALKS,
        figure_12::BATCHES,
        figure_13::FIGURE,
        threads::FIGURE,
        figure_14::FIGURE,
        slow_tier::FIGURE,
        scales::FIGURE,
    ],
    parts: &[],
};
