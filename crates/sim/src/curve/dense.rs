//! Numbers pages 0, 1, 2... in the order of their first access, so that what is known of a page
//! stands in arrays. A hash table in one piece, looked up for many pages at a time: the places of all
//! are touched before the first is compared, so that their cache misses overlap.

use super::TooManyPages;
use pagetide_access::generators::scale;

/// Pages that are looked up together.
const TOGETHER: usize = 64;
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
    /// When there are 2^31 pages.
    pub(super) fn number(
        &mut self,
        names: &[u64],
        numbers: &mut Vec<u32>,
    ) -> Result<(), TooManyPages> {
        for names in names.chunks(TOGETHER) {
            if (self.count as usize + names.len()) * SPARE > self.places.len() {
                if self.count as usize + names.len() > TooManyPages::MOST as usize {
                    return Err(TooManyPages);
                }
                self.resize(self.places.len() * 2);
            }
            let mut starts = [0; TOGETHER];
            let mut touched = 0;
            for (start, name) in starts.iter_mut().zip(names) {
                *start = self.start(*name);
                touched |= self.places[*start].1;
            }
            std::hint::black_box(touched);
            for (start, name) in starts.into_iter().zip(names) {
                numbers.push(self.find(start, *name));
            }
        }
        Ok(())
    }

    fn find(&mut self, mut place: usize, name: u64) -> u32 {
        loop {
            let (there, number) = self.places[place];
            if there == name && number != 0 {
                return number - 1;
            }
            if number == 0 {
                self.count += 1;
                self.places[place] = (name, self.count);
                return self.count - 1;
            }
            place = (place + 1) & (self.places.len() - 1);
        }
    }

    fn start(&self, name: u64) -> usize {
        #[expect(clippy::cast_possible_truncation, reason = "less than there are places")]
        let place = (hash(name) >> self.shift) as usize;
        place
    }

    /// Makes room for a power of two.
    fn resize(&mut self, length: usize) {
        let old = std::mem::replace(&mut self.places, vec![(0, 0); length]);
        self.shift = 64 - length.trailing_zeros();
        for (name, number) in old.into_iter().filter(|place| place.1 != 0) {
            let mut place = self.start(name);
            while self.places[place].1 != 0 {
                place = (place + 1) & (length - 1);
            }
            self.places[place] = (name, number);
        }
    }
}

/// Spreads names over 64 bits: both halves of a product with an odd number of random bits.
fn hash(name: u64) -> u64 {
    let (high, low) = scale(name ^ 0x9e37_79b9_7f4a_7c15, 0xd6e8_feb8_6659_fd93);
    high ^ low
}
