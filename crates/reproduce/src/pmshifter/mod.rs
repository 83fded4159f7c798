//! Michailidis, Swanson and Zhao, "PMShifter: Enabling Persistent Memory Fluidness in Linux" (*PMShifter*), APSys
//! 2022: one file per figure. Most of it comes from the model of physical memory, `sim/src/frames`; figure 5 is of a live
//! system and is not here.

mod ablations;
mod allocation;
mod calibration;
mod costs;
mod figure_3;
mod figure_4;
mod guests;
mod redis;
mod runs;
mod states;
#[cfg(test)]
mod tests;

use crate::{Paper, Tolerance};

/// Gains of whole mechanisms, as elsewhere.
const WITHIN: Tolerance = Tolerance::Ratio(1.5);

/// The paper. A figure is its file, a `mod` line, and an entry here.
pub(crate) const PAPER: Paper = Paper {
    name: "pmshifter",
    title: "Michailidis and others, \"PMShifter: Enabling Persistent Memory Fluidness in Linux\", APSys 2022",
    scale: 8,
    figures: &[
        calibration::FIGURE,
        allocation::FIGURE,
        figure_3::FIGURE,
        figure_3::STATES,
        ablations::FIGURE,
        figure_4::FIGURE,
        figure_4::GROWN,
        figure_4::REQUESTS,
        redis::FIGURE,
    ],
    parts: &[],
};
