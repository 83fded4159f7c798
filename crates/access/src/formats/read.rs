//! Reads a stream.

use super::{
    block::{self, ACCESSES, Block, END, FRAME, MAX_BLOCK, MAX_RAW, PAGES},
    header::{Header, MAGIC, MAX_HEADER, VERSION},
    varint,
};
use crate::error::StreamError;
use std::io::{self, Read};

/// An iterator over a stream's blocks; after an error, and after the end, there are none.
pub struct StreamReader<R> {
    input: R,
    header: Header,
    offset: u64,
    pages: u64,
    accesses: u64,
    over: bool,
}

impl<R: Read> StreamReader<R> {
    /// Reads the header.
    ///
    /// # Errors
    /// When it is no stream, of another version, or cut.
    pub fn new(mut input: R) -> Result<Self, StreamError> {
        let mut head = [0; 16];
        if read(&mut input, &mut head[..8], 0).is_err() || head[..8] != MAGIC {
            return Err(StreamError::NotAStream);
        }
        read(&mut input, &mut head[8..], 8)?;
        let version = word(&head[8..]);
        if version != VERSION {
            return Err(StreamError::Version(version));
        }
        let length = word(&head[12..]);
        let damaged = |reason: String| StreamError::Damaged { offset: 0, reason };
        if length > MAX_HEADER {
            return Err(damaged(format!("its header is {length} bytes long")));
        }
        let mut text = vec![0; length as usize];
        read(&mut input, &mut text, 16)?;
        let header = serde_json::from_slice(&text).map_err(|error| damaged(error.to_string()))?;
        let offset = 16 + u64::from(length);
        Ok(Self { input, header, offset, pages: 0, accesses: 0, over: false })
    }

    /// What holds for the whole stream.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The next block; none behind the last.
    fn block(&mut self) -> Result<Option<Block>, StreamError> {
        let start = self.offset;
        let damaged = |reason: String| StreamError::Damaged { offset: start, reason };
        let mut frame = [0; FRAME];
        read(&mut self.input, &mut frame, start)?;
        let kind = frame[0];
        let [entries, raw, stored, sum] = [1, 5, 9, 13].map(|at| word(&frame[at..]));
        let (entries, raw, stored) = (entries as usize, raw as usize, stored as usize);
        if entries > MAX_BLOCK || raw > MAX_RAW || stored > zstd::zstd_safe::compress_bound(MAX_RAW)
        {
            return Err(damaged(format!("it says that it has {entries} entries, {raw} bytes")));
        }
        let mut packed = vec![0; stored];
        read(&mut self.input, &mut packed, start + FRAME as u64)?;
        if crc32fast::hash(&packed) != sum {
            return Err(damaged("its checksum is wrong".to_owned()));
        }
        let raw_bytes = zstd::bulk::decompress(&packed, raw);
        let raw_bytes = raw_bytes.map_err(|error| damaged(error.to_string()))?;
        if raw_bytes.len() != raw {
            return Err(damaged(format!("it has {} bytes in place of {raw}", raw_bytes.len())));
        }
        self.offset += (FRAME + stored) as u64;
        let block = match kind {
            PAGES => {
                let pages = block::decode_pages(&raw_bytes, entries);
                let pages = pages.ok_or_else(|| damaged("its pages end too early".to_owned()))?;
                self.pages += pages.len() as u64;
                Block::Pages(pages)
            }
            ACCESSES => {
                self.accesses += entries as u64;
                block::decode_accesses(&raw_bytes, entries, self.pages).map_err(damaged)?
            }
            END => {
                let mut bytes = raw_bytes.as_slice();
                let said = (varint::take(&mut bytes), varint::take(&mut bytes));
                if said != (Some(self.pages), Some(self.accesses)) {
                    let (pages, accesses) = (self.pages, self.accesses);
                    let reason = format!("{pages} pages and {accesses} accesses came before it");
                    return Err(damaged(reason));
                }
                return Ok(None);
            }
            other => return Err(damaged(format!("it is of kind {other}, which is unknown"))),
        };
        Ok(Some(block))
    }
}

impl<R: Read> Iterator for StreamReader<R> {
    type Item = Result<Block, StreamError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.over {
            return None;
        }
        let block = self.block().transpose();
        self.over = !matches!(block, Some(Ok(_)));
        block
    }
}

fn word(bytes: &[u8]) -> u32 {
    bytes.first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes))
}

fn read(input: &mut impl Read, bytes: &mut [u8], offset: u64) -> Result<(), StreamError> {
    input.read_exact(bytes).map_err(|source| match source.kind() {
        io::ErrorKind::UnexpectedEof => StreamError::Cut { offset },
        _ => StreamError::Io { offset, source },
    })
}
