//! Where a program's pages are in the eyes of its caches: in frames in an order of chance.

use pagetide_access::generators::Shuffle;

/// See the module.
pub(super) struct Frames {
    frame: Vec<u32>,
    page: Vec<u32>,
}

impl Frames {
    pub(super) fn new(pages: u32, seed: u64) -> Self {
        let shuffle = Shuffle::new(u64::from(pages), seed);
        #[expect(clippy::cast_possible_truncation, reason = "below `pages`")]
        let frame: Vec<u32> = (0..pages).map(|page| shuffle.at(u64::from(page)) as u32).collect();
        let mut page = vec![0; frame.len()];
        frame.iter().zip(0..).for_each(|(frame, number)| page[*frame as usize] = number);
        Self { frame, page }
    }

    /// A page gets a frame that nothing is in.
    pub(super) fn renew(&mut self, page: u32) {
        #[expect(clippy::cast_possible_truncation, reason = "some pages more than there were")]
        let next = self.page.len() as u32;
        self.frame[page as usize] = next;
        self.page.push(page);
    }

    #[inline]
    pub(super) fn of(&self, offset: u64) -> u64 {
        let frame = self.frame[(offset >> 12) as usize];
        u64::from(frame) << 12 | offset & 4095
    }

    #[inline]
    pub(super) fn back(&self, line: u64) -> u32 {
        let (frame, within) = ((line >> 6) as usize, (line & 63) as u32);
        self.page[frame] << 6 | within
    }
}
