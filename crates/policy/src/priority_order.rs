//! The order of a tenant's units from the fastest memory to the slowest, kept from decision to
//! decision: ties keep it, births and deaths change it, a budget cuts it.
//!
//! The order is laid out in bytes: what ends within the budget is fast. Between two decisions
//! - a unit that dies leaves a hole of its size: dying is no migration, and nothing moves up;
//! - room in holes is taken from the front, first by the net growth of the units that stay, then
//!   by newborn units in order of their number; newborn units without a hole come last. That is
//!   first touch: fast while there is room. Where the policy has a key for the newborn they come
//!   no later than behind the units of that key, as they do where a kernel demotes to make room
//!   for allocations (TPP, section 5.2); holes behind them take up what they push;
//! - a unit that grows or shrinks shifts what lies behind it, which is no migration either.
//!
//! A decision closes the holes; units that cross the budget by that are moved and count.

use pagetide_types::{Bytes, EpochHeat, UnitId};

/// The order of all live units of a tenant.
#[derive(Clone, Debug, Default)]
pub struct PriorityOrder {
    entries: Vec<Entry>,
    /// The units of the heat that arrived last, and their sizes.
    arrived: (Vec<UnitId>, Vec<u16>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Entry {
    unit: UnitId,
    /// Its row in the heat that arrived last; [`DEAD`]: a hole.
    row: u32,
    /// Size in base pages.
    pages: u32,
    /// By which it was ranked last; of a unit that was not yet, [`UNRANKED`].
    key: u32,
}

impl Entry {
    fn of(heat: &EpochHeat, row: usize, key: u32) -> Self {
        let (unit, pages) = (heat.unit[row], heat.pages[row].into());
        #[expect(clippy::cast_possible_truncation, reason = "there are no more units")]
        Self { unit, row: row as u32, pages, key }
    }

    fn hole(pages: u32, key: u32) -> Self {
        Self { unit: UnitId(DEAD), row: DEAD, pages, key }
    }

    fn is_hole(&self) -> bool {
        self.row == DEAD
    }
}

const UNRANKED: u32 = u32::MAX;

/// Bits of a position in an order, and of a unit's number: enough for 8 TiB of base pages.
const POSITION: u32 = 31;

/// A number below 2^31 that has nothing to do with where a unit lies, of each unit another one (Fibonacci hashing: Knuth 1998).
fn scattered(unit: UnitId) -> u32 {
    unit.0.wrapping_mul(SCATTER) & ((1 << POSITION) - 1)
}

/// The unit of which that is the number.
fn gathered(number: u32) -> UnitId {
    UnitId(number.wrapping_mul(GATHER) & ((1 << POSITION) - 1))
}

const SCATTER: u32 = 0x9E37_79B9;
/// What times the other is 1 (by Newton's method each step doubles the bits that are right).
const GATHER: u32 = {
    let (mut inverse, mut steps) = (1_u32, 0);
    while steps < 5 {
        inverse = inverse.wrapping_mul(2_u32.wrapping_sub(SCATTER.wrapping_mul(inverse)));
        steps += 1;
    }
    inverse
};

/// Marks a unit that is not alive.
const DEAD: u32 = u32::MAX;
const TOO_MANY: &str = "more than 8 TiB of base pages";

impl PriorityOrder {
    /// An order without units.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes in who is alive, and how large, at the end of an epoch; before [`Self::rank`].
    pub fn arrive(&mut self, heat: &EpochHeat) {
        self.arrive_by(heat, None);
    }

    /// The same with a key for who was born ([`crate::RankPolicy::birth`]); whether that put
    /// any of them before others that were there.
    pub fn arrive_by(&mut self, heat: &EpochHeat, birth_key: Option<u32>) -> bool {
        let (units, pages) = &mut self.arrived;
        if (&*units, &*pages) == (&heat.unit, &heat.pages) {
            return false;
        }
        units.clone_from(&heat.unit);
        pages.clone_from(&heat.pages);
        let rows = RowOf::of(heat);
        let row = |unit: UnitId| rows.row(unit);
        let mut newborn = vec![true; heat.len()];
        let (mut now, mut before) = (0, 0);
        for Entry { unit, pages, .. } in &self.entries {
            if let Some(row) = row(*unit) {
                newborn[row] = false;
                now += u64::from(heat.pages[row]);
                before += u64::from(*pages);
            }
        }
        let births = (0..heat.len()).filter(|row| newborn[*row]);
        let mut births = births.map(|row| Entry::of(heat, row, UNRANKED));
        // Pages that take room from the holes ahead.
        let mut taking: u64 = now.saturating_sub(before);
        let mut order = Vec::with_capacity(heat.len());
        let mut pushed = false;
        for Entry { unit, pages, key, .. } in self.entries.drain(..) {
            if birth_key.is_some_and(|birth_key| key > birth_key) {
                for birth in births.by_ref() {
                    order.push(birth);
                    taking += u64::from(birth.pages);
                    pushed = true;
                }
            }
            if let Some(row) = row(unit) {
                order.push(Entry::of(heat, row, key));
                continue;
            }
            let mut room = pages;
            loop {
                let taken = room.min(u32::try_from(taking).unwrap_or(u32::MAX));
                taking -= u64::from(taken);
                room -= taken;
                if room == 0 {
                    break;
                }
                let Some(birth) = births.next() else {
                    order.push(Entry::hole(room, key));
                    break;
                };
                order.push(birth);
                taking = birth.pages.into();
            }
        }
        order.extend(births);
        let used = order.iter().rposition(|entry| !entry.is_hole()).map_or(0, |last| last + 1);
        order.truncate(used);
        self.entries = order;
        pushed
    }

    /// Takes in where the units of the heat that arrived last really are, which rows are fast:
    /// they come first, otherwise the order stays. Closes the holes.
    pub fn reconcile(&mut self, fast: &[bool]) {
        self.sort(|entry| u32::from(!fast[entry.row as usize]));
    }

    /// Decides: closes the holes and orders by `keys` (one per row of the heat that arrived
    /// last, lowest first), equal keys in their previous order.
    pub fn rank(&mut self, keys: &[u32]) {
        for entry in &mut self.entries {
            entry.key = keys.get(entry.row as usize).copied().unwrap_or(UNRANKED);
        }
        self.sort(|entry| entry.key);
    }

    /// The same for rows of which some are `fast`: of equal keys they come first, and otherwise these are scattered over
    /// memory: where of many units that are alike some are to move, they are not all of one piece. A piece is some threads'
    /// part of an array, for which all others then wait at the end of a loop.
    pub fn rank_scattered(&mut self, heat: &EpochHeat, fast: &[bool], keys: &[u32]) {
        assert_eq!((heat.len(), heat.len()), (fast.len(), keys.len()));
        let units = heat.unit.last().map_or(0, |last| last.index() + 1);
        assert!(units as u64 <= 1 << POSITION, "{TOO_MANY}");
        // All that an entry needs is in one number.
        let number = |((unit, fast), key): ((&UnitId, &bool), &u32)| {
            let slow = u64::from(!*fast) << POSITION;
            u64::from(*key) << (POSITION + 1) | slow | u64::from(scattered(*unit))
        };
        let mut numbers: Vec<u64> = heat.unit.iter().zip(fast).zip(keys).map(number).collect();
        numbers.sort_unstable();
        let rows = RowOf::of(heat);
        let entry = |number: u64| {
            #[expect(clippy::cast_possible_truncation, reason = "these bits")]
            let (key, unit) = ((number >> (POSITION + 1)) as u32, gathered(number as u32));
            rows.row(unit).map(|row| Entry::of(heat, row, key))
        };
        self.entries.clear();
        self.entries.reserve_exact(numbers.len());
        self.entries.extend(numbers.into_iter().filter_map(entry));
    }

    /// Closes the holes and sorts, equal keys in their previous order. Key and position are one number, so that no key is
    /// looked up twice.
    fn sort(&mut self, key: impl Fn(&Entry) -> u32) {
        self.entries.retain(|entry| !entry.is_hole());
        let with_position =
            |(at, entry): (usize, &Entry)| u64::from(key(entry)) << POSITION | at as u64;
        let mut keys: Vec<u64> = self.entries.iter().enumerate().map(with_position).collect();
        assert!(keys.len() as u64 <= 1 << POSITION, "{TOO_MANY}");
        keys.sort_unstable();
        let position = |key: u64| (key & ((1 << POSITION) - 1)) as usize;
        self.entries = keys.into_iter().map(|key| self.entries[position(key)]).collect();
    }

    /// Rows of units that were ranked behind this key.
    pub(crate) fn behind(&self, key: u32) -> impl Iterator<Item = usize> + '_ {
        let ranked = move |entry: &&Entry| entry.key > key && entry.key != UNRANKED;
        self.live().filter(ranked).map(|entry| entry.row as usize)
    }

    /// Which rows of the heat that arrived last are fast under a budget: those that end within.
    #[must_use]
    pub fn cut(&self, heat: &EpochHeat, budget: Bytes) -> Vec<bool> {
        self.cut_around(heat, budget, |_| None)
    }

    /// The same where some rows cannot move: `fixed` says where those are. What is fixed in fast
    /// memory has its part of the budget first, what is fixed in slow memory has none.
    pub fn cut_around(
        &self,
        heat: &EpochHeat,
        budget: Bytes,
        fixed: impl Fn(usize) -> Option<bool>,
    ) -> Vec<bool> {
        let fixed: Vec<Option<bool>> = (0..heat.len()).map(fixed).collect();
        let mut fast: Vec<bool> = fixed.iter().map(|fixed| *fixed == Some(true)).collect();
        let used = (0..heat.len()).filter(|row| fast[*row]).map(|row| heat.bytes(row));
        let mut end: Bytes = used.sum();
        for entry in &self.entries {
            let row = entry.row as usize;
            if !entry.is_hole() && fixed[row].is_some() {
                continue;
            }
            end += Bytes(u64::from(entry.pages) << 12);
            if end > budget {
                break;
            }
            if !entry.is_hole() {
                fast[row] = true;
            }
        }
        fast
    }

    fn live(&self) -> impl DoubleEndedIterator<Item = &Entry> + '_ {
        self.entries.iter().filter(|entry| !entry.is_hole())
    }

