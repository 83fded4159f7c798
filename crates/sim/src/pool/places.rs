//! Where each page of a node's program is.

use super::counts::PageId;
use super::local::Frame;

/// Where a page is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// In the node's own memory.
    Local(Frame),
    /// In the pool: the frame's number among all of the pool's.
    Pool(u32),
}

/// The bit of what is local.
const LOCAL: u32 = 1 << 31;
/// Frames are numbered below this.
pub(super) const MOST: u64 = 1 << 31;

/// Of each page in one word where it is.
#[derive(Clone, Debug)]
pub(super) struct Places(Vec<u32>);

const fn packed(place: Place) -> u32 {
    match place {
        Place::Local(frame) => frame.0 | LOCAL,
        Place::Pool(frame) => frame,
    }
}

impl Places {
    /// Of pages that are there at first.
    pub(super) fn new(places: impl Iterator<Item = Place>) -> Self {
        Self(places.map(packed).collect())
    }

    #[inline]
    pub(super) fn of(&self, page: PageId) -> Place {
        let word = self.0[page.0 as usize];
        let frame = word & !LOCAL;
        if word & LOCAL == 0 { Place::Pool(frame) } else { Place::Local(Frame(frame)) }
    }

    pub(super) fn set(&mut self, page: PageId, place: Place) {
        self.0[page.0 as usize] = packed(place);
    }
}
