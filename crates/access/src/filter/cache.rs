//! A cache of lines of 64 bytes: set associative, write-back, write-allocate, and within a set the
//! line that was used the longest ago makes room.
//!
//! A line lies in set `line % sets`, as in textbooks. Last-level caches of real machines spread
//! their lines by an undocumented hash (Maurice et al., RAID 2015), so distances of a power of two
//! that collide here need not collide there.

use super::row::{self, Touched};
use super::sets::Sets;
use crate::parameter::{Result, refuse};
use pagetide_types::Bytes;

/// Bytes of a line.
pub const LINE: Bytes = Bytes(64);

/// See the module.
#[derive(Clone, Debug)]
pub struct Cache(Sets);

/// What an access found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Looked {
    /// The line.
    Hit,
    /// Not the line, which is there now; it took the place of another one unless one was empty.
    Miss(Option<Evicted>),
}

/// A line that made room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Evicted {
    /// Which, in lines of 64 bytes.
    pub line: u64,
    /// It was written since it came, so it has to be written back.
    pub dirty: bool,
}

impl Cache {
    /// An empty one. Any number of sets will do, a power of two or not.
    ///
    /// # Errors
    /// If there are no ways, or the bytes are not so many lines for each set.
    pub fn new(bytes: Bytes, ways: u32) -> Result<Self> {
        if !bytes.0.is_multiple_of(LINE.0) {
            return refuse("size", bytes.0, "give a multiple of 64, the bytes of a line");
        }
        Sets::new(bytes.0 / LINE.0, ways, "size", LINE.0).map(Self)
    }

    /// Reads or writes a line. On a miss it is brought in, in either case.
    ///
    /// # Panics
    /// If the line is not below [`Self::limit`].
    #[inline]
    pub fn access(&mut self, line: u64, write: bool) -> Looked {
        let place = self.0.place(line);
        match self.0.touch(place, u32::from(write)) {
            Touched::Hit => Looked::Hit,
            Touched::Miss(entry) => {
                let evicted = self.0.number(place.set, entry);
                Looked::Miss(evicted.map(|line| Evicted { line, dirty: entry & 1 != 0 }))
            }
        }
    }

    /// Whether a line is there.
    ///
    /// # Panics
    /// If the line is not below [`Self::limit`].
    pub fn holds(&mut self, line: u64) -> bool {
        let place = self.0.place(line);
        row::holds(self.0.row(place.set), place.key)
    }

    /// Forgets a line, whose place is then the first to be taken; whether it was there and had been written.
    ///
    /// # Panics
    /// If the line is not below [`Self::limit`].
    pub fn invalidate(&mut self, line: u64) -> bool {
        let place = self.0.place(line);
        row::remove(self.0.row(place.set), place.key) != 0
    }

    /// Lines are below this; about 2^31 for each set, 8 TiB of memory for a cache of 64 sets.
    #[must_use]
    pub const fn limit(&self) -> u64 {
        self.0.limit()
    }

    /// The lines that were written and not yet written back, in any order.
    pub fn dirty(&self) -> impl Iterator<Item = u64> {
        self.0.marked()
    }
}
