//! One set of a cache: its entries in order of last use, the latest first. Looking up, moving to
//! the front and giving up the last are one pass over at most a few vectors of tags, so a set has
//! no ages beside its tags (LRU as a stack: Mattson et al. 1970).

/// A place that holds nothing.
pub(super) const EMPTY: u32 = 0;
/// The bit beside the tag; lookups pass over it.
pub(super) const MARK: u32 = 1;

/// What became of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Touched {
    /// It held the key.
    Hit,
    /// It holds the key now, and no longer this entry.
    Miss(u32),
}

/// Looks for a key, whose mark is not set, and puts it first. The mark is added to what the entry has.
#[inline]
pub(super) fn touch(row: &mut [u32], key: u32, mark: u32) -> Touched {
    if let Some(first) = row.first_mut()
        && *first & !MARK == key
    {
        *first |= mark;
        return Touched::Hit;
    }
    reorder(row, key, mark)
}

/// [`touch`] of what is not the first. Common numbers of ways are compiled on their own.
fn reorder(row: &mut [u32], key: u32, mark: u32) -> Touched {
    macro_rules! by_ways {
        ($($ways:literal)+) => {
            match row.len() {
                $($ways => row.as_mut_array::<$ways>().map(|row| reorder_array(row, key, mark)),)+
                _ => None,
            }
        };
    }
    by_ways!(4 5 6 8 10 11 12 15 16 20 24 32).unwrap_or_else(|| reorder_slice(row, key, mark))
}

/// All places are compared at once, without a branch.
#[inline]
fn reorder_array<const WAYS: usize>(row: &mut [u32; WAYS], key: u32, mark: u32) -> Touched {
    let before = *row;
    let mut found = 0_u32;
    for (way, entry) in before.iter().enumerate() {
        found |= if *entry & !MARK == key { 1 << way } else { 0 };
    }
    if found == 0 {
        row[0] = key | mark;
        row[1..].copy_from_slice(&before[..WAYS - 1]);
        return Touched::Miss(before[WAYS - 1]);
    }
    // Those up to the one that was found move by one place.
    let moved = found ^ (found - 1);
    let mark = mark | (row[found.trailing_zeros() as usize] & MARK);
    let mut after = before;
    for way in 1..WAYS {
        let take = 0_u32.wrapping_sub(u32::from(moved & (1 << way) != 0));
        after[way] = (before[way - 1] & take) | (before[way] & !take);
    }
    after[0] = key | mark;
    *row = after;
    Touched::Hit
}

/// The same for any number of ways.
fn reorder_slice(row: &mut [u32], key: u32, mark: u32) -> Touched {
    let mut carried = key | mark;
    for way in 0..row.len() {
        std::mem::swap(&mut row[way], &mut carried);
        if carried & !MARK == key {
            row[0] |= carried & MARK;
            return Touched::Hit;
        }
    }
    Touched::Miss(carried)
}

/// Whether a key is there.
pub(super) fn holds(row: &[u32], key: u32) -> bool {
    row.iter().any(|entry| entry & !MARK == key)
}

/// Forgets a key, and tells its mark; those behind it move up.
pub(super) fn remove(row: &mut [u32], key: u32) -> u32 {
    let Some(at) = row.iter().position(|entry| entry & !MARK == key) else { return 0 };
    let mark = row[at] & MARK;
    row.copy_within(at + 1.., at);
    if let Some(last) = row.last_mut() {
        *last = EMPTY;
    }
    mark
}
