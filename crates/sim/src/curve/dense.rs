//! Numbers pages 0, 1, 2... in the order of their first access, so that what is known of a page
//! stands in arrays. A hash table in one piece, looked up for many pages at a time: the places of all
//! are fetched before the first is compared, so that their cache misses overlap.

use super::TooManyPages;
use super::memory::{prefetch, zeros};
use pagetide_access::generators::scale;

/// Pages that are looked up together: their places fit into the first cache of a CPU.
const TOGETHER: usize = 256;
/// A table is at most half full, else probing takes long.
const SPARE: usize = 2;

/// Names of pages to numbers.
pub(super) struct Dense {
    /// Name, and number + 1; 0 where the place is free.
    places: Vec<(u64, u32)>,
    /// Bits of a hash that are not part of a place's index.
    shift: u32,
    count: u32,
}

impl Dense {
    pub(super) fn new() -> Self {
        let mut dense = Self { places: Vec::new(), shift: 0, count: 0 };
        dense.resize(1 << 12);
        dense
    }

    /// How many pages have numbers.
    pub(super) fn count(&self) -> u32 {
        self.count
    }

    /// Appends the numbers of pages.
    ///
    /// # Errors
    /// When there are too many pages.
    pub(super) fn number(
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
            if most * SPARE > self.places.len() {
                self.resize(self.places.len() * 2);
            }
            for (start, name) in starts.iter_mut().zip(names) {
                *start = place(*name, self.shift);
                prefetch(&self.places, *start);
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
        self.shift = 64 - length.trailing_zeros();
        for (name, number) in old.into_iter().filter(|place| place.1 != 0) {
            let mut place = place(name, self.shift);
            while self.places[place].1 != 0 {
                place = (place + 1) & (length - 1);
            }
            self.places[place] = (name, number);
        }
    }
}

/// The number of a page, the next one if it has none; looked for from a place on.
#[inline]
fn find(places: &mut [(u64, u32)], start: usize, name: u64, count: &mut u32) -> u32 {
    let last = places.len() - 1;
    let mut at = start;
    loop {
        let place = &mut places[at & last];
        if place.0 == name && place.1 != 0 {
            return place.1 - 1;
        }
        if place.1 == 0 {
            *count += 1;
            *place = (name, *count);
            return *count - 1;
        }
        at += 1;
    }
}

/// Where to look first: the highest bits of the name spread over 64 bits by a product with a random
/// odd number, of which both halves count.
#[inline]
fn place(name: u64, shift: u32) -> usize {
    let (high, low) = scale(name ^ 0x9e37_79b9_7f4a_7c15, 0xd6e8_feb8_6659_fd93);
    #[expect(clippy::cast_possible_truncation, reason = "less than there are places")]
    let place = ((high ^ low) >> shift) as usize;
    place
}
