//! The order of a policy that is not in force, kept as if it were: births, deaths and ties are
//! those of [`crate::PriorityOrder`], so that the hits counted in it are the hits it would have
//! had (AMP, section 4.2: pages are migrated "virtually" with the other policy).
//!
//! The same order, kept as rows of the epoch's heat and sorted in linear time: there is one of
//! these for every rival and capacity of a replay.

use crate::population::Population;
use pagetide_types::{EpochHeat, Succession};

/// An entry of the order with this bit is a hole; the other bits are its base pages.
const HOLE: u32 = 1 << 31;

/// Bits of one digit of the radix sort: 2048 counters stay in the first-level cache, and the ages
/// and frequencies of a recording fit into one digit.
const DIGIT: u32 = 11;

/// An order of units, the most wanted first.
#[derive(Debug, Default)]
pub(crate) struct Shadow {
    /// Rows of the heat that arrived last, and holes.
    order: Vec<u32>,
    holes: bool,
    spare: Vec<u32>,
    /// Per digit, the next position in the sorted order.
    next: Vec<u32>,
}

impl Shadow {
    /// Takes in who is alive, and how large, at the end of an epoch in which the population
    /// differs from that of the epoch before; as [`crate::PriorityOrder::arrive`].
    pub(crate) fn arrive(&mut self, population: &Population, heat: &EpochHeat) {
        // Pages that take room from the holes ahead.
        let mut taking = population.change.growth;
        let mut births = population.change.born.iter();
        self.spare.clear();
        for entry in &self.order {
            let mut room = if *entry & HOLE != 0 {
                u64::from(*entry & !HOLE)
            } else {
                let row = population.change.row_now[*entry as usize];
                if row != Succession::GONE {
                    self.spare.push(row);
                    continue;
                }
                u64::from(population.pages_before[*entry as usize])
            };
            loop {
                let taken = taking.min(room);
                taking -= taken;
                room -= taken;
                if room == 0 {
                    break;
                }
                let Some(row) = births.next() else {
                    push_hole(&mut self.spare, room);
                    break;
                };
                self.spare.push(*row);
                taking = u64::from(heat.pages[*row as usize]);
            }
        }
        self.spare.extend(births);
        let used = self.spare.iter().rposition(|entry| *entry & HOLE == 0);
        self.spare.truncate(used.map_or(0, |last| last + 1));
        self.holes = self.spare.iter().any(|entry| *entry & HOLE != 0);
        std::mem::swap(&mut self.order, &mut self.spare);
    }

    /// The base pages of `accessed` rows that are fast: that end within `capacity` base pages.
    pub(crate) fn hits(&self, pages: &[u16], accessed: &[bool], capacity: u64) -> u64 {
        let (mut end, mut hits) = (0, 0);
        for entry in &self.order {
            let row = *entry as usize;
            let size = match entry & HOLE {
                0 => u64::from(pages[row]),
                _ => u64::from(entry & !HOLE),
            };
            end += size;
            if end > capacity {
                break;
            }
            hits += if entry & HOLE == 0 && accessed[row] { size } else { 0 };
        }
        hits
    }

    /// Closes the holes, as a decision does that changes no order.
    pub(crate) fn close_holes(&mut self) {
        if self.holes {
            self.order.retain(|entry| entry & HOLE == 0);
            self.holes = false;
        }
    }

    /// Puts what really is fast first, otherwise the order stays; as
    /// [`crate::PriorityOrder::reconcile`].
    pub(crate) fn reconcile(&mut self, is_fast: impl Fn(usize) -> bool) {
        self.close_holes();
        self.spare.clear();
        self.spare.extend(self.order.iter().filter(|row| !is_fast(**row as usize)));
        self.order.retain(|row| is_fast(*row as usize));
        self.order.extend_from_slice(&self.spare);
    }

    /// Forgets the order: rows follow each other.
    pub(crate) fn by_row(&mut self) {
        self.close_holes();
        let rows = u32::try_from(self.order.len()).unwrap_or(u32::MAX);
        self.order.clear();
        self.order.extend(0..rows);
    }

