//! Published systems, each in a file of its own.

mod no_migration;

pub use no_migration::NoMigration;
