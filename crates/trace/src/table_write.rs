//! One table encoded as a Parquet file in memory. Encoding and writing are apart, so that an
//! error of the disk is never mistaken for one of the encoder, nor the reverse.

use crate::interleave;
use crate::rate::round_rate;
use crate::table::{CHUNK, Table};
use parquet::{
    data_type::{
        BoolType, ByteArray, ByteArrayType, DataType, DoubleType, FloatType, Int32Type, Int64Type,
    },
    errors::{ParquetError, Result},
    file::writer::{SerializedFileWriter, SerializedRowGroupWriter},
};

/// Encodes `table` with `rows` rows; `fill` gives the columns in the order of the schema.
pub(crate) fn encode(
    table: &Table,
    rows: usize,
    fill: impl FnOnce(&mut Columns<'_>) -> Result<()>,
) -> Result<Vec<u8>> {
    let mut file = SerializedFileWriter::new(Vec::new(), table.schema()?, table.properties()?)?;
    if rows > 0 {
        let mut columns = Columns { group: file.next_row_group()? };
        fill(&mut columns)?;
        columns.group.close()?;
    }
    file.into_inner()
}

/// Takes a table's columns one after the other.
pub(crate) struct Columns<'a> {
    group: SerializedRowGroupWriter<'a, Vec<u8>>,
}

impl Columns<'_> {
    fn put<T: DataType>(&mut self, mut values: impl Iterator<Item = T::T>) -> Result<()> {
        let mut column = self.group.next_column()?.ok_or_else(too_many)?;
        let mut chunk = Vec::with_capacity(CHUNK.min(values.size_hint().0));
        loop {
            chunk.clear();
            chunk.extend(values.by_ref().take(CHUNK));
            if chunk.is_empty() {
                return column.close();
            }
            column.typed::<T>().write_batch(&chunk, None, None)?;
        }
    }

    /// A column of truth values.
    pub(crate) fn bools(&mut self, values: impl Iterator<Item = bool>) -> Result<()> {
        self.put::<BoolType>(values)
    }

    /// A column of integers of up to 32 bits.
    pub(crate) fn ints(&mut self, values: impl Iterator<Item = i32>) -> Result<()> {
        self.put::<Int32Type>(values)
    }

    /// A column of unsigned integers of 32 bits.
    pub(crate) fn u32s(&mut self, values: impl Iterator<Item = u32>) -> Result<()> {
        self.ints(values.map(u32::cast_signed))
    }

    /// A column of unsigned integers of 64 bits.
    pub(crate) fn u64s(&mut self, values: impl Iterator<Item = u64>) -> Result<()> {
        self.put::<Int64Type>(values.map(u64::cast_signed))
    }

    /// A column of 32-bit floats.
    pub(crate) fn floats(&mut self, values: impl Iterator<Item = f32>) -> Result<()> {
        self.put::<FloatType>(values)
    }

    /// A column of 64-bit floats.
    pub(crate) fn doubles(&mut self, values: impl Iterator<Item = f64>) -> Result<()> {
        self.put::<DoubleType>(values)
    }

    /// A column of text.
    pub(crate) fn texts<'t>(&mut self, values: impl Iterator<Item = &'t str>) -> Result<()> {
        self.put::<ByteArrayType>(values.map(ByteArray::from))
    }

    /// A column of rates per epoch in the `order` of the rows; null in epochs that have none.
    pub(crate) fn optional_floats(&mut self, order: &[u8], epochs: &[&[f32]]) -> Result<()> {
        let there: Vec<i16> = epochs.iter().map(|rates| i16::from(!rates.is_empty())).collect();
        let levels: Vec<i16> = order.iter().map(|epoch| there[usize::from(*epoch)]).collect();
        let order: Vec<u8> =
            order.iter().copied().filter(|epoch| there[usize::from(*epoch)] > 0).collect();
        let rates: Vec<f32> = interleave::merge(&order, epochs).map(round_rate).collect();
        let mut column = self.group.next_column()?.ok_or_else(too_many)?;
        column.typed::<FloatType>().write_batch(&rates, Some(&levels), None)?;
        column.close()
    }

    /// A column of values that may be null.
    pub(crate) fn optionals<T: DataType>(
        &mut self,
        values: impl Iterator<Item = Option<T::T>>,
    ) -> Result<()> {
        let mut column = self.group.next_column()?.ok_or_else(too_many)?;
        let values: Vec<Option<T::T>> = values.collect();
        let levels: Vec<i16> = values.iter().map(|value| i16::from(value.is_some())).collect();
        let present: Vec<T::T> = values.into_iter().flatten().collect();
        column.typed::<T>().write_batch(&present, Some(&levels), None)?;
        column.close()
    }
}

fn too_many() -> ParquetError {
    ParquetError::General("more columns than the schema has".to_owned())
}
