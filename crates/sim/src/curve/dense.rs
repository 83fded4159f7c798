//! Numbers pages 0, 1, 2... in the order of their first access, so that what is known of a page
//! stands in arrays. A hash table in one piece, looked up for many pages at a time: the places of all
//! are fetched before the first is compared, so that their cache misses overlap.

use super::TooManyPages;
use super::memory::{prefetch, zeros};
use pagetide_access::generators::scale;
use std::hash::{BuildHasher, RandomState};

/// Pages that are looked up together: their places fit into the first cache of a CPU.
const TOGETHER: usize = 256;
/// Places in a line of the CPU's caches.
const IN_LINE: usize = 64 / size_of::<Place>();
/// A table has at most so many of four places taken, else probing takes long.
const TAKEN_OF_FOUR: usize = 3;

/// Names of pages to numbers.
pub(crate) struct Dense {
    places: Vec<Place>,
    spread: Spread,
    count: u32,
}

/// Both halves of a name, and number + 1; that is 0 where the place is free. Twelve bytes: memory that is
/// touched for the first time costs more than what the CPU has to put together.
type Place = [u32; 3];

/// Where names belong. Its numbers are others in every process, so that nobody can write down names that all
/// belong to one place, and take hours to be told apart; what is simulated does not depend on them.
#[derive(Clone, Copy)]
struct Spread {
    salt: u64,
    factor: u64,
    /// Bits of a hash that are not part of a place's index.
    shift: u32,
}

impl Dense {
    pub(crate) fn new() -> Self {
        let random = RandomState::new();
        let (salt, factor) = (random.hash_one(0), random.hash_one(1) | 1);
        let spread = Spread { salt, factor, shift: 0 };
        let mut dense = Self { places: Vec::new(), spread, count: 0 };
        dense.resize(1 << 12);
        dense
    }

    /// Bytes that so many pages take, the smaller table while it grows included.
    pub(crate) fn bytes_for(pages: u64) -> u64 {
        let places = (pages * 4).div_ceil(TAKEN_OF_FOUR as u64).next_power_of_two();
        (places + places / 2) * size_of::<Place>() as u64
    }

    /// How many pages have numbers.
    pub(crate) fn count(&self) -> u32 {
        self.count
    }

    /// Appends the numbers of pages.
    ///
    /// # Errors
    /// When there are too many pages.
    pub(crate) fn number(
        &mut self,
        names: &[u64],
        numbers: &mut Vec<u32>,
    ) -> Result<(), TooManyPages> {
        let mut starts = [0; TOGETHER];
        for names in names.chunks(TOGETHER) {
            let most = self.count as usize + names.len();
            if most > TooManyPages::MOST as usize {
                return Err(TooManyPages);
            }
            if most * 4 > self.places.len() * TAKEN_OF_FOUR {
                self.resize(self.places.len() * 2);
            }
            for (start, name) in starts.iter_mut().zip(names) {
                *start = self.spread.place(*name);
                prefetch(&self.places, *start);
                // Looking for it goes on to the next line often.
                prefetch(&self.places, *start + IN_LINE / 2);
            }
            let found = starts.iter().zip(names);
            numbers.extend(
                found.map(|(start, name)| find(&mut self.places, *start, *name, &mut self.count)),
            );
        }
        Ok(())
    }

    /// Makes room for a power of two.
    fn resize(&mut self, length: usize) {
        let old = std::mem::replace(&mut self.places, zeros(length));
        self.spread.shift = 64 - length.trailing_zeros();
        for moved in old.into_iter().filter(|place| place[2] != 0) {
            let mut place = self.spread.place(name_of(moved));
            while self.places[place][2] != 0 {
                place = (place + 1) & (length - 1);
            }
            self.places[place] = moved;
        }
    }
}

#[inline]
fn name_of([low, high, _]: Place) -> u64 {
    u64::from(low) | u64::from(high) << 32
}

/// The number of a page, the next one if it has none; looked for from a place on.
#[inline]
fn find(places: &mut [Place], start: usize, name: u64, count: &mut u32) -> u32 {
    let last = places.len() - 1;
    let mut at = start;
    loop {
        let place = &mut places[at & last];
        if name_of(*place) == name && place[2] != 0 {
            return place[2] - 1;
        }
        if place[2] == 0 {
            *count += 1;
            #[expect(clippy::cast_possible_truncation, reason = "its halves")]
            let halves = [name as u32, (name >> 32) as u32];
            *place = [halves[0], halves[1], *count];
            return *count - 1;
        }
        at += 1;
    }
}

impl Spread {
    /// Where to look first: the highest bits of the name spread over 64 bits by a product with a random
    /// odd number, of which both halves count.
    #[inline]
    fn place(self, name: u64) -> usize {
        let (high, low) = scale(name ^ self.salt, self.factor);
        #[expect(clippy::cast_possible_truncation, reason = "less than there are places")]
        let place = ((high ^ low) >> self.shift) as usize;
        place
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Names as anybody can write them who knows salt and factor: multiples of a small one whose product with
    /// the factor is little more than a multiple of 2^64, so that both halves are small.
    fn made_to_collide(salt: u64, factor: u64) -> Vec<u64> {
        // A name, and what its product lacks or has more than a multiple of 2^64: Euclid's steps.
        let (mut lacks, mut has) = ((1, factor.wrapping_neg()), (1, factor));
        while has.1 >> 33 != 0 {
            if lacks.1 > has.1 {
                let times = (lacks.1 - 1) / has.1;
                lacks = (lacks.0 + times * has.0, lacks.1 - times * has.1);
            } else {
                let times = (has.1 - 1) / lacks.1;
                has = (has.0 + times * lacks.0, has.1 - times * lacks.1);
            }
        }
        (0..256).map(|i| (i * has.0) ^ salt).collect()
    }

    /// How many names at most begin to be looked for at one of 2^12 places.
    fn fullest(spread: Spread, names: &[u64]) -> usize {
        let mut starts = vec![0; 1 << 12];
        names.iter().for_each(|name| starts[spread.place(*name)] += 1);
        starts.into_iter().max().unwrap_or(0)
    }

    #[test]
    fn names_made_to_collide_do_not() {
        let (salt, factor) = (0x9e37_79b9_7f4a_7c15, 0xd6e8_feb8_6659_fd93);
        let names = made_to_collide(salt, factor);
        let known = Spread { salt, factor, shift: 52 };
        assert!(fullest(known, &names) > 100, "{}", fullest(known, &names));
        for _ in 0..20 {
            let dense = Dense::new();
            let found = fullest(dense.spread, &names);
            assert!(found < 20, "{found} of {} at one place", names.len());
        }
    }
}
