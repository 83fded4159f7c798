//! What a part of a program's memory is: where it lies, how it is accessed, and who shares it.

use super::{super::Keys, LINE, PAGE, text::PartText};
use crate::{named_values::choice, patterns::Setup};
use pagetide_types::Bytes;
use serde::Deserialize;

/// A part of a program's memory, an array or a heap, and how it is accessed.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(try_from = "PartText")]
pub struct Part {
    /// What phases and messages call it.
    pub name: String,
    /// Where it begins, as a share of the memory; rounded down to a page.
    pub from: f64,
    /// Where it ends, as a share of the memory; rounded down to a page.
    pub to: f64,
    /// Its share of the accesses, relative to the weights of the other parts.
    pub weight: f64,
    /// Which of its lines come next.
    pub walk: PartWalk,
    /// Share of its accesses that write.
    pub writes: f64,
    /// How many lines in a row are accessed wherever its walk goes, 1 or more.
    pub run: u32,
    /// What each thread accesses of it. If not given, a slice where the walk is a sweep, else the
    /// whole.
    pub threads: Option<Sharing>,
}

/// In which order the lines of a part are accessed.
#[derive(Clone, Debug, PartialEq)]
pub enum PartWalk {
    /// In order of address, again and again.
    Sweep {
        /// From each access, or run of them, to the next: 64 bytes are all lines, one by one.
        stride: Bytes,
        /// How much of the part (of each thread's slice) is swept at a time, as a share: below 1
        /// a blocked loop.
        window: f64,
        /// How many times a window is swept before the next one.
        passes: u32,
    },
    /// Anywhere, every line as often.
    Random,
    /// Objects, the k-th most popular with a probability of k^-exponent; in an object anywhere.
    Zipf {
        /// 0 is uniform, 0.99 a usual key-value store.
        exponent: f64,
        /// Size of an object.
        object: Bytes,
        /// Where popular objects lie in the part.
        keys: Keys,
    },
    /// From object to object along pointers, in one random cycle through all: each visit waits
    /// for the one before (the first of a turn for what the thread accessed before it). Writes are
    /// to the object that was visited last.
    Chase {
        /// Size of an object; a pointer lies at its start.
        object: Bytes,
    },
}

choice! {
    /// What each thread accesses of a part.
    pub enum Sharing {
        /// An even slice, the first thread the lowest one.
        Slices = "slices",
        /// In a sweep, of as many pages as there are threads one: they go through the part together.
        Interleaved = "interleaved",
        /// All of it; pointers are chased from even distances on.
        Whole = "whole",
    }
}

/// Bytes in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Extent {
    pub(super) first: u64,
    pub(super) len: u64,
}

impl Part {
    /// A part with a weight of 1 that is only read, line by line.
    pub fn new(name: impl Into<String>, from: f64, to: f64, walk: PartWalk) -> Self {
        let (name, weight, writes) = (name.into(), 1.0, 0.0);
        Self { name, from, to, weight, walk, writes, run: 1, threads: None }
    }

    /// Its bytes in so much memory.
    pub(super) fn extent(&self, size: Bytes) -> Extent {
        let first = edge(self.from, size);
        Extent { first, len: edge(self.to, size).saturating_sub(first) }
    }

    /// The bytes of it that a thread accesses (in an interleaved sweep, some of them): whole units
    /// of its walk. What is left at the end, less than a unit, nobody accesses.
    pub(super) fn of_thread(&self, setup: &Setup, thread: u32) -> Extent {
        let (Extent { first, len }, unit) = (self.extent(setup.size()), self.walk.unit());
        let units = len / unit;
        if self.sharing() != Sharing::Slices {
            return Extent { first, len: units * unit };
        }
        let begin = setup.begin(thread, units);
        let end = setup.begin(thread + 1, units);
        Extent { first: first + begin * unit, len: (end - begin) * unit }
    }

    /// What a thread accesses of it.
    pub(super) fn sharing(&self) -> Sharing {
        self.threads.unwrap_or(match self.walk {
            PartWalk::Sweep { .. } => Sharing::Slices,
            _ => Sharing::Whole,
        })
    }
}

impl PartWalk {
    /// All lines in order of address.
    pub const SEQUENTIAL: Self = Self::Sweep { stride: Bytes(LINE), window: 1.0, passes: 1 };

    /// What slices and places are multiples of, in bytes.
    pub(super) fn unit(&self) -> u64 {
        match self {
            Self::Sweep { stride, .. } => stride.0,
            Self::Random => LINE,
            Self::Zipf { object, .. } | Self::Chase { object } => object.0,
        }
    }
}

/// The byte at a share of the memory: the first of a page, or at the end of the last whole line.
fn edge(share: f64, size: Bytes) -> u64 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "shares are checked, and saturating is harmless"
    )]
    let byte = (share * size.as_f64()) as u64;
    if share >= 1.0 { size.0 / LINE * LINE } else { byte / PAGE * PAGE }
}

#[cfg(test)]
mod tests {
    use super::{super::super::tests::setup, *};

    #[test]
    fn parts_that_follow_each_other_leave_nothing_out() {
        for size in [1 << 20, (1 << 20) + 100, 12_345_678] {
            let mut end = 0;
            for (from, to) in [(0.0, 0.123), (0.123, 1.0 / 3.0), (1.0 / 3.0, 1.0)] {
                let part = Part::new("part", from, to, PartWalk::Random);
                let Extent { first, len } = part.extent(Bytes(size));
                assert_eq!((first, first % PAGE), (end, 0));
                end = first + len;
            }
            assert_eq!(end, size / LINE * LINE);
        }
    }

    #[test]
    fn slices_are_whole_units_and_leave_nothing_out() {
        let chase = PartWalk::Chase { object: Bytes(192) };
        for walk in [PartWalk::SEQUENTIAL, PartWalk::Random, chase] {
            let unit = walk.unit();
            let threads = Some(Sharing::Slices);
            let part = Part { threads, ..Part::new("part", 0.25, 1.0, walk) };
            let setup = setup(1 << 20, 7);
            let mut end = 256 << 10;
            for Extent { first, len } in (0..7).map(|thread| part.of_thread(&setup, thread)) {
                assert_eq!((first, len % unit), (end, 0));
                assert!((len / unit).abs_diff((768 << 10) / unit / 7) <= 1);
                end = first + len;
            }
            assert!((1 << 20) - end < unit);
        }
    }
}
