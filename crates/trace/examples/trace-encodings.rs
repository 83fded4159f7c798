//! Which encoding suits which column of the heat table, in which order of rows: bytes, and
//! nanoseconds to encode and decode, per value. The choices in `src/table.rs` come from this.
//!
//! `cargo run --release -p pagetide-trace --example trace-encodings -- [UNITS]` (default 200000)

#[path = "trace-speed/program.rs"]
mod program;

use bytes::Bytes;
use pagetide_types::HeatRow;
use parquet::{
    basic::{Compression, Encoding, ZstdLevel},
    column::reader::get_typed_column_reader,
    data_type::{BoolType, DataType, FloatType, Int32Type},
    errors::Result,
    file::{
        properties::{EnabledStatistics, WriterProperties},
        reader::FileReader,
        serialized_reader::SerializedFileReader,
        writer::SerializedFileWriter,
    },
    schema::parser::parse_message_type,
};
use program::{Memory, Program};
use std::{sync::Arc, time::Instant};

const EPOCHS: u32 = 12;
const REPEATS: usize = 5;

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

fn write<T: DataType>(schema: &str, encoding: Encoding, level: i32, v: &[T::T]) -> Result<Vec<u8>> {
    let mut properties = WriterProperties::builder()
        .set_statistics_enabled(EnabledStatistics::None)
        .set_offset_index_disabled(true)
        .set_data_page_row_count_limit(1 << 18)
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(level)?))
        .set_dictionary_enabled(encoding == Encoding::RLE_DICTIONARY);
    if encoding != Encoding::RLE_DICTIONARY {
        properties = properties.set_encoding(encoding);
    }
    let schema = Arc::new(parse_message_type(schema)?);
    let mut file = SerializedFileWriter::new(Vec::new(), schema, Arc::new(properties.build()))?;
    let mut group = file.next_row_group()?;
    if let Some(mut column) = group.next_column()? {
        for chunk in v.chunks(1 << 16) {
            column.typed::<T>().write_batch(chunk, None, None)?;
        }
        column.close()?;
    }
    group.close()?;
    file.into_inner()
}

fn read<T: DataType>(file: Vec<u8>) -> Result<usize> {
    let reader = SerializedFileReader::new(Bytes::from(file))?;
    let column = reader.get_row_group(0)?.get_column_reader(0)?;
    let mut column = get_typed_column_reader::<T>(column);
    let (mut rows, mut chunk) = (0, Vec::new());
    loop {
        chunk.clear();
        column.read_records(1 << 16, None, None, &mut chunk)?;
        if chunk.is_empty() {
            return Ok(rows);
        }
        rows += chunk.len();
    }
}

fn measure<T: DataType>(
    name: &str,
    physical: &str,
    encodings: &[Encoding],
    v: &[T::T],
) -> Result<()> {
    let schema = format!("message heat {{ required {physical} {name}; }}");
    for encoding in encodings {
        for level in [1, 3] {
            let (mut encode, mut decode, mut bytes) = (Vec::new(), Vec::new(), 0);
            for _ in 0..REPEATS {
                let start = Instant::now();
                let file = write::<T>(&schema, *encoding, level, v)?;
                encode.push(start.elapsed().as_secs_f64());
                bytes = file.len();
                let start = Instant::now();
                assert_eq!(read::<T>(file)?, v.len());
                decode.push(start.elapsed().as_secs_f64());
            }
            let each = |total: f64| total / v.len() as f64;
            println!(
                "  {name:8} {:24} zstd {level}  {:6.3} bytes  encode {:5.1} ns  decode {:5.1} ns",
                encoding.to_string(),
                each(bytes as f64),
                each(median(encode)) * 1e9,
                each(median(decode)) * 1e9,
            );
        }
    }
    Ok(())
}

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let units = std::env::args().nth(1).map_or(Ok(200_000), |text| text.parse())?;
    for (name, memory) in [("huge pages", Memory::Huge), ("sampled base pages", Memory::Base)] {
        let mut program = Program::new(memory, units);
        let mut rows: Vec<(u32, HeatRow)> = Vec::new();
        for number in 0..EPOCHS {
            rows.extend(program.epoch(number).heat.rows().map(|row| (number, row)));
        }
        for order in ["epoch, unit", "unit, epoch"] {
            if order == "unit, epoch" {
                rows.sort_by_key(|(epoch, row)| (row.unit, *epoch));
            }
            println!("{name}, {units} units x {EPOCHS} epochs, sorted by {order}:");
            type Column = (&'static str, fn(&(u32, HeatRow)) -> i32);
            let columns: [Column; 7] = [
                ("epoch", |(epoch, _)| epoch.cast_signed()),
                ("unit", |(_, row)| row.unit.0.cast_signed()),
                ("flags", |(_, row)| row.flags.0.into()),
                ("pages", |(_, row)| row.pages.into()),
                ("watched", |(_, row)| row.watched.into()),
                ("touched", |(_, row)| row.touched.into()),
                ("node", |(_, row)| row.node.0.into()),
            ];
            let encodings = [
                Encoding::PLAIN,
                Encoding::RLE_DICTIONARY,
                Encoding::DELTA_BINARY_PACKED,
                Encoding::BYTE_STREAM_SPLIT,
            ];
            for (name, column) in columns {
                let values: Vec<i32> = rows.iter().map(column).collect();
                measure::<Int32Type>(name, "int32", &encodings, &values)?;
            }
            for bit in 0..7 {
                let values: Vec<bool> =
                    rows.iter().map(|(_, row)| row.flags.0 >> bit & 1 == 1).collect();
                let name = format!("flag{bit}");
                measure::<BoolType>(&name, "boolean", &[Encoding::PLAIN, Encoding::RLE], &values)?;
            }
            let values: Vec<f32> =
                rows.iter().map(|(_, row)| pagetide_trace::round_rate(row.rate)).collect();
            let encodings =
                [Encoding::PLAIN, Encoding::RLE_DICTIONARY, Encoding::BYTE_STREAM_SPLIT];
            measure::<FloatType>("rate", "float", &encodings, &values)?;
        }
    }
    Ok(())
}
