//! Yan, Lustig, Nellans and Bhattacharjee, "Nimble Page Management for Tiered Memory Systems"
//! (*Nimble*), ASPLOS 2019: one file per figure.

use crate::Paper;

/// The paper. A figure is its file, a `mod` line, and an entry here.
pub(crate) const PAPER: Paper = Paper {
    name: "nimble",
    title: "Yan and others, \"Nimble Page Management for Tiered Memory Systems\", ASPLOS 2019",
    scale: 64,
    figures: &[],
};
