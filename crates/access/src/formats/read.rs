//! Reads a stream. What stands in it is not trusted: no number of it decides alone how much memory is taken
//! or how long something takes.

use super::{
    block::{self, ACCESSES, Block, END, FRAME, MAX_BLOCK, MAX_RAW, PAGES},
    header::{Header, MAGIC, MAX_HEADER, VERSION},
};
use crate::error::StreamError;
use std::collections::HashMap;
use std::io::{self, ErrorKind, Read};

/// Numbers for pages.
const MOST_PAGES: u64 = 1 << 32;
/// What is told of what is wrong with a header, characters at most.
const TOLD: usize = 200;

/// An iterator over a stream's blocks; after an error, and after the end, there are none.
pub struct StreamReader<R> {
    input: R,
    header: Header,
    offset: u64,
    pages: u64,
    accesses: u64,
    /// By thread, the time of its last block.
    times_us: HashMap<u32, u64>,
    over: bool,
}

impl<R: Read> StreamReader<R> {
    /// Reads the header.
    ///
    /// # Errors
    /// When it is no stream, of another version, or cut.
    pub fn new(mut input: R) -> Result<Self, StreamError> {
        let (mut head, mut offset) = ([0; 16], 0);
        match fill(&mut input, &mut head[..8], &mut offset) {
            Ok(()) if head[..8] == MAGIC => {}
            Err(error @ StreamError::Io { .. }) => return Err(error),
            _ => return Err(StreamError::NotAStream),
        }
        fill(&mut input, &mut head[8..], &mut offset)?;
        let version = word(&head[8..]);
        if version != VERSION {
            return Err(StreamError::Version(version));
        }
        let header = read_header(&mut input, word(&head[12..]), &mut offset)?;
        let times_us = HashMap::new();
        Ok(Self { input, header, offset, pages: 0, accesses: 0, times_us, over: false })
    }

    /// What holds for the whole stream.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Where the next block begins, byte of the stream.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// The next block; none behind the last.
    fn block(&mut self) -> Result<Option<Block>, StreamError> {
        let start = self.offset;
        let damaged = |reason: String| StreamError::Damaged { offset: start, reason };
        let (kind, entries, bytes) = payload(&mut self.input, &mut self.offset)?;
        match kind {
            PAGES => {
                if self.pages + entries as u64 > MOST_PAGES {
                    return Err(damaged("there are more than 2^32 pages".to_owned()));
                }
                let pages = block::decode_pages(&bytes, entries).map_err(damaged)?;
                self.pages += pages.len() as u64;
                Ok(Some(Block::Pages(pages)))
            }
            ACCESSES => {
                let block = block::decode_accesses(&bytes, entries, self.pages).map_err(damaged)?;
                self.accesses += entries as u64;
                self.in_order(&block).map_err(damaged)?;
                Ok(Some(block))
            }
            END => {
                let came = (self.pages, self.accesses);
                if block::decode_end(&bytes).map_err(damaged)? != came {
                    let (pages, accesses) = came;
                    let reason = format!("{pages} pages and {accesses} accesses came before it");
                    return Err(damaged(reason));
                }
                self.at_end()?;
                Ok(None)
            }
            other => Err(damaged(format!("it is of kind {other}, which is unknown"))),
        }
    }

    /// A thread's time does not go backwards.
    fn in_order(&mut self, block: &Block) -> Result<(), String> {
        let Block::Accesses { thread, time_us, .. } = block else { return Ok(()) };
        let before_us = self.times_us.insert(*thread, *time_us).unwrap_or(0);
        if *time_us < before_us {
            return Err(format!(
                "it is of microsecond {time_us} of thread {thread}, and the one before of {before_us}"
            ));
        }
        Ok(())
    }

