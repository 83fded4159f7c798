//! "Adaptive Migration Decision for Multi-Tenant Memory Systems" (*Adaptive*): one file per figure.

mod all;
mod constants;
mod figure_10;
mod figure_11;
mod figure_14;
mod figure_18;
mod figure_3;
mod figure_4;
mod figure_5;
mod figure_7;
mod governors;
mod overhead;
mod pairs;
mod programs;
mod runs;
mod scales;
mod stationary;
#[cfg(test)]
mod tests;
mod unseen;

use crate::Paper;

/// The paper. A figure is its file, a `mod` line, and an entry here.
pub(crate) const PAPER: Paper = Paper {
    name: "adaptive",
    title: "\"Adaptive Migration Decision for Multi-Tenant Memory Systems\"",
    scale: 1024,
    figures: &[
        figure_3::A,
        figure_3::B,
        overhead::FIGURE,
        figure_4::FIGURE,
        figure_5::FIGURE,
        figure_7::FIGURE,
        figure_10::FIGURE,
        figure_11::FIGURE,
        figure_14::FIGURE,
        figure_18::FIGURE,
        all::FIGURE,
        governors::FIGURE,
        constants::FIGURE,
        scales::FIGURE,
        stationary::FIGURE,
        unseen::FIGURE,
    ],
    // As far as the captions tell.
    parts: &[("12", "14"), ("13", "14"), ("15", "18"), ("16", "18"), ("17", "18")],
};
