//! Output of several guests, line by line, each line after its guest's number.

use std::io::{self, Write};

/// Writes whole lines as `NUMBER| LINE`.
pub(crate) struct Prefixed<W> {
    prefix: String,
    line: Vec<u8>,
    to: W,
}

impl<W: Write> Prefixed<W> {
    /// Lines of guest `number`, to `to`.
    pub(crate) fn new(number: u32, to: W) -> Self {
        Self { prefix: format!("{number}| "), line: Vec::new(), to }
    }

    fn put(&mut self) -> io::Result<()> {
        // In one piece, so that lines of other guests do not come between.
        let mut whole = self.prefix.clone().into_bytes();
        whole.append(&mut self.line);
        self.to.write_all(&whole)
    }
}

impl<W: Write> Write for Prefixed<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for byte in bytes {
            self.line.push(*byte);
            if *byte == b'\n' {
                self.put()?;
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}
