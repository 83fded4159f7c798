//! Entries in sets: what a cache and a TLB have in common.

use super::row::{self, EMPTY, MARK, Touched};
use crate::{
    generators::{index, scale},
    parameter::{Result, refuse},
};

/// Sets of so many ways. A number lies in set `number % sets`, and its entry holds the rest.
#[derive(Clone, Debug)]
pub(super) struct Sets {
    /// Row after row, a row for each set.
    entries: Vec<u32>,
    ways: usize,
    sets: u64,
    /// 2^64 / `sets`, rounded down.
    reciprocal: u64,
}

/// Where a number is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// Its set.
    pub(super) set: u64,
    /// What stands for it there; [`MARK`] is not set.
    pub(super) key: u32,
}

/// More entries than this are a mistake: as a cache they hold 256 GiB.
const MOST: u64 = 1 << 32;

impl Sets {
    /// `entries` in all, at least one; `size` is what the parameter is called that they come from,
    /// and `each` how many of its units an entry takes.
    pub(super) fn new(entries: u64, ways: u32, size: &'static str, each: u64) -> Result<Self> {
        if ways == 0 {
            return refuse("ways", 0, "a set holds something; give 1 or more");
        }
        let round = u64::from(ways) * each;
        if entries == 0 || !entries.is_multiple_of(u64::from(ways)) {
            let remedy = format!("give a multiple of {round}, so that each set has {ways} `ways`");
            return refuse(size, entries * each, remedy);
        }
        if entries > MOST {
            return refuse(size, entries * each, format!("give at most {}", MOST * each));
        }
        let sets = entries / u64::from(ways);
        Ok(Self {
            entries: vec![EMPTY; index(entries)],
            ways: index(u64::from(ways)),
            sets,
            // Of one set the rounding below makes up for the one that is missing.
            reciprocal: u64::try_from((1_u128 << 64) / u128::from(sets)).unwrap_or(u64::MAX),
        })
    }

    /// How many sets there are.
    pub(super) const fn sets(&self) -> u64 {
        self.sets
    }

    /// Numbers from here on cannot be told apart.
    pub(super) const fn limit(&self) -> u64 {
        self.sets * ((u32::MAX >> 1) as u64)
    }

    /// Where a number belongs.
    ///
    /// # Panics
    /// If the number is not below the limit.
    #[inline]
    pub(super) fn place(&self, number: u64) -> Place {
        let (tag, set) = self.divide(number);
        Place { set, key: self.key(tag, number) }
    }

    /// Where a number of one of two kinds belongs: both lie in one set, under different keys.
    ///
    /// # Panics
    /// If the number is not below half of the limit.
    #[inline]
    pub(super) fn place_of(&self, number: u64, kind: bool) -> Place {
        let (tag, set) = self.divide(number);
        Place { set, key: self.key(tag << 1 | u64::from(kind), number) }
    }

    /// A division by multiplication: the quotient is at most one too low, which is made up for.
    #[inline]
    fn divide(&self, number: u64) -> (u64, u64) {
        let low = scale(number, self.reciprocal).0;
        let rest = number - low * self.sets;
        if rest >= self.sets { (low + 1, rest - self.sets) } else { (low, rest) }
    }

    /// 0 stands for nothing, and the lowest bit is the mark's.
    #[inline]
    fn key(&self, tag: u64, number: u64) -> u32 {
        match u32::try_from((tag + 1) << 1) {
            Ok(key) => key,
            Err(_) => self.beyond(number),
        }
    }

    #[cold]
    #[inline(never)]
    fn beyond(&self, number: u64) -> ! {
        panic!(
            "number {number} is beyond the limit of its cache or TLB, {} of a kind",
            self.limit()
        )
    }

    /// The number of an entry of a set.
    #[inline]
    pub(super) fn number(&self, set: u64, entry: u32) -> Option<u64> {
        let tag = u64::from(entry >> 1).checked_sub(1)?;
        Some(tag * self.sets + set)
    }

    /// The entries of a set, the one used last first.
    #[inline]
    pub(super) fn row(&mut self, set: u64) -> &mut [u32] {
        let start = index(set) * self.ways;
        &mut self.entries[start..start + self.ways]
    }

    /// Looks a key up and puts it first, with what its mark becomes.
    #[inline]
    pub(super) fn touch(&mut self, place: Place, mark: u32) -> Touched {
        row::touch(self.row(place.set), place.key, mark)
    }

    /// All marked numbers, in no order that means anything.
    pub(super) fn marked(&self) -> impl Iterator<Item = u64> {
        self.entries
            .chunks(self.ways)
            .zip(0..)
            .flat_map(|(row, set)| row.iter().map(move |entry| (set, *entry)))
            .filter(|(_, entry)| entry & MARK != 0)
            .filter_map(|(set, entry)| self.number(set, entry))
    }
}
