//! A placement that only exists on paper: what a policy that is not in force would have made
//! fast, so that its hits can be counted (AMP, section 4.2).

/// Chooses what is fast: the lowest keys as far as they fit; of equal ones, if `sticky`, first
/// those that are fast already, otherwise in the order of rows. The first that does not fit is
/// the end, as in [`crate::Slots::cut`].
///
/// `fast` holds what was fast before, and then what is after; `capacity` and `pages` are base
/// pages.
pub(crate) fn place(keys: &[u32], pages: &[u16], sticky: bool, capacity: u64, fast: &mut [bool]) {
    let Some((border, mut room)) = border(keys, pages, capacity) else {
        fast.fill(true);
        return;
    };
    let mut open = true;
    let mut fits = |row: usize| {
        let pages = u64::from(pages[row]);
        open &= pages <= room;
        room -= if open { pages } else { 0 };
        open
    };
    if sticky {
        for row in 0..keys.len() {
            if keys[row] == border && fast[row] {
                fast[row] = fits(row);
            }
        }
    }
    for (row, fast) in fast.iter_mut().enumerate() {
        if keys[row] != border {
            *fast = keys[row] < border;
        } else if !(sticky && *fast) {
            *fast = fits(row);
        }
    }
}

/// Bits by which the range of keys shrinks in one pass.
const DIGIT: u32 = 11;

/// The lowest key that does not fit whole, with the room that is left for it; `None` if
/// everything fits. One pass over the rows for every [`DIGIT`] bits in which keys differ.
fn border(keys: &[u32], pages: &[u16], capacity: u64) -> Option<(u32, u64)> {
    let all: u64 = pages.iter().map(|pages| u64::from(*pages)).sum();
    let (mut low, high) = (*keys.iter().min()?, *keys.iter().max()?);
    if all <= capacity {
        return None;
    }
    let mut room = capacity;
    let mut width = u32::BITS - (high - low).leading_zeros();
    let mut sums = [0u64; 1 << DIGIT];
    while width > 0 {
        let digit = width.min(DIGIT);
        width -= digit;
        sums.fill(0);
        for (key, pages) in keys.iter().zip(pages) {
            if let Some(above) = key.checked_sub(low)
                && let Some(sum) = sums[..1 << digit].get_mut((above >> width) as usize)
            {
                *sum += u64::from(*pages);
            }
        }
        let mut first = 0;
        for sum in &sums[..1 << digit] {
            if *sum > room {
                break;
            }
            room -= sum;
            first += 1;
        }
        low += first << width;
    }
    Some((low, room))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Slots;
    use pagetide_types::{Bytes, EpochHeat, EpochId, HeatFlags, HeatRow, NodeId, UnitId};
    use proptest::collection::vec;
    use proptest::prelude::*;

    #[test]
    fn of_equal_keys_what_is_fast_stays_and_the_first_that_does_not_fit_is_the_end() {
        let mut fast = [false, true, true, false, true];
        place(&[7, 9, 7, 7, 3], &[1; 5], true, 3, &mut fast);
        assert_eq!(fast, [true, false, true, false, true]);
        place(&[7, 9, 7, 7, 3], &[1; 5], false, 2, &mut fast);
        assert_eq!(fast, [true, false, false, false, true]);
        place(&[7, 9, 7, 7, 3], &[1, 1, 3, 1, 1], true, 4, &mut fast);
        assert_eq!(fast, [true, false, false, false, true], "row 2 does not fit behind 0");
        place(&[5; 5], &[1; 5], true, 5, &mut fast);
        assert_eq!(fast, [true; 5]);
        place(&[], &[], true, 0, &mut []);
    }

    proptest! {
        #[test]
        fn as_the_order_of_units_would_be_cut(
            units in vec((prop_oneof![0u32..4, any::<u32>()], 1u16..5), 1..40),
            capacity in 0u64..100,
        ) {
            let keys: Vec<u32> = units.iter().map(|(key, _)| *key).collect();
            let pages: Vec<u16> = units.iter().map(|(_, pages)| *pages).collect();
            let mut heat = EpochHeat::new(EpochId(0));
            for (unit, pages) in (0..).zip(&pages) {
                let (unit, flags, node) = (UnitId(unit), HeatFlags::SAMPLED, NodeId(0));
                let pages = *pages;
                heat.push(HeatRow { unit, rate: 0.0, flags, pages, watched: 0, touched: 0, node });
            }
            let mut slots = Slots::new();
            slots.arrive(&heat);
            slots.rank(&heat, &keys);
            let mut fast = vec![false; keys.len()];
            place(&keys, &pages, true, capacity, &mut fast);
            prop_assert_eq!(fast, slots.cut(&heat, Bytes(capacity << 12)));
        }
    }
}
