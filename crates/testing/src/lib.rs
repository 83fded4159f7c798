//! What tests of several crates share. A test never passes silently because it could not run, and
//! never fails because the machine was busy: it says `SKIPPED name: reason` instead, which
//! `make test` counts.

mod disturbance;
mod mutator;
mod reused;
mod undisturbed;

pub use disturbance::{Disturbance, Watch};
pub use mutator::Mutator;
pub use reused::{Numbered, process_with_number};
pub use undisturbed::undisturbed;

/// Says that a test was left out, and why. The test returns after it.
pub fn skip(test: &str, reason: &str) {
    eprintln!("SKIPPED {test}: {}", reason.trim());
}
