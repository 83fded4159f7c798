//! The heat recording: a directory of closed Parquet files, one set per span of epochs, renamed
//! into place, so that a crash loses at most the span under way.

mod schema;

pub use schema::{Area, Epoch, EpochRecord, Header, SCHEMA_VERSION};
