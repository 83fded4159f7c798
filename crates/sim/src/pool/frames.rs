//! Where a program's pages are in the eyes of its caches: in frames in an order of chance.

use pagetide_access::generators::Shuffle;
use std::ops::Range;

/// See the module.
#[derive(Clone, Debug)]
pub(super) struct Frames {
    frame: Vec<u32>,
    page: Vec<u32>,
    /// Frames in which nothing ever was.
    free: Vec<u32>,
    seed: u64,
}

/// Frames that are taken at a time by pages that move: they, too, come in an order of chance.
const TAKEN: u32 = 4096;

impl Frames {
    pub(super) fn new(pages: u32, seed: u64) -> Self {
        let shuffle = Shuffle::new(u64::from(pages), seed);
        #[expect(clippy::cast_possible_truncation, reason = "below `pages`")]
        let frame: Vec<u32> = (0..pages).map(|page| shuffle.at(u64::from(page)) as u32).collect();
        let mut page = vec![0; frame.len()];
        frame.iter().zip(0..).for_each(|(frame, number)| page[*frame as usize] = number);
        Self { frame, page, free: Vec::new(), seed }
    }

    /// How many pages there are.
    pub(super) fn pages(&self) -> usize {
        self.frame.len()
    }

    /// A page gets a frame that nothing is in; the lines of the one that it had.
    #[expect(clippy::cast_possible_truncation, reason = "some pages more than there were")]
    pub(super) fn renew(&mut self, page: u32) -> Range<u64> {
        let next = self.free.pop().unwrap_or_else(|| {
            let first = self.page.len() as u32;
            let shuffle = Shuffle::new(u64::from(TAKEN), self.seed ^ u64::from(first));
            self.free.extend((0..TAKEN).map(|at| first + shuffle.at(u64::from(at)) as u32));
            self.page.resize(self.page.len() + TAKEN as usize, 0);
            self.free.pop().unwrap_or(first)
        });
        self.page[next as usize] = page;
        let before = u64::from(std::mem::replace(&mut self.frame[page as usize], next)) << 6;
        before..before + 64
    }

    #[inline]
    pub(super) fn of(&self, offset: u64) -> u64 {
        let frame = self.frame[(offset >> 12) as usize];
        u64::from(frame) << 12 | offset & 4095
    }

    /// Where a line of the program is.
    #[inline]
    pub(super) fn of_line(&self, line: u32) -> u64 {
        u64::from(self.frame[(line >> 6) as usize]) << 6 | u64::from(line & 63)
    }

    #[inline]
    pub(super) fn back(&self, line: u64) -> u32 {
        let (frame, within) = ((line >> 6) as usize, (line & 63) as u32);
        self.page[frame] << 6 | within
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_that_moves_gets_a_frame_that_no_other_has_and_its_lines_are_still_its_own() {
        let mut frames = Frames::new(10, 1);
        let mut seen: Vec<u64> = (0..10).map(|page| frames.of_line(page << 6)).collect();
        for number in 0..2 * TAKEN {
            let page = number % 10;
            let before = frames.of_line(page << 6);
            assert_eq!(frames.renew(page), before..before + 64);
            let now = frames.of_line(page << 6 | 63);
            assert_eq!(frames.back(now), page << 6 | 63);
            seen.push(now - 63);
        }
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), 10 + 2 * TAKEN as usize);
    }
}
