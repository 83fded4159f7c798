//! Kommareddy, Hammond, Hughes, Samih and Awad, "Page Migration Support for Disaggregated Non-Volatile
//! Memories" (*Disaggregated*), MEMSYS 2019: one file per figure.

mod ablations;
mod bounds;
mod cxl;
mod figure_3;
mod figure_5;
mod figure_6;
mod figure_7;
mod measured;
mod misses;
mod open_rows;
mod payback;
mod programs;
mod runs;
mod signs;
mod statistics;
#[cfg(test)]
mod tests;
mod two_stages;

use crate::Paper;

/// The paper. A figure is its file, a `mod` line, and an entry here.
pub(crate) const PAPER: Paper = Paper {
    name: "disaggregated",
    title: "Kommareddy and others, \"Page Migration Support for Disaggregated Non-Volatile Memories\", \
            MEMSYS 2019",
    scale: 1,
    figures: &[
        programs::FIGURE,
        figure_3::FIGURE,
        figure_5::FIGURE,
        bounds::FIGURE,
        figure_6::FIGURE,
        figure_7::FIGURE,
        ablations::FIGURE,
        misses::FIGURE,
        open_rows::FIGURE,
        two_stages::FIGURE,
        payback::FIGURE,
        payback::SEEDS,
        cxl::FIGURE,
    ],
    parts: &[],
};
