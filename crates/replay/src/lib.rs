//! Replays heat recordings through policies at every capacity; the machine and cost models that
//! `pagetide plan` stands on. Touches no host.

mod curve;

pub use curve::Curve;
