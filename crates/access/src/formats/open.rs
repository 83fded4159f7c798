//! Finds out what a file of accesses is, and opens it: our streams, and oracleGeneral, each plain
//! or compressed by zstd.

use super::{header::MAGIC, oracle_general::OracleReader, read::StreamReader};
use crate::error::StreamError;
use std::io::{self, BufReader, Cursor, ErrorKind, Read};

/// The first bytes of a zstd frame, and those, but for four bits, of one to be skipped, which some programs
/// (pzstd) put in front (RFC 8878, sections 3.1.1 and 3.1.2).
const FRAME: u32 = 0xfd2f_b528;
const SKIPPED: u32 = 0x184d_2a50;
/// Log2 of the largest window that a frame may ask for, as of the zstd program: 128 MiB, of which only what
/// was filled is backed by memory. `zstd --long=28` and up make larger ones.
const WINDOW: u32 = 27;

/// An input of any kind.
type Input<'a> = Box<dyn Read + Send + 'a>;

/// A file of accesses.
pub enum Accesses<'a> {
    /// A stream of ours.
    Stream(StreamReader<Input<'a>>),
    /// Anything else is taken for oracleGeneral, which has no mark of its own.
    Oracle(OracleReader<Input<'a>>),
}

/// Opens a file by its first bytes.
///
/// # Errors
/// What the input says; when it is a stream of ours of another version, or a damaged one.
pub fn open<'a>(input: impl Read + Send + 'a) -> Result<Accesses<'a>, StreamError> {
    let io = |source| StreamError::Io { offset: 0, source };
    let (mut start, mut input) = peek(Box::new(input)).map_err(io)?;
    if is_zstd(&start) {
        let mut frames =
            zstd::stream::read::Decoder::with_buffer(BufReader::new(input)).map_err(io)?;
        frames.window_log_max(WINDOW).map_err(io)?;
        (start, input) = peek(Box::new(frames)).map_err(io)?;
    }
    if start == MAGIC {
        return Ok(Accesses::Stream(StreamReader::new(input)?));
    }
    Ok(Accesses::Oracle(OracleReader::new(input)))
}

fn is_zstd(start: &[u8]) -> bool {
    let magic = start.first_chunk().map(|four| u32::from_le_bytes(*four));
    magic.is_some_and(|magic| magic == FRAME || magic & !0xf == SKIPPED)
}

/// Up to eight bytes, and the input as if they had not been read.
fn peek(mut input: Input<'_>) -> io::Result<(Vec<u8>, Input<'_>)> {
    let mut start = Vec::new();
    match input.by_ref().take(MAGIC.len() as u64).read_to_end(&mut start) {
        Ok(_) => {}
        // Said again, with its place, by who reads on.
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => {}
        Err(error) => return Err(error),
    }
    Ok((start.clone(), Box::new(Cursor::new(start).chain(input))))
}
