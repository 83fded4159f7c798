//! What programs with known patterns touch next: one file per pattern. A workload lets them touch
//! real memory, a simulator takes what they yield; so both run the same program.
//!
//! Programs whose path depends on the data in their memory (the searches over a graph in
//! `workloads`) are not among them: their accesses are recorded as streams.

mod amp;
mod gups;
mod hot_cold;
mod memory;
mod pattern;
mod phases;
mod pointer_chase;
pub mod programs;
mod regions;
mod setup;
mod spin;
mod step;
mod strided;
#[cfg(test)]
mod tests;
mod uniform;
mod zipf;

pub use amp::{Amp, AmpWalk, Favour, Origin};
pub use gups::{Gups, GupsWalk};
pub use hot_cold::{HotCold, HotColdWalk, Place};
pub use memory::Memory;
pub use pattern::{Fill, Pattern, Walk, every_page};
pub use phases::{Phases, PhasesWalk, Within};
pub use pointer_chase::{PointerChase, PointerChaseWalk};
pub use regions::{Init, Part, PartWalk, Phase, Regions, RegionsWalk, Sharing};
pub use setup::Setup;
pub use spin::{Order, Pick, Spin, SpinWalk};
pub use step::{Op, Source, Step};
pub use strided::{Strided, StridedWalk};
pub use uniform::{Uniform, UniformWalk};
pub use zipf::{Keys, Zipf, ZipfWalk};
