//! What of a core's accesses memory sees, kept so that it can be replayed any number of times: 8 bytes
//! for each line that is fetched or given back.

use super::counts::PageId;
use super::filter::{Seen, What};
use pagetide_access::Kind;

/// A line that goes between a node's caches and memory, or only instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Miss {
    line: u32,
    /// Instructions since the one before, times four, and what it is.
    word: u32,
}

/// What it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request {
    /// A line is fetched, and whoever wants it waits for one of its core's places.
    Fetch,
    /// A line is given back; nobody waits.
    WriteBack,
    /// Nothing goes to memory: instructions, more than fit elsewhere, or those after the last miss.
    Nothing,
    /// The first level of the core's TLB does not translate the line's page.
    Translation,
}

/// The most instructions that one entry holds.
const MOST: u64 = (1 << 30) - 1;

impl Miss {
    /// Its line, from the start of the program's memory.
    #[inline]
    #[must_use]
    pub const fn line(self) -> u32 {
        self.line
    }

    /// The page that it lies in.
    #[inline]
    #[must_use]
    pub const fn page(self) -> PageId {
        PageId(self.line >> 6)
    }

    /// Instructions since the one before.
    #[inline]
    #[must_use]
    pub const fn instructions(self) -> u32 {
        self.word >> 2
    }

    /// What it is.
    #[inline]
    #[must_use]
    pub const fn request(self) -> Request {
        match self.word & 3 {
            0 => Request::Fetch,
            1 => Request::WriteBack,
            2 => Request::Nothing,
            _ => Request::Translation,
        }
    }
}

/// All that a core has to do with memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Misses {
    all: Vec<Miss>,
    instructions: u64,
    fetches: u64,
    write_backs: u64,
}

impl Misses {
    /// In order.
    #[must_use]
    pub fn all(&self) -> &[Miss] {
        &self.all
    }

    /// Instructions in all.
    #[must_use]
    pub const fn instructions(&self) -> u64 {
        self.instructions
    }

    /// Lines that are fetched.
    #[must_use]
    pub const fn fetches(&self) -> u64 {
        self.fetches
    }

    /// Lines that are given back.
    #[must_use]
    pub const fn write_backs(&self) -> u64 {
        self.write_backs
    }

    /// Forgets all.
    pub(super) fn clear(&mut self) {
        self.all.clear();
        (self.instructions, self.fetches, self.write_backs) = (0, 0, 0);
    }

    /// Gives all away, for what is to be overwritten.
    pub(super) fn swap(&mut self, all: &mut Vec<Miss>) {
        std::mem::swap(&mut self.all, all);
    }

    /// Appends what a core was seen to do.
    pub fn add(&mut self, seen: &Seen) {
        match seen.what {
            What::Line(kind) => self.push(seen.line, kind, seen.instructions),
            What::Translation { walk } => {
                self.translate(seen.line & !1 | u32::from(walk), seen.instructions);
            }
        }
    }

    /// Appends one, `instructions` after the one before.
    pub fn push(&mut self, line: u32, kind: Kind, instructions: u64) {
        match kind {
            Kind::Read | Kind::Write => self.fetches += 1,
            Kind::WriteBack => self.write_backs += 1,
        }
        self.append(line, u32::from(kind == Kind::WriteBack), instructions);
    }

    /// Appends a page that the first level of a TLB does not translate: its line, which is odd if the
    /// second level does not either.
    pub fn translate(&mut self, line: u32, instructions: u64) {
        self.append(line, 3, instructions);
    }

    /// Appends instructions after the last one.
    pub fn compute(&mut self, instructions: u64) {
        if instructions > 0 {
            self.append(0, 2, instructions);
        }
    }

    fn append(&mut self, line: u32, what: u32, instructions: u64) {
        self.instructions += instructions;
        let mut left = instructions;
        while left > MOST {
            self.all.push(Miss { line: 0, word: u32::MAX - 1 });
            left -= MOST;
        }
        #[expect(clippy::cast_possible_truncation, reason = "at most MOST")]
        let gap = left as u32;
        self.all.push(Miss { line, word: gap << 2 | what });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_is_kept_is_what_came(
            all in prop::collection::vec((any::<u32>(), 0..3_u8, 0..1_u64 << 33), 0..50),
        ) {
            let mut misses = Misses::default();
            let mut instructions = 0;
            for (line, kind, gap) in &all {
                let kind = [Kind::Read, Kind::Write, Kind::WriteBack][usize::from(*kind)];
                misses.push(*line, kind, *gap);
                instructions += gap;
            }
            let sum: u64 = misses.all().iter().map(|miss| u64::from(miss.instructions())).sum();
            prop_assert_eq!((sum, misses.instructions()), (instructions, instructions));
            let lines: Vec<u32> = misses.all().iter()
                .filter(|miss| miss.request() != Request::Nothing).map(|miss| miss.line()).collect();
            prop_assert_eq!(lines, all.iter().map(|(line, ..)| *line).collect::<Vec<_>>());
            prop_assert_eq!(misses.fetches() + misses.write_backs(), all.len() as u64);
        }
    }
}
