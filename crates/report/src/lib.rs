//! Placeholder until the crate's part lands.
