//! One access, and the page that it goes to.

use pagetide_types::ObjectId;

/// What an access does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// It reads the line.
    Read,
    /// It writes the line (which a cache fetches first).
    Write,
    /// The cache gives back a line that was written; no instruction of its own.
    WriteBack,
}

/// One access of a thread to a line of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Access {
    /// The page's number in the stream, in order of first sight.
    pub page: u32,
    /// The line in the page, 0 to 63.
    pub line: u8,
    /// What it does.
    pub kind: Kind,
    /// Instructions that the thread executed since the last access of it in the stream.
    pub gap: u64,
}

/// A base page of memory: what the numbers in [`Access::page`] stand for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Page {
    /// What it belongs to, as in a recording.
    pub object: ObjectId,
    /// Its number in the object, in pages of 4 KiB: address / 4096 in an address space, offset /
    /// 4096 in a file.
    pub number: u64,
}
