//! oracleGeneral, the binary format of libCacheSim: one record of 24 bytes per request, little-endian
//! and without a header: time (u32, seconds), object (u64), its size (u32, bytes), the number of
//! its next request (i64). From libCacheSim's `oracleGeneralBin.h`.

use crate::error::OracleError;
use pagetide_types::PageSize;
use std::io::{ErrorKind, Read};
use std::ops::Range;

/// Bytes of a record.
const RECORD: usize = 24;
/// Records that are read at a time: their bytes stay in the first caches of the CPU.
const BATCH: usize = 4096;
/// No trace has so many requests: 6 PB.
const MOST_REQUESTS: u64 = 1 << 48;
/// The longest request that is one to pages, bytes: no device takes a longer one.
const LONGEST: u32 = 16 << 20;
/// A trace that begins with more requests for nothing (of size 0) is none: zeros of a device, a hole or a
/// few compressed bytes would else be read for ever.
const MOST_NOTHING: u64 = 1 << 24;
/// Two numbers below 0 say that there is no next request, or that it is not known.
const NO_NEXT: u64 = 2;

/// One request for an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OracleRecord {
    /// When, in seconds; never less than that of the request before.
    pub time_s: u32,
    /// The object; in traces of block devices an address.
    pub object: u64,
    /// The object's size, or the length of the access, bytes.
    pub bytes: u32,
    /// The number of the object's next request; none if there is none or it is not known.
    pub next: Option<u64>,
}

impl OracleRecord {
    /// The pages that it goes to; none that can be named if it is too long.
    fn pages(&self, id_bytes: u64) -> Option<Range<u64>> {
        if self.bytes == 0 {
            return Some(0..0);
        }
        let page = PageSize::Base.bytes().0;
        let first = self.object.checked_mul(id_bytes)?;
        let end = first.checked_add(self.bytes.into()).filter(|_| self.bytes <= LONGEST)?;
        Some(first / page..end.div_ceil(page))
    }
}

/// Some requests of a trace, in its order.
#[derive(Clone, Copy, Debug)]
pub struct OracleBatch<'a> {
    /// The number of the first one in the trace, from 0.
    pub first: u64,
    bytes: &'a [u8],
}

impl OracleBatch<'_> {
    /// The requests.
    pub fn records(&self) -> impl ExactSizeIterator<Item = OracleRecord> {
        self.bytes.as_chunks().0.iter().map(parse)
    }

    /// Appends the objects of requests; those for nothing (of size 0) are left out, as libCacheSim does.
    /// How many these were.
    pub fn objects(&self, into: &mut Vec<u64>) -> usize {
        let nothing = self.records().filter(|record| record.bytes == 0).count();
        if nothing == 0 {
            // Nearly always so; and then no record needs to be looked at alone.
            into.extend(self.records().map(|record| record.object));
        } else {
            let some = self.records().filter(|record| record.bytes > 0);
            into.extend(some.map(|record| record.object));
        }
        nothing
    }

    /// The pages that requests go to, one after the other, where objects are addresses in units of
    /// `id_bytes`; those for nothing (of size 0) go to none.
    ///
    /// # Errors
    /// For a request that is longer than 16 MiB, or goes beyond the last address.
    pub fn pages(&self, id_bytes: u64) -> impl Iterator<Item = Result<u64, OracleError>> {
        (self.first..).zip(self.records()).flat_map(move |(number, record)| {
            let pages = record.pages(id_bytes);
            let wrong = pages.is_none().then_some(Err(OracleError::Span {
                record: number,
                object: record.object,
                bytes: record.bytes,
            }));
            pages.unwrap_or_default().map(Ok).chain(wrong)
        })
    }
}

/// Reads a trace; memory does not depend on its length. After an error there is nothing more.
pub struct OracleReader<R> {
    input: R,
    buffer: Vec<u8>,
    /// Records given so far.
    given: u64,
    /// Time of the last one.
    time_s: u32,
    /// There was a request for something.
    some: bool,
    over: bool,
}

impl<R: Read> OracleReader<R> {
    /// A reader of an uncompressed trace.
    pub fn new(input: R) -> Self {
        Self {
            input,
            buffer: vec![0; BATCH * RECORD],
            given: 0,
            time_s: 0,
            some: false,
            over: false,
        }
    }

    /// The next requests; none behind the last.
    ///
    /// # Errors
    /// What the input says; an empty or cut trace; times that go backwards; a next request that
    /// cannot be; 2^24 requests for nothing and none for something. Records in front of a wrong one are lost with it, at most 4095.
    pub fn batch(&mut self) -> Result<Option<OracleBatch<'_>>, OracleError> {
        if self.over {
            return Ok(None);
        }
        let filled = self.fill();
        let length = *filled.as_ref().unwrap_or(&0);
        self.over = length < self.buffer.len();
        filled?;
        let (records, rest) = self.buffer[..length].as_chunks();
        let first = self.given;
        if let Some(error) = check(records, first, self.time_s) {
            self.over = true;
            return Err(error);
        }
        self.given += records.len() as u64;
        self.some |= records.iter().map(parse).any(|record| record.bytes > 0);
        if !self.some && self.given > MOST_NOTHING {
            self.over = true;
            return Err(OracleError::Nothing { record: self.given });
        }
        if !rest.is_empty() {
            self.over = true;
            return Err(OracleError::Cut { record: self.given, left: rest.len() });
        }
        let Some(last) = records.last() else {
            return if self.given == 0 { Err(OracleError::Empty) } else { Ok(None) };
        };
        self.time_s = parse(last).time_s;
        Ok(Some(OracleBatch { first, bytes: &self.buffer[..length] }))
    }

    /// Fills the buffer as far as the input goes.
    fn fill(&mut self) -> Result<usize, OracleError> {
        let mut length = 0;
        while length < self.buffer.len() {
            match self.input.read(&mut self.buffer[length..]) {
                Ok(0) => break,
                Ok(more) => length += more,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(source) => {
                    let record = self.given + (length / RECORD) as u64;
                    return Err(OracleError::Io { record, source });
                }
            }
        }
        Ok(length)
    }
}

fn parse(record: &[u8; RECORD]) -> OracleRecord {
    let word = |at: usize| record[at..].first_chunk().map_or(0, |four| u32::from_le_bytes(*four));
    let long = |at: usize| record[at..].first_chunk().map_or(0, |eight| u64::from_le_bytes(*eight));
    let next = long(16);
    let none = next.wrapping_add(NO_NEXT) < NO_NEXT || next == i64::MAX.cast_unsigned();
    OracleRecord {
        time_s: word(0),
        object: long(4),
        bytes: word(12),
        next: if none { None } else { Some(next) },
    }
}

/// What is wrong with records of which the first has a number, after one of a time.
fn check(records: &[[u8; RECORD]], first: u64, mut time_s: u32) -> Option<OracleError> {
    // Nearly always nothing is: one loop without a branch, and another that looks for the place.
    let mut wrong = false;
    let mut last = time_s;
    for record in records.iter().map(parse) {
        wrong |= record.time_s < last || record.next > Some(MOST_REQUESTS);
        last = record.time_s;
    }
    if !wrong {
        return None;
    }
    for (number, record) in (first..).zip(records.iter().map(parse)) {
        if let Some(next) = record.next.filter(|next| *next > MOST_REQUESTS) {
            return Some(OracleError::Next { record: number, next: next.cast_signed() });
        }
        if record.time_s < time_s {
            let (time_s, before_s) = (record.time_s, time_s);
            return Some(OracleError::Backwards { record: number, time_s, before_s });
        }
        time_s = record.time_s;
    }
    None
}
