//! Exact counts of a program's memory accesses: the program runs unmodified in QEMU's user mode,
//! with a plugin of ours (`plugin/`) that counts by base page and thread. docs/exact.md says what
//! is counted and how.

mod build;
mod cache_model;
mod calibrate;
mod clock;
mod command;
mod emulator;
mod error;
mod expected;
mod folder;
mod objects;
mod process;
mod recorder;
mod regions;
mod residency;
mod shared;
mod stream;

pub use build::{PLUGIN, QEMU_HEADER, build};
pub use cache_model::CacheModel;
pub use calibrate::dilation;
pub use emulator::Emulator;
pub use error::{BuildError, ExactError};
pub use recorder::{End, Options, Recorder, Uncounted};
pub use stream::Out;
