//! The heat recording: a directory of closed Parquet files, one set per span of epochs, renamed
//! into place, so that a crash loses at most the span under way. docs/recording.md documents it.

#![forbid(unsafe_code)]

mod area_map;
mod area_name;
mod by_process;
mod check;
mod decoder;
mod diff;
mod error;
mod export;
mod file;
mod heat_read;
mod info;
mod interleave;
mod layout;
mod limits;
mod object;
mod owner;
mod rate;
mod recording;
mod records;
mod schema;
mod span_read;
mod span_write;
mod sums;
mod table;
mod table_read;
mod table_write;
mod unit_sums;
mod unknown;
mod window;
mod writer;

pub use area_map::AreaMap;
pub use by_process::{ByProcess, ProcessUse, by_process};
pub use diff::{AreaChange, AreaSide, Diff, HotSets, RateAgreement, Side, diff};
pub use error::{Error, Result};
pub use export::{ExportFormat, export};
pub use info::{Info, Totals, info, info_with};
pub use owner::Owner;
pub use rate::round_rate;
pub use recording::Recording;
pub use records::Records;
pub use schema::{Area, Epoch, EpochRecord, Header, SCHEMA_VERSION, Source};
pub use unknown::Unknown;
pub use window::{Window, epoch_times};
pub use writer::RecordingWriter;
