//! A chain of dependent loads over a random cycle: latency and nothing else.
//!
//! The cycle goes through the slots in the order of a permutation without a table ([`Shuffle`]):
//! it is written into real memory from the same formula by which a simulator follows it.

use super::{Fill, Memory, Pattern, Setup, Walk, pattern::each};
use crate::{
    generators::Shuffle,
    parameter::{Result, refuse},
};
use pagetide_types::Bytes;
use std::time::Duration;

/// Follows one random cycle through all slots of the memory; each load gives the next address.
/// Threads begin at even distances of the cycle.
#[derive(Clone, Debug)]
pub struct PointerChase {
    /// Size of a slot: one pointer lies in each.
    pub slot: Bytes,
}

/// One thread of [`PointerChase`].
#[derive(Clone, Debug)]
pub struct PointerChaseWalk {
    cycle: Cycle,
    /// How far it is in the cycle, and the slot's first byte.
    position: u64,
    at: u64,
}

/// All slots in an order of their own.
#[derive(Clone, Debug)]
struct Cycle {
    shuffle: Shuffle,
    slots: u64,
    slot: u64,
}

impl Cycle {
    /// The first byte of the slot at a position, counted on from round to round.
    #[inline]
    fn offset(&self, position: u64) -> u64 {
        self.shuffle.at(self.within(position)) * self.slot
    }

    /// The position in its round.
    #[inline]
    fn within(&self, position: u64) -> u64 {
        // Rounds end rarely, and a division is dear.
        if position < self.slots { position } else { position % self.slots }
    }
}

impl PointerChase {
    /// How many slots there are in so much memory.
    #[must_use]
    pub fn slots(&self, size: Bytes) -> u64 {
        size.0 / self.slot.0
    }

    fn cycle(&self, setup: &Setup) -> Cycle {
        let slots = self.slots(setup.size());
        Cycle { shuffle: Shuffle::new(slots, setup.seed()), slots, slot: self.slot.0 }
    }
}

impl Pattern for PointerChase {
    type Walk = PointerChaseWalk;

    fn check(&self, setup: &Setup) -> Result<()> {
        let slot = self.slot.0;
        if slot < 8 || !slot.is_multiple_of(8) || self.slot > setup.size() {
            let remedy = format!("give a multiple of 8 bytes, at most `size`, {}", setup.size());
            return refuse("slot", slot, remedy);
        }
        Ok(())
    }

    fn fill(&self, setup: &Setup) -> impl Iterator<Item = Fill> {
        let cycle = self.cycle(setup);
        let mut at = cycle.offset(0);
        (1..=cycle.slots).map(move |position| {
            let next = cycle.offset(position);
            Fill { offset: std::mem::replace(&mut at, next), value: next }
        })
    }

    fn walks(&self, setup: &Setup) -> Result<Vec<PointerChaseWalk>> {
        self.check(setup)?;
        let cycle = self.cycle(setup);
        Ok(each(setup, |number| {
            let position = setup.begin(number, cycle.slots);
            PointerChaseWalk { at: cycle.offset(position), position, cycle: cycle.clone() }
        }))
    }
}

impl Walk for PointerChaseWalk {
    #[inline]
    fn batch(&mut self, n: u32, _: Duration, memory: &mut impl Memory) {
        let (begin, end) = (self.position, self.position + u64::from(n));
        let mut at = self.at;
        for position in begin..end {
            at = memory.follow(at, || self.cycle.offset(position + 1));
        }
        (self.position, self.at) = (self.cycle.within(end), at);
    }
}

#[cfg(test)]
mod tests {
    use super::{super::tests::*, *};

    const CHASE: PointerChase = PointerChase { slot: Bytes(64) };

    #[test]
    fn is_one_cycle_over_all_slots() {
        for size in [64, 128, 4096, 1 << 20] {
            let mut next = vec![u64::MAX; index(size / 64)];
            for Fill { offset, value } in CHASE.fill(&setup(size, 1)) {
                assert_eq!(std::mem::replace(&mut next[index(offset / 64)], value), u64::MAX);
            }
            let (mut at, mut steps, mut near) = (next[0], 1, 0);
            while at != 0 && steps <= size / 64 {
                let to = next[index(at / 64)];
                near += u64::from(to.abs_diff(at) <= 64);
                (at, steps) = (to, steps + 1);
            }
            assert_eq!(steps, size / 64);
            assert!(near < 20, "{near} steps lead to a neighbour");
        }
    }

    #[test]
    fn every_round_visits_each_slot_once_and_waits_for_each() {
        let steps = steps(&CHASE, &setup(65536, 1), 4096);
        assert!(steps.iter().all(|step| step.dependent && step.op == Op::Read));
        for round in steps.chunks(1024) {
            let mut slots = offsets(round);
            slots.sort_unstable();
            assert_eq!(slots, (0..1024).map(|slot| slot * 64).collect::<Vec<_>>());
        }
    }

    #[test]
    fn what_is_filled_in_leads_where_the_walk_goes() {
        let setup = setup(1 << 20, 3);
        let mut memory = vec![0; 1 << 17];
        CHASE.fill(&setup).for_each(|fill| memory[index(fill.offset / 8)] = fill.value);
        let mut begins = vec![];
        for mut walk in CHASE.walks(&setup).unwrap() {
            let mut steps = vec![];
            walk.batch(50_000, Duration::ZERO, &mut steps);
            let mut at = steps[0].offset;
            begins.push(at);
            for step in steps {
                assert_eq!(step.offset, at);
                at = memory[index(at / 8)];
            }
        }
        begins.dedup();
        assert_eq!(begins.len(), 3);
    }

    #[test]
    fn refuses_what_makes_no_sense() {
        for slot in [0, 4, 12, 8192] {
            let slot = PointerChase { slot: Bytes(slot) };
            refused(&slot, &setup(4096, 1), "give a multiple of 8 bytes, at most `size`, 4.00 KiB");
        }
    }
}
