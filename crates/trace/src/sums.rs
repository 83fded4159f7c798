//! Checksums of a span's tables, `sums-00000.json`. Parquet files carry none of their footers,
//! and a flipped bit must be reported, not decoded.

use crate::{
    Error, Result,
    layout::{Part, sums_path},
    limits,
};
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, io, path::Path};

/// Length and CRC-32 (IEEE) of each table, by the table's name.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Sums(BTreeMap<String, Sum>);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Sum {
    bytes: usize,
    crc32: u32,
}

impl Sum {
    fn of(bytes: &[u8]) -> Self {
        Self { bytes: bytes.len(), crc32: crc32fast::hash(bytes) }
    }
}

impl Sums {
    /// Takes down the checksum of one table.
    pub(crate) fn insert(&mut self, part: Part, bytes: &[u8]) {
        self.0.insert(part.as_str().to_owned(), Sum::of(bytes));
    }

    /// Fails if `bytes` is not what was written as table `part` of span `span`. Without a file of
    /// checksums (another program may have written the tables) there is nothing to check.
    pub(crate) fn check(recording: &Path, part: Part, span: usize, bytes: &[u8]) -> Result<()> {
        let path = sums_path(recording, span);
        let text = match limits::read(&path, limits::JSON) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(Error::reading(recording, &path, error)),
        };
        let sums: Self = serde_json::from_slice(&text)
            .map_err(|error| Error::damaged(&path, error.to_string()))?;
        let (found, table) = (Sum::of(bytes), part.path(recording, span));
        match sums.0.get(part.as_str()) {
            Some(due) if *due == found => Ok(()),
            Some(due) if due.bytes > found.bytes => Err(Error::damaged(
                &table,
                format!("it is truncated, {} of {} bytes are there", found.bytes, due.bytes),
            )),
            Some(_) => Err(Error::damaged(&table, "its checksum is wrong")),
            None => Ok(()),
        }
    }
}
