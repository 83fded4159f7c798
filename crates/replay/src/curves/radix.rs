//! Stable ordering by u32 keys in linear time: LSD radix sort over as many bits as the keys differ
//! in. Entries are moved whole, and nothing but their key is looked up by row.

use crate::curves::entry::Entry;

/// Bits of one digit at most: counters stay in the first-level cache.
const DIGIT: u32 = 12;

/// Buffers that are kept from call to call.
#[derive(Debug, Default)]
pub(crate) struct Sorter {
    /// Per pass and digit: the next position.
    next: Vec<u32>,
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

impl Sorter {
    /// Orders `order`, which holds every row of `keys` once and no hole, by the rows' keys, ties as
    /// they are. Returns whether anything had to be done: not if all keys are equal.
    pub(crate) fn sort(
        &mut self,
        order: &mut Vec<Entry>,
        keys: &[u32],
        spare: &mut Vec<Entry>,
    ) -> bool {
        let Some(span) = Span::of(keys) else { return false };
        let passes = span.bits.div_ceil(DIGIT);
        let width = span.bits.div_ceil(passes);
        self.count(keys, span, passes, width);
        let mask = (1usize << width) - 1;
        // Every entry is written below.
        spare.resize(order.len(), Entry::default());
        for (pass, next) in (0..passes).zip(self.next.chunks_exact_mut(mask + 1)) {
            let shift = pass * width;
            for entry in order.iter() {
                let key = span.shorten(keys[entry.row() as usize]);
                let position = &mut next[(key >> shift) as usize & mask];
                spare[*position as usize] = *entry;
                *position += 1;
            }
            std::mem::swap(order, spare);
        }
        true
    }

    /// Counts all digits of all keys, and turns the counts into first positions.
    fn count(&mut self, keys: &[u32], span: Span, passes: u32, width: u32) {
        let digits = 1usize << width;
        self.next.clear();
        self.next.resize(digits * passes as usize, 0);
        for (pass, next) in (0..passes).zip(self.next.chunks_exact_mut(digits)) {
            let shift = pass * width;
            for key in keys {
                next[(span.shorten(*key) >> shift) as usize & (digits - 1)] += 1;
            }
            let mut sum = 0;
            for count in next {
                sum += std::mem::replace(count, sum);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(256))]
        #[test]
        fn sorts_like_the_library(
            keys in proptest::collection::vec(any::<u32>(), 0..80),
            low in any::<u32>(),
            span in 0u32..33,
            zeros in 0u32..20,
            turn in any::<usize>(),
        ) {
            let mask = if span == 0 { 0 } else { u32::MAX >> (32 - span) << zeros };
            let low = low & !mask;
            let keys: Vec<u32> = keys.iter().map(|key| low | key & mask).collect();
            let mut order: Vec<Entry> =
                (0..).take(keys.len()).map(|row| Entry::unit(row, 3, row % 3 == 0)).collect();
            if !order.is_empty() {
                let turn = turn % order.len();
                order.rotate_left(turn);
            }
            let mut wanted = order.clone();
            wanted.sort_by_key(|entry| keys[entry.row() as usize]);
            let any = Sorter::default().sort(&mut order, &keys, &mut Vec::new());
            prop_assert_eq!(any, keys.iter().any(|key| *key != keys[0]));
            prop_assert_eq!(&order, &wanted);
        }
    }
}
