//! A bounded number of requests under way: the misses of a core, the requests of a module.

use super::Ps;

/// So many places; each is taken until its request is done. The place that is free first is at the
/// root of a binary heap. After the heap comes one that is never free, so that every pair of places that is looked
/// at is whole.
#[derive(Clone, Debug)]
pub struct Slots(Vec<Ps>);

impl Slots {
    /// So many places, all of them free.
    #[must_use]
    pub fn new(count: u32) -> Self {
        let mut places = vec![Ps::ZERO; count.max(1) as usize];
        places.push(Ps::MAX);
        Self(places)
    }

    /// From when on the first place is free.
    #[inline]
    #[must_use]
    pub fn free_at(&self) -> Ps {
        self.0[0]
    }

    /// Takes the place that is free first.
    #[inline]
    pub fn take(&mut self, until: Ps) {
        let count = self.count();
        let places = &mut self.0[..];
        let (mut at, mut child) = (0, 1);
        while child < count {
            // Which of two is free first cannot be foreseen, so nothing branches there.
            child += usize::from(places[child + 1] < places[child]);
            if places[child] >= until {
                break;
            }
            places[at] = places[child];
            at = child;
            child = 2 * at + 1;
        }
        places[at] = until;
    }

    /// Who had taken a place until nobody knew when ([`Ps::MAX`]) gives it up then.
    pub fn give_up(&mut self, until: Ps) {
        let count = self.count();
        let heap = &mut self.0[..count];
        let Some(mut at) = heap.iter().position(|end| *end == Ps::MAX) else { return };
        while at > 0 && heap[(at - 1) / 2] > until {
            heap[at] = heap[(at - 1) / 2];
            at = (at - 1) / 2;
        }
        heap[at] = until;
    }

    /// How many places there are.
    #[must_use]
    pub const fn count(&self) -> usize {
        self.0.len() - 1
    }

    /// When all places are free.
    #[must_use]
    pub fn all_free_at(&self) -> Ps {
        self.0[..self.count()].iter().copied().max().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_place_that_is_free_first_is_taken(
            count in 1..40_u32,
            ends in prop::collection::vec((0..1000_u64, prop::bool::weighted(0.1)), 0..200),
        ) {
            let mut slots = Slots::new(count);
            let mut plain = vec![Ps::ZERO; count as usize];
            for (end, forever) in ends {
                plain.sort_unstable();
                prop_assert_eq!(slots.free_at(), plain[0]);
                if plain[0] == Ps::MAX {
                    plain[0] = Ps(end);
                    slots.give_up(Ps(end));
                    continue;
                }
                let end = if forever { Ps::MAX } else { plain[0] + Ps(end) };
                plain[0] = end;
                slots.take(end);
            }
            prop_assert_eq!(slots.all_free_at(), plain.into_iter().max().unwrap());
        }
    }
}
