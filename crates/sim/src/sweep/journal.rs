//! Results on disk as they come: one JSON object a line. A line that a killed program left behind half
//! written is skipped, and the next one begins on a line of its own.

use super::write::no_link_of_a_stranger;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Results by key.
#[derive(Debug)]
pub struct Journal<V> {
    known: HashMap<String, V>,
    file: Option<OnDisk>,
    skipped: Vec<usize>,
}

#[derive(Debug)]
struct OnDisk {
    path: PathBuf,
    file: File,
    /// The last line has no end.
    torn: bool,
}

#[derive(Serialize, Deserialize)]
struct Line<V> {
    key: String,
    value: V,
}

impl<V: Serialize + DeserializeOwned> Journal<V> {
    /// Nothing on disk: results are kept as they are.
    #[must_use]
    pub fn in_memory() -> Self {
        Self { known: HashMap::new(), file: None, skipped: Vec::new() }
    }

    /// What a file holds, and will hold; it is made if it is not there.
    ///
    /// # Errors
    /// It cannot be read or opened for writing. Lines that are no results are no error, see
    /// [`Self::skipped`].
    pub fn open(path: &Path) -> io::Result<Self> {
        no_link_of_a_stranger(path)?;
        let file = OpenOptions::new().create(true).append(true).open(path)?;
        // What is no file, such as /dev/full, may have no end.
        let bytes = if file.metadata()?.is_file() { fs::read(path)? } else { Vec::new() };
        let torn = bytes.last().is_some_and(|last| *last != b'\n');
        let (known, skipped) = read(&bytes);
        Ok(Self { known, file: Some(OnDisk { path: path.to_owned(), file, torn }), skipped })
    }

    /// Its file.
    #[must_use]
    pub fn path(&self) -> Option<&Path> {
        self.file.as_ref().map(|file| file.path.as_path())
    }

    /// Numbers of the lines that are no results, from 1 on.
    #[must_use]
    pub fn skipped(&self) -> &[usize] {
        &self.skipped
    }

    /// A result.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&V> {
        self.known.get(key)
    }

    /// Appends a result as a whole line, in one call where the system does that. It is known from then
    /// on as it will be read.
    ///
    /// # Errors
    /// It cannot be written; those before are not harmed.
    pub fn append(&mut self, key: &str, value: V) -> io::Result<()> {
        let Some(OnDisk { file, torn, .. }) = &mut self.file else {
            self.known.insert(key.to_owned(), value);
            return Ok(());
        };
        let text = serde_json::to_string(&Line { key: key.to_owned(), value })?;
        let Line { key, value } = serde_json::from_str(&text)?;
        let begin = if *torn { "\n" } else { "" };
        let written = file.write_all(format!("{begin}{text}\n").as_bytes());
        *torn = written.is_err();
        written?;
        self.known.insert(key, value);
        Ok(())
    }
}

/// Of a key that is there twice the later one counts.
fn read<V: DeserializeOwned>(bytes: &[u8]) -> (HashMap<String, V>, Vec<usize>) {
    let (mut known, mut skipped) = (HashMap::new(), Vec::new());
    for (number, line) in (1..).zip(bytes.split(|byte| *byte == b'\n')) {
        if line.is_empty() {
            continue;
        }
        match serde_json::from_slice::<Line<V>>(line) {
            Ok(Line { key, value }) => _ = known.insert(key, value),
            Err(_) => skipped.push(number),
        }
    }
    (known, skipped)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn any_bytes_are_results_or_skipped(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let (known, skipped) = read::<f64>(&bytes);
            let lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).count();
            prop_assert!(skipped.len() + known.len() <= lines);
        }
    }
}
