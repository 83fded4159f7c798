//! Where a unit has been since the evaluation began. What was there then and is moved to where it has
//! never been is put in place: once in the program's life, however long that is, and it would weigh
//! the more the shorter a recording. What is moved back and forth goes on, and is paid for; so is
//! memory that comes later, for it comes as long as the program runs.

use pagetide_types::UnitId;

/// By unit, the lowest and the highest of the bins from which on it has been fast: at capacities
/// from the lowest on it has been fast, below the highest it has been slow.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reach {
    bins: Vec<(u32, u32)>,
    /// The evaluation has begun.
    begun: bool,
}

const NOWHERE: (u32, u32) = (u32::MAX, 0);
const EVERYWHERE: (u32, u32) = (0, u32::MAX);

impl Reach {
    /// The units of an epoch, ascending, some of them newly born.
    pub(crate) fn arrive(&mut self, units: &[UnitId], born: impl Iterator<Item = UnitId>) {
        let len = units.last().map_or(0, |last| last.index() + 1);
        if self.bins.len() < len {
            self.bins.resize(len, NOWHERE);
        }
        for unit in born {
            self.bins[unit.index()] = if self.begun { EVERYWHERE } else { NOWHERE };
        }
    }

    /// The evaluation begins: nothing has been anywhere.
    pub(crate) fn begin(&mut self) {
        self.bins.fill(NOWHERE);
        self.begun = true;
    }

    /// A unit is fast from this bin on.
    #[inline]
    pub(crate) fn note(&mut self, unit: UnitId, bin: u32) {
        let (low, high) = &mut self.bins[unit.index()];
        (*low, *high) = ((*low).min(bin), (*high).max(bin));
    }

    /// A unit that was fast from bin `old` on is so from bin `new` on: between which bins that moves
    /// it to where it has been before; the same twice if nowhere.
    #[inline]
    pub(crate) fn again(&self, unit: UnitId, old: u32, new: u32) -> (u32, u32) {
        let (low, high) = self.bins[unit.index()];
        (old, if new < old { new.max(low).min(old) } else { new.min(high).max(old) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_way_is_free_and_the_way_back_is_not() {
        let mut reach = Reach::default();
        let unit = UnitId(3);
        reach.arrive(&[unit], [unit].into_iter());
        reach.note(unit, 10);
        assert_eq!(reach.again(unit, 10, 4), (10, 10), "never was it fast with so little");
        reach.note(unit, 4);
        assert_eq!(reach.again(unit, 4, 12), (4, 10), "below 10 it was slow before");
        reach.note(unit, 12);
        assert_eq!(reach.again(unit, 12, 2), (12, 4), "from 4 on it was fast before");
        reach.arrive(&[unit], [unit].into_iter());
        reach.note(unit, 12);
        assert_eq!(reach.again(unit, 12, 2), (12, 12), "new memory at an old place");
        reach.begin();
        reach.note(unit, 12);
        assert_eq!(reach.again(unit, 12, 2), (12, 12), "what was moved before is the past");
        reach.arrive(&[unit], [unit].into_iter());
        reach.note(unit, 12);
        assert_eq!(reach.again(unit, 12, 2), (12, 2), "what comes later is paid for");
    }
}
