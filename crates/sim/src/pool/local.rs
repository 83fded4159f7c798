//! The page table of a node's own memory: which page is in which frame, whether it was used, and the
//! hand of a clock that looks for one to give up (section 3.1, "Page Eviction").

use super::counts::PageId;

/// A frame of local memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Frame(pub u32);

/// See the module.
#[derive(Clone, Debug)]
pub struct LocalTable {
    /// By frame: what of the program is there; else something that nobody touches.
    pages: Vec<Option<PageId>>,
    used: Vec<bool>,
    hand: usize,
}

impl LocalTable {
    /// So many frames, at least one; none of them is used.
    #[must_use]
    pub fn new(frames: u32) -> Self {
        let frames = frames.max(1) as usize;
        Self { pages: vec![None; frames], used: vec![false; frames], hand: 0 }
    }

    /// How many there are.
    #[must_use]
    pub fn frames(&self) -> usize {
        self.pages.len()
    }

    /// The page in a frame; none, if it is not the program's.
    #[must_use]
    pub fn page(&self, frame: Frame) -> Option<PageId> {
        self.pages[frame.0 as usize]
    }

    /// Puts a page there; what was there is returned. Its reference bit is set: it comes in because it is used, and what
    /// was just given is not given again.
    pub fn put(&mut self, frame: Frame, page: PageId) -> Option<PageId> {
        self.used[frame.0 as usize] = true;
        self.pages[frame.0 as usize].replace(page)
    }

    /// Its reference bit is set.
    #[inline]
    pub fn touch(&mut self, frame: Frame) {
        self.used[frame.0 as usize] = true;
    }

    /// Looks at the frame under the hand and moves the hand on: the frame, and whether it was used
    /// since the hand was there.
    pub fn probe(&mut self) -> (Frame, bool) {
        let at = self.hand;
        self.hand = if at + 1 == self.pages.len() { 0 } else { at + 1 };
        let used = std::mem::take(&mut self.used[at]);
        #[expect(clippy::cast_possible_truncation, reason = "made from a u32")]
        (Frame(at as u32), used)
    }
}
