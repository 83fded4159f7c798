//! Which accesses of a part write: a fixed share of them, spread evenly.

use super::super::Memory;

/// 2^64 over the golden ratio. Multiples of it, modulo 2^64, are spread over all words more evenly
/// than random ones, and agree with no period of a loop (Weyl 1916; Knuth, volume 3, section 6.4).
pub(super) const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// The second word of a line.
const SECOND: u64 = 8;

/// What decides whether the next access of a part writes.
#[derive(Clone, Debug)]
pub(super) struct Writes {
    place: u64,
    /// Places below are those of writes.
    below: u64,
}

impl Writes {
    /// `below` is the [`threshold`](crate::generators::threshold) of their share.
    pub(super) const fn new(below: u64, place: u64) -> Self {
        Self { place, below }
    }

    /// Whether the next access writes.
    #[inline]
    pub(super) fn next(&mut self) -> bool {
        self.place = self.place.wrapping_add(GOLDEN);
        self.place < self.below
    }

    /// Reads or writes a line.
    #[inline]
    pub(super) fn touch(&mut self, line: u64, memory: &mut impl Memory) {
        if self.next() {
            self.write(line, memory);
        } else {
            memory.read(line);
        }
    }

    /// Writes into a line, next to what may be a pointer.
    #[inline]
    pub(super) fn write(&self, line: u64, memory: &mut impl Memory) {
        memory.write(line + SECOND, self.place);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generators::threshold;

    #[test]
    fn their_share_is_exact() {
        for share in [0.0, 0.001, 0.25, 1.0 / 3.0, 0.9, 1.0] {
            let mut writes = Writes::new(threshold(share), 12_345);
            let n = (0..1_000_000).filter(|_| writes.next()).count() as f64;
            assert!((n - share * 1e6).abs() < 10.0, "{share}: {n}");
        }
    }

    #[test]
    fn no_place_of_a_loop_is_spared() {
        // A loop over 1,024 lines, half of whose accesses write: no line is always or never written.
        let mut writes = Writes::new(threshold(0.5), 1);
        let mut written = [0; 1024];
        (0..100).for_each(|_| written.iter_mut().for_each(|n| *n += u32::from(writes.next())));
        assert!(written.iter().all(|n| (40..=60).contains(n)), "{written:?}");
    }
}
