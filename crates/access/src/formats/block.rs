//! Blocks: what a stream consists of behind its header. Each can be decoded by itself.

use super::varint::{put, take, unzigzag, zigzag};
use crate::access::{Access, Kind, Page};
use pagetide_types::ObjectId;

/// Entries of a block at most.
pub const MAX_BLOCK: usize = 1 << 16;
/// Bytes of a block before compression at most: two numbers of ten bytes each, and the head.
pub(super) const MAX_RAW: usize = MAX_BLOCK * 20 + 64;
/// Bytes in front of a block's payload: kind, entries, raw and stored length, checksum.
pub(super) const FRAME: usize = 1 + 4 * 4;

/// Kinds of blocks, as they are written.
pub(super) const PAGES: u8 = 1;
pub(super) const ACCESSES: u8 = 2;
pub(super) const END: u8 = 3;

/// A part of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Block {
    /// Pages that get the next numbers, counted from 0.
    Pages(Vec<Page>),
    /// Accesses of one thread, in its order.
    Accesses {
        /// Which thread: numbers are dense.
        thread: u32,
        /// When they were taken, microseconds of the program's own time.
        time_us: u64,
        /// In order.
        accesses: Vec<Access>,
    },
}

pub(super) fn encode_pages(pages: &[Page], bytes: &mut Vec<u8>) {
    let mut last = 0;
    for page in pages {
        put(bytes, page.object.0.into());
        put(bytes, zigzag(page.number.wrapping_sub(last).cast_signed()));
        last = page.number;
    }
}

pub(super) fn decode_pages(mut bytes: &[u8], count: usize) -> Result<Vec<Page>, String> {
    let (mut pages, mut last) = (Vec::with_capacity(count), 0u64);
    for i in 0..count {
        let object = take(&mut bytes).ok_or_else(short)?;
        let object = u32::try_from(object)
            .map_err(|_| format!("page {i} is of object {object}, and none is beyond 2^32"))?;
        let ahead = take(&mut bytes).ok_or_else(short)?;
        last = last.wrapping_add(unzigzag(ahead).cast_unsigned());
        pages.push(Page { object: ObjectId(object), number: last });
    }
    whole(bytes)?;
    Ok(pages)
}

/// Thread, time, then all places with kinds, then all gaps: alike beside alike.
pub(super) fn encode_accesses(thread: u32, time_us: u64, all: &[Access], bytes: &mut Vec<u8>) {
    put(bytes, thread.into());
    put(bytes, time_us);
    let mut last = 0;
    for access in all {
        let place = i64::from(access.page) << 6 | i64::from(access.line & 63);
        put(bytes, zigzag(place - last) << 2 | code(access.kind));
        last = place;
    }
    for access in all {
        put(bytes, access.gap);
    }
}

/// `pages`: how many have numbers.
pub(super) fn decode_accesses(mut bytes: &[u8], count: usize, pages: u64) -> Result<Block, String> {
    let bytes = &mut bytes;
    let thread = take(bytes).and_then(|thread| u32::try_from(thread).ok()).ok_or_else(short)?;
    let time_us = take(bytes).ok_or_else(short)?;
    let (mut accesses, mut place) = (Vec::with_capacity(count), 0i64);
    for i in 0..count {
        let number = take(bytes).ok_or_else(short)?;
        place = place.wrapping_add(unzigzag(number >> 2));
        let page = u32::try_from(place >> 6).ok().filter(|page| u64::from(*page) < pages);
        let page = page.ok_or_else(|| format!("access {i} goes to a page without a number"))?;
        let kind = kind(number & 3).ok_or_else(|| format!("access {i} is of no known kind"))?;
        let line = u8::try_from(place & 63).unwrap_or_default();
        accesses.push(Access { page, line, kind, gap: 0 });
    }
    for access in &mut accesses {
        access.gap = take(bytes).ok_or_else(short)?;
    }
    whole(bytes)?;
    Ok(Block::Accesses { thread, time_us, accesses })
}

/// Of an end: how many pages and accesses come before it.
pub(super) fn decode_end(mut bytes: &[u8]) -> Result<(u64, u64), String> {
    let pages = take(&mut bytes).ok_or_else(short)?;
    let accesses = take(&mut bytes).ok_or_else(short)?;
    whole(bytes)?;
    Ok((pages, accesses))
}

fn short() -> String {
    "it ends in the middle of a number, or a number is too large".to_owned()
}

/// Nothing is left of a block.
fn whole(left: &[u8]) -> Result<(), String> {
    if left.is_empty() { Ok(()) } else { Err(format!("{} bytes are left over", left.len())) }
}

fn code(kind: Kind) -> u64 {
    match kind {
        Kind::Read => 0,
        Kind::Write => 1,
        Kind::WriteBack => 2,
    }
}

fn kind(code: u64) -> Option<Kind> {
    [Kind::Read, Kind::Write, Kind::WriteBack].into_iter().find(|kind| self::code(*kind) == code)
}