    /// The units from the fastest memory to the slowest.
    pub fn units(&self) -> impl DoubleEndedIterator<Item = UnitId> + '_ {
        self.live().map(|entry| entry.unit)
    }

    /// Their rows in the heat that arrived last.
    pub(crate) fn rows(&self) -> impl DoubleEndedIterator<Item = usize> + '_ {
        self.live().map(|entry| entry.row as usize)
    }
}

/// The rows that units have in a heat.
pub(crate) struct RowOf(Vec<u32>);

impl RowOf {
    pub(crate) fn of(heat: &EpochHeat) -> Self {
        let mut rows = vec![DEAD; heat.unit.last().map_or(0, |last| last.index() + 1)];
        for (row, unit) in (0..).zip(&heat.unit) {
            rows[unit.index()] = row;
        }
        Self(rows)
    }

    /// None of a unit that is not alive.
    pub(crate) fn row(&self, unit: UnitId) -> Option<usize> {
        self.0.get(unit.index()).filter(|row| **row != DEAD).map(|row| *row as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pagetide_types::{EpochId, HeatFlags, HeatRow, NodeId};

    fn heat(sizes: &[(u32, u16)]) -> EpochHeat {
        let mut heat = EpochHeat::new(EpochId(0));
        for (unit, pages) in sizes {
            let (unit, flags, node) = (UnitId(*unit), HeatFlags::SAMPLED, NodeId(0));
            heat.push(HeatRow {
                unit,
                rate: 0.0,
                flags,
                pages: *pages,
                watched: 0,
                touched: 0,
                node,
            });
        }
        heat
    }

    /// Units as (number, pages), holes as (-1, pages).
    fn layout(order: &PriorityOrder) -> Vec<(i64, u64)> {
        let unit = |entry: &Entry| if entry.is_hole() { -1 } else { i64::from(entry.unit.0) };
        order.entries.iter().map(|entry| (unit(entry), entry.pages.into())).collect()
    }

    fn pages(pages: u64) -> Bytes {
        Bytes(pages << 12)
    }

    #[test]
    fn what_cannot_move_takes_its_part_where_it_is() {
        let mut heat = EpochHeat::new(EpochId(0));
        for unit in 0..6 {
            let (unit, flags, node) = (UnitId(unit), HeatFlags::SAMPLED, NodeId(0));
            heat.push(HeatRow { unit, rate: 0.0, flags, pages: 1, watched: 0, touched: 0, node });
        }
        let mut order = PriorityOrder::new();
        order.arrive(&heat);
        let fixed = |row| [Some(false), None, None, None, None, Some(true)][row];
        let fast = order.cut_around(&heat, Bytes::kib(12), fixed);
        assert_eq!(fast, [false, true, true, false, false, true]);
        let none = order.cut_around(&heat, Bytes(0), fixed);
        assert_eq!(none, [false, false, false, false, false, true]);
    }

    #[test]
    fn what_is_found_fast_comes_first_and_equal_keys_leave_it_there() {
        let mut heat = EpochHeat::new(EpochId(0));
        for unit in 0..5 {
            let (unit, flags, node) = (UnitId(unit), HeatFlags::SAMPLED, NodeId(0));
            heat.push(HeatRow { unit, rate: 0.0, flags, pages: 1, watched: 0, touched: 0, node });
        }
        let mut order = PriorityOrder::new();
        order.arrive(&heat);
        let fast = [false, true, false, true, false];
        order.reconcile(&fast);
        order.rank(&[7; 5]);
        assert_eq!(order.units().map(|unit| unit.0).collect::<Vec<_>>(), [1, 3, 0, 2, 4]);
        assert_eq!(order.cut(&heat, Bytes::kib(8)), fast);
    }

    #[test]
    fn of_what_is_alike_a_part_lies_all_over_memory() {
        let heat = heat(
            &[1; 1024].iter().zip(0..).map(|(pages, unit)| (unit, *pages)).collect::<Vec<_>>(),
        );
        let mut order = PriorityOrder::new();
        order.arrive(&heat);
        // The first quarter is fast, and half of all is to be.
        let first: Vec<bool> = (0..1024).map(|unit| unit < 256).collect();
        order.rank_scattered(&heat, &first, &[7; 1024]);
        let half = order.cut(&heat, pages(512));
        assert!(half[..256].iter().all(|fast| *fast), "what is fast stays");
        for piece in half[256..].chunks(64) {
            let fast = piece.iter().filter(|fast| **fast).count();
            assert!((19..=24).contains(&fast), "a third of each piece: {fast}");
        }
        order.rank_scattered(&heat, &half, &[7; 1024]);
        assert_eq!(order.cut(&heat, pages(512)), half, "and nothing moves any more");
        // Who is wanted next does not depend on who dies.
        let next = |order: &PriorityOrder| {
            order.units().filter(|unit| !half[unit.index()]).collect::<Vec<_>>()
        };
        let before = next(&order);
        let later: Vec<(u32, u16)> = (1..1024).map(|unit| (unit, 1)).collect();
        let heat = super::tests::heat(&later);
        order.arrive(&heat);
        order.rank_scattered(&heat, &half[1..], &[7; 1023]);
        assert!(half[0] && next(&order) == before);
    }

    #[test]
    fn the_first_order_is_that_of_birth_and_ties_keep_it() {
        let mut order = PriorityOrder::new();
        let now = heat(&[(0, 1), (1, 1), (2, 1), (3, 1)]);
        order.arrive(&now);
        assert_eq!(order.cut(&now, pages(2)), [true, true, false, false]);
        order.rank(&[5, 5, 1, 5]);
        assert_eq!(layout(&order), [(2, 1), (0, 1), (1, 1), (3, 1)]);
        assert_eq!(order.cut(&now, pages(2)), [true, false, true, false]);
        order.rank(&[7, 7, 7, 7]);
        assert_eq!(layout(&order), [(2, 1), (0, 1), (1, 1), (3, 1)]);
    }

    #[test]
    fn the_cut_is_by_bytes_and_a_unit_is_fast_whole_or_not_at_all() {
        let mut order = PriorityOrder::new();
        let now = heat(&[(0, 3), (1, 4), (2, 1)]);
        order.arrive(&now);
        for (budget, fast) in [
            (2, [false, false, false]),
            (3, [true, false, false]),
            // Unit 2 would fit, but it is behind unit 1.
            (6, [true, false, false]),
            (7, [true, true, false]),
            (8, [true, true, true]),
        ] {
            assert_eq!(order.cut(&now, pages(budget)), fast, "{budget}");
        }
    }

    #[test]
    fn the_newborn_take_the_room_of_the_dead_and_a_decision_closes_what_is_left() {
        let mut order = PriorityOrder::new();
        order.arrive(&heat(&[(0, 4), (1, 4), (2, 4), (3, 4)]));
        // Units 0 and 2 die, one unit is born and takes 3 of the 4 pages of unit 0.
        let now = heat(&[(1, 4), (3, 4), (4, 3)]);
        order.arrive(&now);
        assert_eq!(layout(&order), [(4, 3), (-1, 1), (1, 4), (-1, 4), (3, 4)]);
        assert_eq!(order.cut(&now, pages(8)), [true, false, true]);
        // The next takes the rest of the first hole and the second; the last has no hole.
        let mut later = order.clone();
        later.arrive(&heat(&[(1, 4), (3, 4), (4, 3), (5, 5), (6, 2)]));
        assert_eq!(layout(&later), [(4, 3), (5, 5), (1, 4), (3, 4), (6, 2)]);
        order.rank(&[0, 0, 0]);
        assert_eq!(layout(&order), [(4, 3), (1, 4), (3, 4)]);
        assert_eq!(order.cut(&now, pages(8)), [true, false, true]);
        assert_eq!(order.cut(&now, pages(11)), [true, true, true]);
    }

    #[test]
    fn the_newborn_come_where_their_key_says_and_push_what_is_behind_up_to_a_hole() {
        let mut order = PriorityOrder::new();
        let now = heat(&[(0, 4), (1, 4), (2, 4), (3, 4)]);
        assert!(!order.arrive_by(&now, Some(5)), "nobody was there");
        order.rank(&[1, 5, 6, 9]);
        let later = heat(&[(0, 4), (1, 4), (3, 4), (4, 3), (5, 3)]);
        assert!(order.clone().arrive_by(&later, Some(5)), "they come before one that stays");
        order.arrive_by(&later, Some(5));
        assert_eq!(layout(&order), [(0, 4), (1, 4), (4, 3), (5, 3), (3, 4)], "2's hole is used up");
        // Room ahead is taken first, and the rest come by their key.
        order.rank(&[1, 2, 8, 4, 4]);
        let last = heat(&[(1, 4), (3, 4), (4, 3), (5, 3), (6, 4), (7, 1)]);
        assert!(order.arrive_by(&last, Some(3)));
        assert_eq!(layout(&order), [(6, 4), (1, 4), (7, 1), (4, 3), (5, 3), (3, 4)]);
    }

    #[test]
    fn growth_takes_room_from_holes_before_births_do() {
        let mut order = PriorityOrder::new();
        order.arrive(&heat(&[(0, 4), (1, 4), (2, 4)]));
        order.arrive(&heat(&[(1, 6), (2, 4), (3, 1)]));
        assert_eq!(layout(&order), [(3, 1), (-1, 1), (1, 6), (2, 4)]);
        // What one unit loses another may gain without a hole.
        order.arrive(&heat(&[(1, 4), (2, 6), (3, 1)]));
        assert_eq!(layout(&order), [(3, 1), (-1, 1), (1, 4), (2, 6)]);
    }

    #[test]
    fn holes_at_the_end_and_an_empty_epoch_leave_nothing() {
        let mut order = PriorityOrder::new();
        order.arrive(&heat(&[(0, 4), (1, 4)]));
        order.arrive(&heat(&[(0, 4)]));
        assert_eq!(layout(&order), [(0, 4)]);
        let none = heat(&[]);
        order.arrive(&none);
        order.rank(&[]);
        assert!(order.cut(&none, pages(9)).is_empty() && layout(&order).is_empty());
    }
}
