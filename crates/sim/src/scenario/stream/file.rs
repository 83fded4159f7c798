//! A file that several readers read, each from a place of its own.

use super::StreamProblem;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;

/// The first bytes of a stream of ours that is not compressed as a whole.
const PLAIN: &[u8; 8] = b"PTACCESS";

/// A place in a file.
#[derive(Clone, Debug)]
pub(super) struct At {
    file: Arc<File>,
    byte: u64,
}

impl At {
    /// The beginning of a file.
    pub(super) fn open(path: &Path) -> Result<Self, StreamProblem> {
        // Before it is opened: a FIFO would wait for whoever writes into it.
        if !path.metadata()?.is_file() {
            return Err(StreamProblem::NoFile);
        }
        let file = File::open(path)?;
        Ok(Self { file: Arc::new(file), byte: 0 })
    }

    /// Another place.
    pub(super) fn at(&self, byte: u64) -> Self {
        Self { file: Arc::clone(&self.file), byte }
    }

    /// Whether its blocks can be read by where they begin.
    pub(super) fn is_plain_stream(&self) -> io::Result<bool> {
        let mut first = [0; PLAIN.len()];
        Ok(self.file.read_at(&mut first, 0)? == first.len() && first == *PLAIN)
    }
}

impl Read for At {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read_at(bytes, self.byte)?;
        self.byte += read as u64;
        Ok(read)
    }
}
