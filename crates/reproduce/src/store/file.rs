//! Points on disk: one JSON object a line, in `points.jsonl`. A line that a killed program left
//! behind half written is skipped, and the next one begins on a line of its own.

use super::Values;
use crate::ReproduceError;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

/// The file within its folder.
const NAME: &str = "points.jsonl";

#[derive(Serialize, Deserialize)]
struct Line {
    key: String,
    values: Values,
}

/// The file, open for appending.
#[derive(Debug)]
pub(super) struct PointsFile {
    path: PathBuf,
    file: File,
    /// The last line has no end.
    torn: bool,
}

/// What a file held.
#[derive(Debug, Default)]
pub(super) struct Held {
    pub(super) points: HashMap<String, Values>,
    /// Numbers of the lines that are no points, from 1 on.
    pub(super) skipped: Vec<usize>,
}

impl PointsFile {
    /// Opens the file of a folder, both of which are made if they are not there.
    pub(super) fn open(folder: &Path) -> Result<(Self, Held), ReproduceError> {
        fs::create_dir_all(folder).map_err(ReproduceError::file(folder))?;
        let path = folder.join(NAME);
        let options = OpenOptions::new().create(true).append(true).open(&path);
        let file = options.map_err(ReproduceError::file(&path))?;
        // What is no file, such as /dev/full, may have no end.
        let is_file = file.metadata().map_err(ReproduceError::file(&path))?.is_file();
        let bytes = if is_file { fs::read(&path) } else { Ok(Vec::new()) };
        let bytes = bytes.map_err(ReproduceError::file(&path))?;
        let torn = bytes.last().is_some_and(|last| *last != b'\n');
        Ok((Self { path, file, torn }, read(&bytes)))
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Appends a point as a whole line, in one call where the system does that; gives back the
    /// values as they will be read.
    pub(super) fn append(&mut self, key: &str, values: Values) -> Result<Values, ReproduceError> {
        let line = Line { key: key.to_owned(), values };
        let other = |error: serde_json::Error| ReproduceError::Other(format!("{key}: {error}"));
        let text = serde_json::to_string(&line).map_err(other)?;
        let line: Line = serde_json::from_str(&text).map_err(other)?;
        let begin = if self.torn { "\n" } else { "" };
        let written = self.file.write_all(format!("{begin}{text}\n").as_bytes());
        self.torn = written.is_err();
        written.map_err(ReproduceError::file(&self.path))?;
        Ok(line.values)
    }
}

/// Of a key that is there twice the later one counts.
fn read(bytes: &[u8]) -> Held {
    let mut held = Held::default();
    for (number, line) in (1..).zip(bytes.split(|byte| *byte == b'\n')) {
        if line.is_empty() {
            continue;
        }
        match serde_json::from_slice::<Line>(line) {
            Ok(Line { key, values }) => _ = held.points.insert(key, values),
            Err(_) => held.skipped.push(number),
        }
    }
    held
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn any_bytes_are_points_or_skipped(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let held = read(&bytes);
            let lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).count();
            prop_assert!(held.skipped.len() + held.points.len() <= lines);
        }
    }
}
