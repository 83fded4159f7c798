//! Stable ordering by u32 keys in linear time (LSD radix sort over as many bits as the keys
//! differ in), fused in its last pass with the running sum of the sizes: the sort knows where
//! every unit ends.

use crate::place::Place;

/// Bits of one digit at most: counters and sums stay in the first-level cache.
const DIGIT: u32 = 12;

/// Buffers that are kept from call to call.
#[derive(Debug, Default)]
pub(crate) struct Sorter {
    /// (key, row) pairs between passes.
    pairs: Vec<u64>,
    other: Vec<u64>,
    /// Per digit of all passes but the last: the next position.
    next: Vec<u32>,
    /// Per digit of the last pass: the next position, and where its unit begins.
    last: Vec<Next>,
}

/// In which bits keys differ.
#[derive(Clone, Copy, Debug)]
struct Span {
    low: u32,
    /// Lowest bits in which no two keys differ, once `low` is taken off.
    same: u32,
    /// Bits above those in which some do.
    bits: u32,
}

impl Span {
    /// `None` if all keys are equal.
    fn of(keys: &[u32]) -> Option<Self> {
        let low = *keys.iter().min()?;
        let differ = keys.iter().fold(0, |differ, key| differ | (key - low));
        let same = differ.trailing_zeros();
        (differ != 0).then(|| Self { low, same, bits: u32::BITS - differ.leading_zeros() - same })
    }

    #[inline]
    fn shorten(self, key: u32) -> u32 {
        (key - self.low) >> self.same
    }
}

/// A position (28 bits) and its distance from the start in base pages (36 bits, 256 TiB).
#[derive(Clone, Copy, Debug, Default)]
struct Next(u64);

const PAGES_BITS: u32 = 36;
/// Most units that can be sorted.
pub(crate) const MAX_UNITS: usize = 1 << (u64::BITS - PAGES_BITS);

impl Next {
    /// One unit further.
    #[inline]
    fn advance(&mut self, pages: u16) -> Self {
        let before = *self;
        self.0 += 1 << PAGES_BITS | u64::from(pages);
        before
    }

    #[inline]
    fn position(self) -> usize {
        (self.0 >> PAGES_BITS) as usize
    }

    #[inline]
    fn pages(self) -> u64 {
        self.0 & ((1 << PAGES_BITS) - 1)
    }
}

impl Sorter {
    /// Writes `order` (each row of `places` once) to `sorted`, by the places' keys, ties in the
    /// order given, and calls `put(place, end)` once for every row, `end` being the sum of the
    /// pages up to and with the row in the new order. Does nothing and returns `false` if all
    /// keys are equal.
    pub(crate) fn sort(
        &mut self,
        order: &[u32],
        keys: &[u32],
        places: &mut [Place],
        sorted: &mut Vec<u32>,
        mut put: impl FnMut(&mut Place, u64),
    ) -> bool {
        let Some(span) = Span::of(keys) else { return false };
        let bits = span.bits;
        let passes = bits.div_ceil(DIGIT);
        let width = bits.div_ceil(passes);
        self.count(keys, places, span, passes, width);
        // Every entry is written below.
        sorted.resize(order.len(), 0);
        let digits = 1usize << width;
        let mask = digits - 1;
        let shift = (passes - 1) * width;
        let (next, last) = (&mut self.next, &mut self.last[..digits]);
        let mut finish = |row: u32| {
            let place = &mut places[row as usize];
            let digit = (place.key() >> shift) as usize & mask;
            let pages = place.pages();
            let next = last[digit].advance(pages);
            put(place, next.pages() + u64::from(pages));
            sorted[next.position()] = row;
        };
        if passes == 1 {
            order.iter().copied().for_each(finish);
            return true;
        }
        self.pairs.resize(order.len(), 0);
        for row in order {
            let key = span.shorten(keys[*row as usize]);
            let slot = &mut next[key as usize & mask];
            self.pairs[*slot as usize] = u64::from(key) << 32 | u64::from(*row);
            *slot += 1;
        }
        for pass in 1..passes - 1 {
            let next = &mut next[pass as usize * digits..][..digits];
            self.other.resize(order.len(), 0);
            for pair in &self.pairs {
                let slot = &mut next[(key(*pair) >> (pass * width)) as usize & mask];
                self.other[*slot as usize] = *pair;
                *slot += 1;
            }
            std::mem::swap(&mut self.pairs, &mut self.other);
        }
        self.pairs.iter().for_each(|pair| finish(row(*pair)));
        true
    }

    /// Counts all digits of all keys, turns the counts into first positions, and puts the keys
    /// into the places.
    fn count(&mut self, keys: &[u32], places: &mut [Place], span: Span, passes: u32, width: u32) {
        let digits = 1usize << width;
        let mask = digits - 1;
        self.next.clear();
        self.next.resize(digits * (passes as usize - 1), 0);
        self.last.clear();
        self.last.resize(digits, Next::default());
        let last = (passes - 1) * width;
        for (key, place) in keys.iter().zip(places) {
            let key = span.shorten(*key);
            place.set_key(key);
            for pass in 0..passes - 1 {
                self.next[pass as usize * digits + ((key >> (pass * width)) as usize & mask)] += 1;
            }
            self.last[(key >> last) as usize & mask].advance(place.pages());
        }
        for pass in self.next.chunks_exact_mut(digits) {
            let mut sum = 0;
            for count in pass {
                sum += std::mem::replace(count, sum);
            }
        }
        let mut sum = 0;
        for next in &mut self.last {
            sum += std::mem::replace(&mut next.0, sum);
        }
    }
}

fn key(pair: u64) -> u32 {
    (pair >> 32) as u32
}

#[expect(clippy::cast_possible_truncation, reason = "the lower half")]
fn row(pair: u64) -> u32 {
    pair as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(256))]
        #[test]
        fn sorts_like_the_library_and_sums_sizes(
            units in proptest::collection::vec((any::<u32>(), 0u16..9), 0..80),
            low in any::<u32>(),
            span in 0u32..33,
            zeros in 0u32..20,
            turn in any::<usize>(),
        ) {
            let mask = if span == 0 { 0 } else { u32::MAX >> (32 - span) << zeros };
            let low = low & !mask;
            let keys: Vec<u32> = units.iter().map(|(key, _)| low | key & mask).collect();
            let pages: Vec<u16> = units.iter().map(|(_, pages)| *pages).collect();
            let mut order: Vec<u32> = (0..).take(units.len()).collect();
            if !order.is_empty() {
                let turn = turn % order.len();
                order.rotate_left(turn);
            }
            let mut wanted = order.clone();
            wanted.sort_by_key(|row| keys[*row as usize]);
            let mut end = 0;
            let ends: Vec<(u32, u64)> = wanted
                .iter()
                .map(|row| {
                    end += u64::from(pages[*row as usize]);
                    (*row, end)
                })
                .collect();
            let mut places: Vec<Place> = pages.iter().map(|pages| Place::new(*pages)).collect();
            let mut sorted = Vec::new();
            // The end, and how often it was given, in the place's cell.
            let any = Sorter::default().sort(&order, &keys, &mut places, &mut sorted, |at, end| {
                let before = at.replace_cell(u32::try_from(end).unwrap() + 1000);
                assert_eq!(before, 0, "given twice");
            });
            prop_assert_eq!(any, keys.iter().any(|key| *key != keys[0]));
            if any {
                prop_assert_eq!(&sorted, &wanted);
                for (row, end) in ends {
                    prop_assert_eq!(u64::from(places[row as usize].cell()), end + 1000);
                }
            }
        }
    }
}
