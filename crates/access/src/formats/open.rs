//! Finds out what a file of accesses is, and opens it: our streams, and oracleGeneral, each plain
//! or compressed by zstd.

use super::{header::MAGIC, oracle_general::OracleReader, read::StreamReader};
use crate::error::StreamError;
use std::io::{self, BufReader, Cursor, ErrorKind, Read};

/// The first bytes of a zstd frame.
const ZSTD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// An input of any kind.
type Input<'a> = Box<dyn Read + 'a>;

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
pub fn open<'a>(input: impl Read + 'a) -> Result<Accesses<'a>, StreamError> {
    let io = |source| StreamError::Io { offset: 0, source };
    let (mut start, mut input) = peek(Box::new(input)).map_err(io)?;
    if start.starts_with(&ZSTD) {
        let frames = zstd::stream::read::Decoder::with_buffer(BufReader::new(input)).map_err(io)?;
        (start, input) = peek(Box::new(frames)).map_err(io)?;
    }
    if start == MAGIC {
        return Ok(Accesses::Stream(StreamReader::new(input)?));
    }
    Ok(Accesses::Oracle(OracleReader::new(input)))
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
