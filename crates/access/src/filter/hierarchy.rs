//! The caches of a core and the one behind them: which level serves an access, and which lines are
//! written back to memory.
//!
//! A line is brought into every level that lacked it. No level contains another (neither inclusive
//! nor exclusive, as of the last level of Intel's servers since Skylake): a line that a lower level
//! gives up stays in the upper ones. A dirty line that a level gives up is written whole into the
//! next one, which makes room for it and takes it as just used; clean ones are dropped. Caches of
//! several cores know nothing of each other: a line that one of them holds dirty is not sent to
//! another core, nor invalidated when that writes it.

use super::cache::{Cache, Evicted, Looked};

/// The level behind the private ones.
pub trait Last {
    /// Reads or writes a line, as [`Cache::access`] does.
    ///
    /// # Panics
    /// If the line is not below its limit.
    fn access(&mut self, line: u64, write: bool) -> Looked;
}

impl Last for Cache {
    #[inline]
    fn access(&mut self, line: u64, write: bool) -> Looked {
        Self::access(self, line, write)
    }
}

/// What served an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// The core's first level.
    First,
    /// The core's second level.
    Second,
    /// The last level, which cores share.
    Last,
    /// Memory.
    Memory,
}

/// What an access did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Served {
    /// The first level that had the line.
    pub level: Level,
    /// What memory was given back.
    pub written: Written,
}

/// Dirty lines that one access makes the caches write back to memory: at most three, one that each
/// level gives up.
#[derive(Clone, Copy, Debug, Default)]
pub struct Written {
    lines: [u64; 3],
    count: usize,
}

impl Written {
    /// They, in the order in which they were written.
    #[inline]
    #[must_use]
    pub fn lines(&self) -> &[u64] {
        &self.lines[..self.count]
    }

    #[inline]
    fn push(&mut self, line: u64) {
        self.lines[self.count] = line;
        self.count += 1;
    }
}

impl PartialEq for Written {
    fn eq(&self, other: &Self) -> bool {
        self.lines() == other.lines()
    }
}

impl Eq for Written {}

/// The first and the second level of a core.
#[derive(Clone, Debug)]
pub struct Private {
    first: Cache,
    second: Cache,
}

impl Private {
    /// These two caches, which should be empty.
    #[must_use]
    pub const fn new(first: Cache, second: Cache) -> Self {
        Self { first, second }
    }

    /// Reads or writes a line through them and the last level.
    ///
    /// # Panics
    /// If the line is not below the limits of all three caches.
    #[inline]
    pub fn access(&mut self, last: &mut impl Last, line: u64, write: bool) -> Served {
        match self.first.access(line, write) {
            Looked::Hit => Served { level: Level::First, written: Written::default() },
            Looked::Miss(evicted) => self.behind(last, line, evicted),
        }
    }

    /// What the levels behind the first do: they fetch the line first, all the way down, and then
    /// take what was given up for it, from the last level up.
    fn behind(&mut self, last: &mut impl Last, line: u64, of_first: Option<Evicted>) -> Served {
        let mut written = Written::default();
        let level = match self.second.access(line, false) {
            Looked::Hit => Level::Second,
            Looked::Miss(of_second) => {
                let level = match last.access(line, false) {
                    Looked::Hit => Level::Last,
                    Looked::Miss(of_last) => {
                        dirty(of_last).into_iter().for_each(|line| written.push(line));
                        Level::Memory
                    }
                };
                write_to_last(last, of_second, &mut written);
                level
            }
        };
        if let Some(line) = dirty(of_first)
            && let Looked::Miss(of_second) = self.second.access(line, true)
        {
            write_to_last(last, of_second, &mut written);
        }
        Served { level, written }
    }

    /// Forgets a line, in both levels; whether one of them held it dirty.
    ///
    /// # Panics
    /// If the line is not below the limits of both caches.
    pub fn invalidate(&mut self, line: u64) -> bool {
        self.first.invalidate(line) | self.second.invalidate(line)
    }

    /// The lines that either level holds dirty, in any order; a line may come twice.
    pub fn dirty(&self) -> impl Iterator<Item = u64> {
        self.first.dirty().chain(self.second.dirty())
    }
}

/// Writes a line that the second level gave up into the last, if it has to be.
#[inline]
fn write_to_last(last: &mut impl Last, evicted: Option<Evicted>, written: &mut Written) {
    if let Some(line) = dirty(evicted)
        && let Looked::Miss(of_last) = last.access(line, true)
        && let Some(line) = dirty(of_last)
    {
        written.push(line);
    }
}

#[inline]
fn dirty(evicted: Option<Evicted>) -> Option<u64> {
    evicted.filter(|evicted| evicted.dirty).map(|evicted| evicted.line)
}
