//! Where each page of a node's program is, and whether it was local at first.

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
/// The bit of what was local at first.
const AT_FIRST: u32 = 1 << 30;
/// Frames are numbered below this.
pub(super) const MOST: u64 = 1 << 30;

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
        let at_first = |word: u32| if word & LOCAL == 0 { word } else { word | AT_FIRST };
        Self(places.map(packed).map(at_first).collect())
    }

    #[inline]
    pub(super) fn of(&self, page: PageId) -> Place {
        let word = self.0[page.0 as usize];
        let frame = word & !(LOCAL | AT_FIRST);
        if word & LOCAL == 0 { Place::Pool(frame) } else { Place::Local(Frame(frame)) }
    }

    /// By how much an access to a page is nearer than if nothing had moved: 1, if the page came in, -1, if it
    /// went out.
    #[inline]
    pub(super) fn nearer(&self, page: PageId) -> i64 {
        let word = self.0[page.0 as usize];
        i64::from(word & LOCAL != 0) - i64::from(word & AT_FIRST != 0)
    }

    pub(super) fn set(&mut self, page: PageId, place: Place) {
        let word = &mut self.0[page.0 as usize];
        *word = packed(place) | *word & AT_FIRST;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_local_at_first_is_remembered() {
        let [here, there] = [Place::Local(Frame(7)), Place::Pool(9)];
        let mut places = Places::new([here, there].into_iter());
        let all = [PageId(0), PageId(1)];
        assert_eq!(all.map(|page| (places.of(page), places.nearer(page))), [(here, 0), (there, 0)]);
        places.set(all[0], there);
        places.set(all[1], here);
        assert_eq!(
            all.map(|page| (places.of(page), places.nearer(page))),
            [(there, -1), (here, 1)]
        );
    }
}
