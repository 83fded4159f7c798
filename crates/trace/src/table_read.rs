//! Columns of one Parquet file by name, with every failure named after the file.

use crate::{Error, Result, decoder::guard, layout::Part, limits, sums::Sums, table::CHUNK};
use bytes::Bytes;
use parquet::{
    basic::{Repetition, Type as Physical},
    column::reader::get_typed_column_reader,
    data_type::{ByteArrayType, DataType, DoubleType, Int32Type, Int64Type},
    errors::ParquetError,
    file::{
        reader::{FileReader, RowGroupReader},
        serialized_reader::SerializedFileReader,
    },
};
use std::{
    io,
    path::{Path, PathBuf},
};

/// An open table: the whole compressed file in memory.
pub(crate) struct TableFile {
    path: PathBuf,
    reader: SerializedFileReader<Bytes>,
    rows: usize,
}

impl TableFile {
    /// Reads table `part` of span `span`; it must exist, and its checksum be right.
    pub(crate) fn open(recording: &Path, part: Part, span: usize) -> Result<Self> {
        let path = part.path(recording, span);
        let bytes = limits::read(&path, limits::TABLE).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => Error::Missing { path: path.clone() },
            _ => Error::reading(recording, &path, error),
        })?;
        Sums::check(recording, part, span, &bytes)?;
        let reader = guard(&path, || {
            SerializedFileReader::new(Bytes::from(bytes))
                .map_err(|error| Error::damaged(&path, error.to_string()))
        })?;
        let rows = usize::try_from(reader.metadata().file_metadata().num_rows())
            .map_err(|error| Error::damaged(&path, error.to_string()))?;
        if rows > limits::ROWS {
            let most = limits::ROWS;
            return Err(Error::damaged(
                &path,
                format!("it claims {rows} rows; {most} are the most"),
            ));
        }
        Ok(Self { path, reader, rows })
    }

    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    pub(crate) fn damaged(&self, reason: impl Into<String>) -> Error {
        Error::damaged(&self.path, reason)
    }

    /// The position of column `name`, if it is there with this type.
    fn position(&self, name: &str, physical: Physical, repetition: Repetition) -> Result<usize> {
        let schema = self.reader.metadata().file_metadata().schema_descr();
        schema
            .columns()
            .iter()
            .position(|column| {
                let info = column.self_type().get_basic_info();
                column.path().string() == name
                    && column.physical_type() == physical
                    && info.repetition() == repetition
            })
            .ok_or_else(|| Error::Column {
                path: self.path.clone(),
                column: name.to_owned(),
                expected: format!("{repetition} {physical}").to_lowercase(),
            })
    }

    fn groups(&self) -> impl Iterator<Item = Result<Box<dyn RowGroupReader + '_>>> {
        (0..self.reader.num_row_groups())
            .map(|i| self.reader.get_row_group(i).map_err(|error| self.damaged(error.to_string())))
    }

    /// Gives the values of a required column to `take`, in order, some [`CHUNK`] at a time.
    pub(crate) fn each<T: DataType>(&self, name: &str, take: impl FnMut(&[T::T])) -> Result<()> {
        guard(&self.path, || self.each_chunk::<T>(name, take))
    }

    fn each_chunk<T: DataType>(&self, name: &str, mut take: impl FnMut(&[T::T])) -> Result<()> {
        let position = self.position(name, T::get_physical_type(), Repetition::REQUIRED)?;
        let damaged = |error: ParquetError| self.damaged(format!("column '{name}': {error}"));
        let mut chunk = Vec::new();
        let mut seen = 0;
        for group in self.groups() {
            let column = group?.get_column_reader(position).map_err(damaged)?;
            let mut column = get_typed_column_reader::<T>(column);
            loop {
                chunk.clear();
                column.read_records(CHUNK, None, None, &mut chunk).map_err(damaged)?;
                if chunk.is_empty() {
                    break;
                }
                seen += chunk.len();
                if seen > self.rows {
                    break;
                }
                take(&chunk);
            }
        }
        self.check_length(name, seen)
    }

    fn check_length(&self, name: &str, seen: usize) -> Result<()> {
        if seen == self.rows {
            return Ok(());
        }
        Err(self.damaged(format!("column '{name}' does not have the table's {} rows", self.rows)))
    }

    fn collect<T: DataType, V>(&self, name: &str, convert: impl Fn(&T::T) -> V) -> Result<Vec<V>> {
        let mut values = Vec::new();
        self.each::<T>(name, |chunk| values.extend(chunk.iter().map(&convert)))?;
        Ok(values)
    }

    /// A column of signed 32-bit integers.
    pub(crate) fn i32s(&self, name: &str) -> Result<Vec<i32>> {
        self.collect::<Int32Type, _>(name, |value| *value)
    }

    /// A column of unsigned 32-bit integers.
    pub(crate) fn u32s(&self, name: &str) -> Result<Vec<u32>> {
        self.collect::<Int32Type, _>(name, |value| value.cast_unsigned())
    }

    /// A column of unsigned 64-bit integers.
    pub(crate) fn u64s(&self, name: &str) -> Result<Vec<u64>> {
        self.collect::<Int64Type, _>(name, |value| value.cast_unsigned())
    }

    /// A column of 64-bit floats.
    pub(crate) fn doubles(&self, name: &str) -> Result<Vec<f64>> {
        self.collect::<DoubleType, _>(name, |value| *value)
    }

    /// A column of text; bytes that are not UTF-8 are replaced.
    pub(crate) fn texts(&self, name: &str) -> Result<Vec<String>> {
        let (mut texts, mut bytes) = (Vec::new(), 0usize);
        self.each::<ByteArrayType>(name, |chunk| {
            for value in chunk {
                // A text that stands once in the file may be the value of every row.
                bytes += value.len().min(limits::NAME + 1);
                if bytes <= limits::NAMES && value.len() <= limits::NAME {
                    texts.push(String::from_utf8_lossy(value.data()).into_owned());
                }
            }
        })?;
        if texts.len() == self.rows {
            return Ok(texts);
        }
        Err(self.damaged(format!("the texts of column '{name}' are too long")))
    }

    /// A column of 64-bit floats that may be null.
    pub(crate) fn optional_doubles(&self, name: &str) -> Result<Vec<Option<f64>>> {
        guard(&self.path, || self.optional::<DoubleType>(name))
    }

    /// A column of values that may be null; none if the table does not have it, as those of older
    /// recordings.
    pub(crate) fn if_there<T: DataType>(&self, name: &str) -> Result<Option<Vec<Option<T::T>>>> {
        let schema = self.reader.metadata().file_metadata().schema_descr();
        if schema.columns().iter().all(|column| column.path().string() != name) {
            return Ok(None);
        }
        guard(&self.path, || self.optional::<T>(name)).map(Some)
    }

    fn optional<T: DataType>(&self, name: &str) -> Result<Vec<Option<T::T>>> {
        let position = self.position(name, T::get_physical_type(), Repetition::OPTIONAL)?;
        let damaged = |error: ParquetError| self.damaged(format!("column '{name}': {error}"));
        let mut all = Vec::new();
        for group in self.groups() {
            let column = group?.get_column_reader(position).map_err(damaged)?;
            let mut column = get_typed_column_reader::<T>(column);
            let (mut levels, mut values) = (Vec::new(), Vec::new());
            while column
                .read_records(CHUNK, Some(&mut levels), None, &mut values)
                .map_err(damaged)?
                .0
                > 0
            {}
            let mut values = values.into_iter();
            all.extend(levels.iter().map(|level| if *level > 0 { values.next() } else { None }));
        }
        self.check_length(name, all.len())?;
        Ok(all)
    }
}
