//! Writes a stream.

use super::{
    block::{self, ACCESSES, END, MAX_BLOCK, PAGES},
    header::{Header, MAGIC, MAX_HEADER, VERSION},
    varint,
};
use crate::{
    access::{Access, Page},
    error::StreamError,
};
use std::collections::HashMap;
use std::io::{self, Write};

/// Fast, and half as large again as what takes ten times longer.
const LEVEL: i32 = 1;

/// Writes a stream. What it wrote is whole once [`Self::finish`] returned.
pub struct StreamWriter<W> {
    out: W,
    offset: u64,
    raw: Vec<u8>,
    packed: Vec<u8>,
    compressor: zstd::bulk::Compressor<'static>,
    pages: u64,
    accesses: u64,
    /// By thread, the time of its last block.
    times_us: HashMap<u32, u64>,
}

impl<W: Write> StreamWriter<W> {
    /// Begins a stream with its header.
    ///
    /// # Errors
    /// What `out` says; a header of more than 8 MiB.
    pub fn new(out: W, header: &Header) -> Result<Self, StreamError> {
        let io = |source| StreamError::Io { offset: 0, source };
        let text = serde_json::to_vec(header).map_err(|error| io(error.into()))?;
        let length = u32::try_from(text.len()).ok().filter(|length| *length <= MAX_HEADER);
        let length = length.ok_or_else(|| {
            let said = format!("a header has {MAX_HEADER} bytes at most, not {}", text.len());
            StreamError::Invalid(said)
        })?;
        let mut writer = Self {
            out,
            offset: 0,
            raw: Vec::new(),
            packed: Vec::new(),
            compressor: zstd::bulk::Compressor::new(LEVEL).map_err(io)?,
            pages: 0,
            accesses: 0,
            times_us: HashMap::new(),
        };
        writer.put(&MAGIC)?;
        writer.put(&VERSION.to_le_bytes())?;
        writer.put(&length.to_le_bytes())?;
        writer.put(&text)?;
        Ok(writer)
    }

    /// Gives the next numbers to pages.
    ///
    /// # Errors
    /// What `out` says; more than 2^32 pages.
    pub fn pages(&mut self, pages: &[Page]) -> Result<(), StreamError> {
        if self.pages + pages.len() as u64 > 1 << 32 {
            return Err(StreamError::Invalid("there are more than 2^32 pages".to_owned()));
        }
        for pages in pages.chunks(MAX_BLOCK) {
            self.raw.clear();
            block::encode_pages(pages, &mut self.raw);
            self.block(PAGES, pages.len())?;
            self.pages += pages.len() as u64;
        }
        Ok(())
    }

    /// Adds accesses of a thread, in its order; their pages have numbers.
    ///
    /// # Errors
    /// What `out` says; an access to a page without a number, or to a line beyond its end; a time before the
    /// thread's last one.
    pub fn accesses(
        &mut self,
        thread: u32,
        time_us: u64,
        accesses: &[Access],
    ) -> Result<(), StreamError> {
        let wrong = |access: &&Access| u64::from(access.page) >= self.pages || access.line > 63;
        if let Some(wrong) = accesses.iter().find(wrong) {
            return Err(StreamError::Invalid(format!(
                "an access to line {} of page {}; there are {} pages of 64 lines",
                wrong.line, wrong.page, self.pages
            )));
        }
        let before_us = self.times_us.get(&thread).copied().unwrap_or(0);
        if time_us < before_us {
            return Err(StreamError::Invalid(format!(
                "microsecond {time_us} of thread {thread} comes after its microsecond {before_us}"
            )));
        }
        if !accesses.is_empty() {
            self.times_us.insert(thread, time_us);
        }
        for accesses in accesses.chunks(MAX_BLOCK) {
            self.raw.clear();
            block::encode_accesses(thread, time_us, accesses, &mut self.raw);
            self.block(ACCESSES, accesses.len())?;
            self.accesses += accesses.len() as u64;
        }
        Ok(())
    }

    /// Accesses and bytes written so far.
    #[must_use]
    pub fn written(&self) -> (u64, u64) {
        (self.accesses, self.offset)
    }

    /// Marks the end, and gives back what was written to.
    ///
    /// # Errors
    /// What `out` says.
    pub fn finish(mut self) -> Result<W, StreamError> {
        self.raw.clear();
        varint::put(&mut self.raw, self.pages);
        varint::put(&mut self.raw, self.accesses);
        self.block(END, 0)?;
        self.out.flush().map_err(|source| StreamError::Io { offset: self.offset, source })?;
        Ok(self.out)
    }

    /// Writes a block of what is in `raw`.
    fn block(&mut self, kind: u8, entries: usize) -> Result<(), StreamError> {
        let io = |source| StreamError::Io { offset: self.offset, source };
        let room = zstd::zstd_safe::compress_bound(self.raw.len());
        self.packed.resize(room, 0);
        let length = self.compressor.compress_to_buffer(&self.raw, &mut self.packed[..]);
        self.packed.truncate(length.map_err(io)?);
        let word =
            |number: usize| u32::try_from(number).map_err(|error| io(io::Error::other(error)));
        let words = [word(entries)?, word(self.raw.len())?, word(self.packed.len())?];
        let packed = std::mem::take(&mut self.packed);
        self.put(&[kind])?;
        for word in words.into_iter().chain([crc32fast::hash(&packed)]) {
            self.put(&word.to_le_bytes())?;
        }
        self.put(&packed)?;
        self.packed = packed;
        Ok(())
    }

    fn put(&mut self, bytes: &[u8]) -> Result<(), StreamError> {
        let offset = self.offset;
        self.out.write_all(bytes).map_err(|source| StreamError::Io { offset, source })?;
        self.offset += bytes.len() as u64;
        Ok(())
    }
}
