//! Rows of units that are asked for in ascending order.

use pagetide_types::UnitId;

/// Finds them from where the last one was found (exponential search: Bentley, Yao 1976), so that few of many cost
/// little, and all of them no more than one pass.
pub(crate) struct Ascending<'a> {
    units: &'a [UnitId],
    from: usize,
}

impl<'a> Ascending<'a> {
    /// Of the rows that have these units, ascending.
    pub(crate) fn of(units: &'a [UnitId]) -> Self {
        Self { units, from: 0 }
    }

    /// The row of a unit no less than the one that was asked for before.
    pub(crate) fn row(&mut self, unit: UnitId) -> Option<usize> {
        let mut step = 1;
        while self.units.get(self.from + step).is_some_and(|it| *it < unit) {
            self.from += step;
            step *= 2;
        }
        let end = (self.from + step + 1).min(self.units.len());
        self.from += self.units[self.from..end].partition_point(|it| *it < unit);
        (self.units.get(self.from) == Some(&unit)).then_some(self.from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn rows_are_those_of_a_search_for_each(
            units: BTreeSet<u8>,
            asked in prop::collection::vec(0u8.., 0..50),
        ) {
            let units: Vec<UnitId> = units.into_iter().map(|unit| UnitId(unit.into())).collect();
            let mut asked: Vec<UnitId> = asked.into_iter().map(|unit| UnitId(unit.into())).collect();
            asked.sort_unstable();
            let mut ascending = Ascending::of(&units);
            for unit in asked {
                prop_assert_eq!(ascending.row(unit), units.binary_search(&unit).ok());
            }
        }
    }
}
