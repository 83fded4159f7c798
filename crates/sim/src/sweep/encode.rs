//! Columns as a Parquet file in memory: one row group, zstd.

use super::columns::{Cells, Column};
use ::parquet::basic::{Compression, LogicalType, Repetition, Type as Kind, ZstdLevel};
use ::parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use ::parquet::errors::{ParquetError, Result};
use ::parquet::file::properties::WriterProperties;
use ::parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use ::parquet::schema::types::{Type, TypePtr};
use std::sync::Arc;

/// Encodes columns of equal length.
///
/// # Errors
/// What the encoder says.
pub fn parquet(columns: &[Column]) -> Result<Vec<u8>> {
    let properties = WriterProperties::builder()
        .set_created_by(concat!("pagetide ", env!("CARGO_PKG_VERSION")).to_owned())
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(1)?))
        .build();
    let mut file = SerializedFileWriter::new(Vec::new(), schema(columns)?, Arc::new(properties))?;
    let mut group = file.next_row_group()?;
    for column in columns {
        match &column.cells {
            Cells::Whole(whole) => put::<Int64Type>(&mut group, whole, None)?,
            Cells::Truths(truths) => put::<BoolType>(&mut group, truths, None)?,
            Cells::Texts(texts) => {
                let texts: Vec<ByteArray> =
                    texts.iter().map(|text| ByteArray::from(text.as_str())).collect();
                put::<ByteArrayType>(&mut group, &texts, None)?;
            }
            Cells::Numbers(numbers) => {
                let there: Vec<i16> = numbers.iter().map(|one| i16::from(one.is_some())).collect();
                let present: Vec<f64> = numbers.iter().copied().flatten().collect();
                put::<DoubleType>(&mut group, &present, Some(&there))?;
            }
        }
    }
    group.close()?;
    file.into_inner()
}

fn put<T: DataType>(
    group: &mut SerializedRowGroupWriter<'_, Vec<u8>>,
    values: &[T::T],
    there: Option<&[i16]>,
) -> Result<()> {
    let more = || ParquetError::General("more columns than the schema has".to_owned());
    let mut column = group.next_column()?.ok_or_else(more)?;
    column.typed::<T>().write_batch(values, there, None)?;
    column.close()
}

fn schema(columns: &[Column]) -> Result<TypePtr> {
    let field = |column: &Column| {
        let (kind, text, repetition) = match column.cells {
            Cells::Whole(_) => (Kind::INT64, None, Repetition::REQUIRED),
            Cells::Truths(_) => (Kind::BOOLEAN, None, Repetition::REQUIRED),
            Cells::Texts(_) => (Kind::BYTE_ARRAY, Some(LogicalType::String), Repetition::REQUIRED),
            Cells::Numbers(_) => (Kind::DOUBLE, None, Repetition::OPTIONAL),
        };
        let field = Type::primitive_type_builder(&column.name, kind);
        field.with_repetition(repetition).with_logical_type(text).build().map(Arc::new)
    };
    let fields = columns.iter().map(field).collect::<Result<_>>()?;
    Ok(Arc::new(Type::group_type_builder("points").with_fields(fields).build()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ::parquet::file::reader::{FileReader, SerializedFileReader};
    use std::{fs, fs::File};

    #[test]
    fn parquet_holds_what_the_columns_hold() {
        let column = |name: &str, cells: Cells| Column { name: name.to_owned(), cells };
        let columns = [
            column("tenant.fast", Cells::Texts(vec!["1G".into(), "2G, \"x\"".into()])),
            column("accesses", Cells::Whole(vec![7, i64::MAX])),
            column("ended_s", Cells::Numbers(vec![None, Some(0.1)])),
            column("huge_pages", Cells::Truths(vec![true, false])),
        ];
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("x.parquet");
        fs::write(&path, parquet(&columns).unwrap()).unwrap();
        let read = SerializedFileReader::new(File::open(&path).unwrap()).unwrap();
        let rows: Vec<String> =
            read.get_row_iter(None).unwrap().map(|row| row.unwrap().to_string()).collect();
        assert_eq!(rows.len(), 2);
        for part in ["tenant.fast: \"1G\"", "accesses: 7", "ended_s: null", "huge_pages: true"] {
            assert!(rows[0].contains(part), "no {part} in {rows:?}");
        }
        assert!(rows[1].contains("ended_s: 0.1") && rows[1].contains(&i64::MAX.to_string()));
    }
}
