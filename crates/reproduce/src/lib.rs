//! Figures and tables of papers made again: what was published stands beside ours, with the ratio.
//!
//! A figure is one file of a paper's folder and one line of that paper's registry. It computes
//! [points](Store::points), which are kept on disk, and makes rows and series of them. What is here
//! computes and renders; who calls it prints.

#![forbid(unsafe_code)]

mod adaptive;
mod amp;
mod context;
mod disaggregated;
mod error;
mod figure;
mod folder;
mod nimble;
mod outcome;
mod output;
mod paper;
mod pmshifter;
mod series;
mod simulated;
mod store;

pub use amp::recorded as amp_recorded;
pub use context::Context;
pub use error::ReproduceError;
pub use figure::Figure;
pub use folder::make_folder;
pub use outcome::{Outcome, Row, Tolerance, Verdict};
pub use output::{Done, json, list, list_json, markdown, text, write_csv};
pub use paper::{PAPERS, Paper, paper};
pub use series::{At, Series};
pub use store::{Key, Keyed, Progress, Store, Values};
