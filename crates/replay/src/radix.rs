//! Stable ordering by u32 keys in linear time (LSD radix sort over as many bits as the keys
//! differ in), fused in its last pass with the running sum of the sizes: the sort knows where
//! every unit ends.

/// Bits of one digit at most: counters and sums stay in the first-level cache.
const DIGIT: u32 = 11;

/// Buffers that are kept from call to call.
#[derive(Debug, Default)]
pub(crate) struct Sorter {
    /// (key, row) pairs between passes.
    pairs: Vec<u64>,
    other: Vec<u64>,
    /// Per pass and digit: the next position.
    next: Vec<u32>,
    /// Per digit of the last pass: where the next unit begins, in pages.
    ends: Vec<u64>,
}

impl Sorter {
    /// Writes `order` (each row once) to `sorted`, by `keys`, ties in the order given, and calls
    /// `place(row, pages, end)` once for every row, `end` being the sum of `pages` up to and with
    /// the row in the new order. Does nothing and returns `false` if all keys are equal.
    pub(crate) fn sort(
        &mut self,
        order: &[u32],
        keys: &[u32],
        pages: &[u16],
        sorted: &mut Vec<u32>,
        mut place: impl FnMut(u32, u16, u64),
    ) -> bool {
        let low = keys.iter().copied().min().unwrap_or(0);
        let high = keys.iter().copied().max().unwrap_or(0);
        let bits = u32::BITS - (high - low).leading_zeros();
        if bits == 0 {
            return false;
        }
        let passes = bits.div_ceil(DIGIT);
        let width = bits.div_ceil(passes);
        self.count(keys, pages, low, passes, width);
        sorted.clear();
        sorted.resize(order.len(), 0);
        let digits = 1usize << width;
        let mask = digits - 1;
        let last = (passes - 1) * width;
        let (next, last_next) = self.next.split_at_mut((passes as usize - 1) * digits);
        let ends = &mut self.ends;
        let mut put = |key: u32, row: u32| {
            let digit = (key >> last) as usize & mask;
            let size = pages[row as usize];
            ends[digit] += u64::from(size);
            place(row, size, ends[digit]);
            sorted[last_next[digit] as usize] = row;
            last_next[digit] += 1;
        };
        if passes == 1 {
            for row in order {
                put(keys[*row as usize] - low, *row);
            }
            return true;
        }
        self.pairs.resize(order.len(), 0);
        for row in order {
            let key = keys[*row as usize] - low;
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
        for pair in &self.pairs {
            put(key(*pair), row(*pair));
        }
        true
    }

    /// Counts all digits of all keys and turns the counts into first positions.
    fn count(&mut self, keys: &[u32], pages: &[u16], low: u32, passes: u32, width: u32) {
        let digits = 1usize << width;
        let mask = digits - 1;
        self.next.clear();
        self.next.resize(digits * passes as usize, 0);
        self.ends.clear();
        self.ends.resize(digits, 0);
        let last = (passes - 1) * width;
        for (key, size) in keys.iter().zip(pages) {
            let key = key - low;
            for pass in 0..passes {
                self.next[pass as usize * digits + ((key >> (pass * width)) as usize & mask)] += 1;
            }
            self.ends[(key >> last) as usize & mask] += u64::from(*size);
        }
        for pass in self.next.chunks_exact_mut(digits) {
            let mut sum = 0;
            for count in pass {
                sum += std::mem::replace(count, sum);
            }
        }
        let mut sum = 0;
        for pages in &mut self.ends {
            sum += std::mem::replace(pages, sum);
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
            turn in any::<usize>(),
        ) {
            let mask = if span == 0 { 0 } else { u32::MAX >> (32 - span) };
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
            let (mut sorted, mut found) = (Vec::new(), Vec::new());
            let any = Sorter::default().sort(&order, &keys, &pages, &mut sorted, |row, _, end| {
                found.push((row, end));
            });
            prop_assert_eq!(any, wanted != order || keys.iter().any(|key| *key != keys[0]));
            if any {
                prop_assert_eq!(&sorted, &wanted);
                found.sort_unstable_by_key(|(row, _)| *row);
                let mut ends = ends;
                ends.sort_unstable_by_key(|(row, _)| *row);
                prop_assert_eq!(found, ends);
            }
        }
    }
}
