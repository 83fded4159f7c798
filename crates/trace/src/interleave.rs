//! The order of a span's rows: by unit, then by epoch. As each epoch is sorted by unit already,
//! the order is told by the epoch of each row alone, and both directions are one pass.

use pagetide_types::UnitId;

/// Most epochs in a span, so that a position within it fits a byte.
pub(crate) const MAX_EPOCHS: usize = 255;

/// Merges the epochs' ascending `units`; the result has the position of the epoch of each row.
pub(crate) fn order(units: &[&[UnitId]]) -> Vec<u8> {
    debug_assert!(units.len() <= MAX_EPOCHS);
    let mut order = Vec::with_capacity(units.iter().map(|units| units.len()).sum());
    let mut rest: Vec<std::slice::Iter<'_, UnitId>> = units.iter().map(|u| u.iter()).collect();
    let mut heads: Vec<Option<UnitId>> = rest.iter_mut().map(|r| r.next().copied()).collect();
    let mut next = heads.iter().flatten().min().copied();
    while let Some(unit) = next {
        next = None;
        for (position, (head, rest)) in (0..=u8::MAX).zip(heads.iter_mut().zip(&mut rest)) {
            if *head == Some(unit) {
                order.push(position);
                *head = rest.next().copied();
            }
            if let Some(head) = *head {
                next = Some(next.map_or(head, |least: UnitId| least.min(head)));
            }
        }
    }
    order
}

/// The values of the epochs' `columns` in the order of the rows.
pub(crate) fn merge<'a, T: Copy>(
    order: &'a [u8],
    columns: &'a [&'a [T]],
) -> impl Iterator<Item = T> + 'a {
    let mut taken = vec![0usize; columns.len()];
    order.iter().map(move |position| {
        let position = usize::from(*position);
        let value = columns[position][taken[position]];
        taken[position] += 1;
        value
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::{collection::btree_set, prelude::*};

    #[test]
    fn rows_are_sorted_by_unit_then_epoch() {
        let units = |list: &[u32]| list.iter().map(|u| UnitId(*u)).collect::<Vec<_>>();
        let (a, b, c) = (units(&[0, 2, 5]), units(&[]), units(&[1, 2]));
        assert_eq!(order(&[&a, &b, &c]), [0, 2, 0, 2, 0]);
    }

    proptest! {
        #[test]
        fn merging_sorts_and_keeps_all(
            epochs in proptest::collection::vec(btree_set(0u32..40, 0..30), 0..6)
        ) {
            let epochs: Vec<Vec<UnitId>> =
                epochs.iter().map(|set| set.iter().map(|u| UnitId(*u)).collect()).collect();
            let slices: Vec<&[UnitId]> = epochs.iter().map(Vec::as_slice).collect();
            let order = order(&slices);
            let rows: Vec<(UnitId, u8)> =
                merge(&order, &slices).zip(order.iter().copied()).collect();
            let mut expected: Vec<(UnitId, u8)> = (0u8..)
                .zip(&epochs)
                .flat_map(|(position, units)| units.iter().map(move |unit| (*unit, position)))
                .collect();
            expected.sort();
            prop_assert_eq!(rows, expected);
        }
    }
}
