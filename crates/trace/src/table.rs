//! The four tables as Parquet schemas, with the encoding of each column. docs/recording.md
//! documents the columns; `examples/trace-encodings.rs` measures the choices.

use pagetide_types::HeatFlags;
use parquet::{
    basic::{Compression, Encoding, ZstdLevel},
    errors::Result,
    file::properties::{EnabledStatistics, WriterProperties, WriterPropertiesPtr, WriterVersion},
    schema::{
        parser::parse_message_type,
        types::{ColumnPath, TypePtr},
    },
};
use std::sync::Arc;

/// Values that are handled at a time when a column is written or read.
pub(crate) const CHUNK: usize = 1 << 16;

/// A table: its Parquet schema and how its columns are encoded (plain unless listed).
pub(crate) struct Table {
    schema: &'static str,
    encodings: &'static [(&'static str, Encoding)],
}

/// One row per epoch.
pub(crate) const EPOCHS: Table = Table {
    schema: "message epochs {
        required int32 epoch (INTEGER(32, false));
        required double start_s;
        required double length_s;
        required int32 processes (INTEGER(32, false));
        required double target_cpu_s;
        required double clear_s;
        required double scan_s;
        required double recorder_s;
        required double longest_clear_s;
        required double watched_share;
        required int64 uncleared_bytes (INTEGER(64, false));
        optional double stall_share;
        required int32 live_units (INTEGER(32, false));
        required int32 new_units (INTEGER(32, false));
        required int32 new_areas (INTEGER(32, false));
    }",
    encodings: &[],
};

/// One row per area, in order of first sight.
pub(crate) const AREAS: Table = Table {
    schema: "message areas {
        required int32 object (INTEGER(32, false));
        required int64 first (INTEGER(64, false));
        required int64 end (INTEGER(64, false));
        required binary kind (STRING);
        required binary name (STRING);
        required int32 pid;
        required binary command (STRING);
        required int32 since (INTEGER(32, false));
        optional boolean mapped;
    }",
    encodings: &[],
};

/// One row per unit, in order of its number.
pub(crate) const UNITS: Table = Table {
    schema: "message units {
        required int32 unit (INTEGER(32, false));
        required int32 object (INTEGER(32, false));
        required int64 index (INTEGER(64, false));
    }",
    encodings: &[
        ("unit", Encoding::DELTA_BINARY_PACKED),
        ("object", Encoding::DELTA_BINARY_PACKED),
        ("index", Encoding::DELTA_BINARY_PACKED),
    ],
};

/// One row per unit and epoch, sorted by unit, then epoch: what a unit did in one epoch is most
/// like what it did in the one before. Splitting the integers' bytes would be smaller still, but
/// DuckDB before 2.0 reads that of floats only.
pub(crate) const HEAT: Table = Table {
    schema: "message heat {
        required int32 epoch (INTEGER(32, false));
        required int32 unit (INTEGER(32, false));
        required float rate;
        required boolean sampled;
        required boolean accessed;
        required boolean dirty;
        required boolean saturated;
        required boolean unseen;
        required boolean uncleared;
        required boolean huge;
        required int32 pages (INTEGER(16, false));
        required int32 watched (INTEGER(16, false));
        required int32 touched (INTEGER(16, false));
        required int32 node (INTEGER(16, false));
        optional float traffic;
        optional float accesses;
        optional float leads;
        optional float writes;
    }",
    encodings: &[
        ("unit", Encoding::DELTA_BINARY_PACKED),
        ("rate", Encoding::BYTE_STREAM_SPLIT),
        ("traffic", Encoding::BYTE_STREAM_SPLIT),
        ("accesses", Encoding::BYTE_STREAM_SPLIT),
        ("leads", Encoding::BYTE_STREAM_SPLIT),
        ("writes", Encoding::BYTE_STREAM_SPLIT),
        ("watched", Encoding::DELTA_BINARY_PACKED),
        ("touched", Encoding::RLE_DICTIONARY),
    ],
};

/// The heat's flags as columns of their own: as small as one column of bits, faster to encode,
/// and readable without knowing the bits.
pub(crate) const FLAGS: [(&str, HeatFlags); 7] = [
    ("sampled", HeatFlags::SAMPLED),
    ("accessed", HeatFlags::ACCESSED),
    ("dirty", HeatFlags::DIRTY),
    ("saturated", HeatFlags::SATURATED),
    ("unseen", HeatFlags::UNSEEN),
    ("uncleared", HeatFlags::UNCLEARED),
    ("huge", HeatFlags::HUGE),
];

/// What not every source of heat measures: null where it was not.
pub(crate) const MEASURED: [&str; 4] = ["traffic", "accesses", "leads", "writes"];

impl Table {
    /// The schema as the Parquet library has it.
    pub(crate) fn schema(&self) -> Result<TypePtr> {
        Ok(Arc::new(parse_message_type(self.schema)?))
    }

    /// How it is written: one row group, large pages, zstd, nothing that a scan does not need.
    pub(crate) fn properties(&self) -> Result<WriterPropertiesPtr> {
        let mut properties = WriterProperties::builder()
            .set_writer_version(WriterVersion::PARQUET_1_0)
            .set_created_by(concat!("pagetide ", env!("CARGO_PKG_VERSION")).to_owned())
            .set_statistics_enabled(EnabledStatistics::None)
            .set_offset_index_disabled(true)
            .set_dictionary_enabled(false)
            .set_data_page_row_count_limit(1 << 18)
            .set_data_page_size_limit(1 << 20)
            .set_write_batch_size(1 << 13)
            .set_max_row_group_row_count(None)
            .set_compression(Compression::ZSTD(ZstdLevel::try_new(1)?));
        for (column, encoding) in self.encodings {
            let column = ColumnPath::from(*column);
            properties = match encoding {
                Encoding::RLE_DICTIONARY => properties.set_column_dictionary_enabled(column, true),
                other => properties.set_column_encoding(column, *other),
            };
        }
        Ok(Arc::new(properties.build()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_column_is_documented() {
        let page = include_str!("../../../docs/recording.md");
        for table in [EPOCHS, AREAS, UNITS, HEAT] {
            let schema = table.schema().unwrap();
            let section = page.split("\n## ").find(|part| part.starts_with(schema.name())).unwrap();
            for column in schema.get_fields() {
                let name = column.name();
                assert!(section.contains(&format!("`{name}`")), "{}.{name}", schema.name());
            }
        }
    }
}