    /// Nothing follows; what is compressed is whole then, too.
    fn at_end(&mut self) -> Result<(), StreamError> {
        let offset = self.offset;
        loop {
            match self.input.read(&mut [0]) {
                Ok(0) => return Ok(()),
                Ok(_) => return Err(StreamError::Trailing { offset }),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(source) => return Err(failed(source, offset)),
            }
        }
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

/// A block that begins at a byte of a stream, of which `pages` have numbers: `input` stands there.
/// So threads are read apart, each as far as it is.
///
/// # Errors
/// What the input says; damage. Only of the whole stream in its order can be told whether times go
/// backwards and pages have numbers when they are met.
pub fn read_block(
    input: &mut impl Read,
    offset: u64,
    pages: u64,
) -> Result<Option<Block>, StreamError> {
    let damaged = |reason: String| StreamError::Damaged { offset, reason };
    let (kind, entries, bytes) = payload(input, &mut { offset })?;
    match kind {
        PAGES => block::decode_pages(&bytes, entries).map(Block::Pages).map(Some),
        ACCESSES => block::decode_accesses(&bytes, entries, pages).map(Some),
        END => Ok(None),
        other => Err(format!("it is of kind {other}, which is unknown")),
    }
    .map_err(damaged)
}

/// Of the next block its kind, how many entries it has, and its bytes.
fn payload(input: &mut impl Read, offset: &mut u64) -> Result<(u8, usize, Vec<u8>), StreamError> {
    let start = *offset;
    let damaged = |reason: String| StreamError::Damaged { offset: start, reason };
    let mut frame = [0; FRAME];
    fill(input, &mut frame, offset)?;
    let kind = frame[0];
    let [entries, raw, stored, sum] = [1, 5, 9, 13].map(|at| word(&frame[at..]));
    let (entries, raw, stored) = (entries as usize, raw as usize, stored as usize);
    if entries > MAX_BLOCK || raw > MAX_RAW || stored > zstd::zstd_safe::compress_bound(MAX_RAW) {
        return Err(damaged(format!(
            "it says that it has {entries} entries, {raw} bytes, of them {stored} stored"
        )));
    }
    // Nothing else bounds how many blocks without an entry come out of a few compressed bytes.
    if (entries == 0) != (kind == END) {
        return Err(damaged(format!("it is of kind {kind} and has {entries} entries")));
    }
    let mut packed = vec![0; stored];
    fill(input, &mut packed, offset)?;
    if crc32fast::hash(&packed) != sum {
        return Err(damaged("its checksum is wrong".to_owned()));
    }
    let bytes = zstd::bulk::decompress(&packed, raw);
    let bytes = bytes.map_err(|error| damaged(error.to_string()))?;
    if bytes.len() != raw {
        return Err(damaged(format!("it has {} bytes in place of {raw}", bytes.len())));
    }
    Ok((kind, entries, bytes))
}

/// Takes memory as text comes in, not as much as is said.
fn read_header(
    input: &mut impl Read,
    length: u32,
    offset: &mut u64,
) -> Result<Header, StreamError> {
    if length > MAX_HEADER {
        let said = format!("it says that it is {length} bytes long; none has over {MAX_HEADER}");
        return Err(StreamError::Header(said));
    }
    let mut text = Vec::new();
    let read = input.take(length.into()).read_to_end(&mut text);
    *offset += text.len() as u64;
    read.map_err(|source| failed(source, *offset))?;
    if text.len() < length as usize {
        return Err(StreamError::Cut { offset: *offset });
    }
    serde_json::from_slice(&text).map_err(|error| {
        // It may repeat what stands in the header.
        let said = error.to_string();
        let place = format!(" (line {}, column {})", error.line(), error.column());
        let cut = said.chars().count() > TOLD;
        let short = |said: &str| said.chars().take(TOLD).collect::<String>() + "..." + &place;
        StreamError::Header(if cut { short(&said) } else { said })
    })
}

fn word(bytes: &[u8]) -> u32 {
    bytes.first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes))
}

/// Fills all of `bytes`, and counts them.
fn fill(input: &mut impl Read, bytes: &mut [u8], offset: &mut u64) -> Result<(), StreamError> {
    let mut filled = 0;
    while filled < bytes.len() {
        match input.read(&mut bytes[filled..]) {
            Ok(0) => return Err(StreamError::Cut { offset: *offset }),
            Ok(more) => {
                filled += more;
                *offset += more as u64;
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(source) => return Err(failed(source, *offset)),
        }
    }
    Ok(())
}

fn failed(source: io::Error, offset: u64) -> StreamError {
    match source.kind() {
        // What is compressed ends too early.
        ErrorKind::UnexpectedEof => StreamError::Cut { offset },
        _ => StreamError::Io { offset, source },
    }
}
