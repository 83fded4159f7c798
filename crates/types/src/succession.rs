//! How the rows of one epoch follow those of the epoch before.

use crate::{EpochHeat, UnitId};

/// Which units of two epochs were born, died and grew. Rows of both are in the order of their units.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Succession {
    /// For every row before, its row now or [`Self::GONE`].
    pub row_now: Vec<u32>,
    /// Rows now that were not alive before, ascending.
    pub born: Vec<u32>,
    /// Base pages that the units alive in both gained, all together; 0 if they lost some.
    pub growth: u64,
}

impl Succession {
    /// Stands in [`Self::row_now`] for a unit that died.
    pub const GONE: u32 = u32::MAX;

    /// Nothing has changed.
    pub fn clear(&mut self) {
        self.row_now.clear();
        self.born.clear();
        self.growth = 0;
    }

    /// Compares what was alive before, with its base pages, with `now`; reuses the buffers.
    pub fn find(&mut self, unit: &[UnitId], pages: &[u16], now: &EpochHeat) {
        self.clear();
        let (mut gained, mut lost) = (0, 0);
        let mut old = 0;
        for (row, each) in (0..).zip(&now.unit) {
            while unit.get(old).is_some_and(|other| other < each) {
                self.row_now.push(Self::GONE);
                old += 1;
            }
            if unit.get(old) == Some(each) {
                gained += u64::from(now.pages[row as usize]);
                lost += u64::from(pages[old]);
                self.row_now.push(row);
                old += 1;
            } else {
                self.born.push(row);
            }
        }
        self.row_now.resize(unit.len(), Self::GONE);
        self.growth = u64::saturating_sub(gained, lost);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn epoch(rows: &[(u32, u16)]) -> EpochHeat {
        let (unit, pages) = rows.iter().map(|(unit, pages)| (UnitId(*unit), *pages)).unzip();
        EpochHeat { unit, pages, ..EpochHeat::default() }
    }

    #[test]
    fn units_are_born_die_and_grow() {
        let before = epoch(&[(1, 10), (3, 10), (4, 10), (9, 10)]);
        let mut change = Succession::default();
        change.find(&before.unit, &before.pages, &epoch(&[(0, 1), (1, 15), (4, 8), (6, 2)]));
        let gone = Succession::GONE;
        let expected = Succession { row_now: vec![1, gone, 2, gone], born: vec![0, 3], growth: 3 };
        assert_eq!(change, expected);
        change.find(&before.unit, &before.pages, &epoch(&[(1, 2)]));
        assert_eq!(change.growth, 0, "what shrinks grows by nothing");
        change.find(&[], &[], &before);
        assert_eq!((change.row_now.len(), change.born), (0, vec![0, 1, 2, 3]));
    }
}
