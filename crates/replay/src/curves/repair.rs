//! Mends an order of which few keys changed, in place of sorting it anew: what kept its key is in
//! order already, and the few others are sorted and merged in.

use crate::curves::entry::Entry;

/// Of so many units one may have changed; where more have, sorting anew is faster.
const ONE_IN: usize = 32;
/// So many may always have changed, so that small orders are mended too.
const FEW: usize = 4;

/// Buffers that are kept from call to call.
#[derive(Debug, Default)]
pub(crate) struct Repair {
    /// One bit per row: its key changed.
    changed: Vec<u64>,
    /// The units whose keys did not change, in order.
    kept: Vec<Entry>,
    /// The others, in order, and how many of the kept came before each.
    moved: Vec<(Entry, usize)>,
    /// New key and position in `moved`.
    by_key: Vec<(u32, usize)>,
}

/// What has become of an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Repaired {
    /// No key changed, nor does the order.
    Same,
    /// It is in order again, and as before up to this position.
    From(usize),
    /// Too many keys changed; nothing was done.
    TooMany,
}

impl Repair {
    /// Orders `order`, which has every row once and stands in order of `old`, by `new`, ties as
    /// they are; both have a key per row. The result is in `mended`.
    pub(crate) fn mend(
        &mut self,
        order: &[Entry],
        old: &[u32],
        new: &[u32],
        mended: &mut Vec<Entry>,
    ) -> Repaired {
        match self.find_changed(old, new) {
            0 => return Repaired::Same,
            many if many > (order.len() / ONE_IN).max(FEW) => return Repaired::TooMany,
            _ => {}
        }
        self.part(order, new);
        self.by_key.sort_unstable();
        self.merge(new, mended)
    }

    /// Marks the rows whose keys differ; how many there are.
    fn find_changed(&mut self, old: &[u32], new: &[u32]) -> usize {
        self.changed.clear();
        self.changed.extend(old.chunks(64).zip(new.chunks(64)).map(|(old, new)| {
            let differ = old.iter().zip(new).map(|(old, new)| u64::from(old != new));
            differ.enumerate().fold(0, |bits, (at, differs)| bits | differs << at)
        }));
        self.changed.iter().map(|bits| bits.count_ones() as usize).sum()
    }

    /// Parts the rows that moved from those that stay.
    fn part(&mut self, order: &[Entry], new: &[u32]) {
        self.kept.clear();
        self.moved.clear();
        self.by_key.clear();
        for entry in order {
            let row = entry.row();
            if self.changed[row as usize / 64] >> (row % 64) & 1 == 0 {
                self.kept.push(*entry);
                continue;
            }
            self.by_key.push((new[row as usize], self.moved.len()));
            self.moved.push((*entry, self.kept.len()));
        }
    }

    /// Puts every row that moved among the kept of its key where it stood relative to them, and
    /// where there are none of its key, between the smaller and the larger.
    fn merge(&self, new: &[u32], mended: &mut Vec<Entry>) -> Repaired {
        mended.clear();
        let mut done = 0;
        let (mut equal, mut of) = (0..0, None);
        for &(key, at) in &self.by_key {
            if of != Some(key) {
                let key_of = |entry: &Entry| new[entry.row() as usize];
                let first = done + self.kept[done..].partition_point(|entry| key_of(entry) < key);
                let same = self.kept[first..].partition_point(|entry| key_of(entry) == key);
                (equal, of) = (first..first + same, Some(key));
            }
            let (moved, before) = self.moved[at];
            let at = before.clamp(equal.start, equal.end);
            mended.extend_from_slice(&self.kept[done..at]);
            mended.push(moved);
            done = at;
        }
        mended.extend_from_slice(&self.kept[done..]);
        Repaired::From(self.first_difference(mended))
    }

    /// Before it nothing was taken out and nothing was put in.
    fn first_difference(&self, mended: &[Entry]) -> usize {
        let out = self.moved.first().map_or(0, |(_, before)| *before);
        let same = std::iter::zip(&self.kept[..out], mended).take_while(|(a, b)| a == b);
        same.count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(512))]
        #[test]
        fn mends_as_the_library_sorts(
            old in proptest::collection::vec(0u32..6, 0..300),
            changes in proptest::collection::vec((any::<usize>(), 0u32..8), 0..14),
            turn in any::<usize>(),
        ) {
            let mut order: Vec<Entry> =
                (0..).take(old.len()).map(|row| Entry::unit(row, 1, false)).collect();
            if !order.is_empty() {
                let turn = turn % order.len();
                order.rotate_left(turn);
            }
            order.sort_by_key(|entry| old[entry.row() as usize]);
            let mut new = old.clone();
            for (row, key) in changes.iter().filter(|_| !old.is_empty()) {
                new[row % old.len()] = *key;
            }
            let mut wanted = order.clone();
            wanted.sort_by_key(|entry| new[entry.row() as usize]);
            let changed = std::iter::zip(&old, &new).filter(|(a, b)| a != b).count();
            let mut mended = Vec::new();
            match Repair::default().mend(&order, &old, &new, &mut mended) {
                Repaired::Same => prop_assert_eq!(changed, 0),
                Repaired::TooMany => prop_assert!(changed > (old.len() / ONE_IN).max(FEW)),
                Repaired::From(first) => {
                    prop_assert_eq!(&mended, &wanted);
                    prop_assert_eq!(&order[..first], &wanted[..first]);
                }
            }
        }
    }
}