    /// Closes the holes and orders by `keys` (one per row, lowest first), equal keys in their
    /// previous order; as [`crate::PriorityOrder::rank`]. One pass for every [`DIGIT`] bits in which keys
    /// differ.
    pub(crate) fn rank(&mut self, keys: &[u32]) {
        self.close_holes();
        let low = keys.iter().copied().min().unwrap_or(0);
        let high = keys.iter().copied().max().unwrap_or(0);
        let bits = u32::BITS - (high - low).leading_zeros();
        for shift in (0..bits).step_by(DIGIT as usize) {
            let width = DIGIT.min(bits - shift);
            let digit = |row: u32| (keys[row as usize] - low) >> shift & ((1 << width) - 1);
            self.next.clear();
            self.next.resize(1 << width, 0);
            for row in (0..).take(keys.len()) {
                self.next[digit(row) as usize] += 1;
            }
            let mut first = 0;
            for next in &mut self.next {
                first += std::mem::replace(next, first);
            }
            // Every entry is written below.
            self.spare.resize(self.order.len(), 0);
            for row in &self.order {
                let next = &mut self.next[digit(*row) as usize];
                self.spare[*next as usize] = *row;
                *next += 1;
            }
            std::mem::swap(&mut self.order, &mut self.spare);
        }
    }

    /// Keys, one per row, that make this order of any other.
    pub(crate) fn write(&self, keys: &mut [u32]) {
        for (position, row) in (0..).zip(&self.order) {
            keys[*row as usize] = position;
        }
    }
}

/// Appends a hole, in several entries if it is larger than one can say (8 TiB).
fn push_hole(order: &mut Vec<u32>, mut room: u64) {
    while room > 0 {
        let part = room.min(u64::from(HOLE - 1));
        #[expect(clippy::cast_possible_truncation, reason = "below HOLE")]
        order.push(HOLE | part as u32);
        room -= part;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PriorityOrder;
    use pagetide_types::{Bytes, EpochId, HeatFlags, HeatRow, NodeId, UnitId};
    use proptest::collection::vec;
    use proptest::prelude::*;

    /// Base pages and key of a unit; `None`: not alive.
    type Cell = Option<(u16, u32)>;

    fn heat(cells: &[Cell]) -> (EpochHeat, Vec<u32>) {
        let mut heat = EpochHeat::new(EpochId(0));
        let mut keys = Vec::new();
        for (unit, cell) in (0..).zip(cells) {
            if let Some((pages, key)) = *cell {
                let (unit, flags, node) = (UnitId(unit), HeatFlags::SAMPLED, NodeId(0));
                heat.push(HeatRow { unit, rate: 0.0, flags, pages, watched: 0, touched: 0, node });
                keys.push(key);
            }
        }
        (heat, keys)
    }

    fn epochs() -> impl Strategy<Value = Vec<Vec<Cell>>> {
        let key = prop_oneof![0u32..4, 0u32..5000, any::<u32>()];
        let cell = proptest::option::weighted(0.8, (1u16..5, key));
        (1usize..24).prop_flat_map(move |units| vec(vec(cell.clone(), units), 1..10))
    }

    proptest! {
        #[test]
        fn as_the_order_of_the_core(
            epochs in epochs(),
            capacity in 0u64..60,
            ranked in vec(0u8..4, 10),
        ) {
            let (mut core, mut shadow) = (PriorityOrder::new(), Shadow::default());
            let mut population = Population::default();
            for (cells, ranked) in epochs.iter().zip(ranked) {
                let (heat, keys) = heat(cells);
                core.arrive(&heat);
                if population.update(&heat) {
                    shadow.arrive(&population, &heat);
                }
                let fast = core.cut(&heat, Bytes(capacity << 12));
                let sum = |fast: &[bool]| -> u64 {
                    heat.pages.iter().zip(fast).map(|(p, f)| u64::from(*p) * u64::from(*f)).sum()
                };
                for accessed in [vec![true; keys.len()], keys.iter().map(|k| k % 2 == 0).collect()] {
                    let both: Vec<bool> = fast.iter().zip(&accessed).map(|(f, a)| *f && *a).collect();
                    prop_assert_eq!(shadow.hits(&heat.pages, &accessed, capacity), sum(&both));
                }
                match ranked {
                    // No decision: holes stay.
                    0 => continue,
                    1 => {
                        let fast: Vec<bool> = keys.iter().map(|key| key % 3 == 0).collect();
                        core.reconcile(&fast);
                        shadow.reconcile(|row| fast[row]);
                    }
                    _ => {
                        core.rank(&keys);
                        shadow.rank(&keys);
                    }
                }
                let order: Vec<UnitId> =
                    shadow.order.iter().map(|row| heat.unit[*row as usize]).collect();
                prop_assert_eq!(order, core.units().collect::<Vec<_>>());
                let mut written = vec![0; keys.len()];
                shadow.write(&mut written);
                let mut other = PriorityOrder::new();
                other.arrive(&heat);
                other.rank(&written);
                prop_assert!(other.units().eq(core.units()));
            }
        }
    }
}
