//! In which order a program touches its pages before it begins: where pages of a new program lie
//! is decided by it.

use super::{super::every_page, PAGE, Part};
use crate::named_values::choice;
use pagetide_types::Bytes;
use std::collections::BTreeSet;

choice! {
    /// In which order pages are touched first.
    pub enum Init {
        /// In order of address.
        InOrder = "in-order",
        /// All parts at once, each as fast as it is large, as loops over several arrays do.
        Interleaved = "interleaved",
        /// From the last to the first.
        Reverse = "reverse",
    }
}

#[expect(clippy::derivable_impls, reason = "`choice!` has derives of its own")]
impl Default for Init {
    fn default() -> Self {
        Self::InOrder
    }
}

impl Init {
    /// The first byte of every page.
    pub(super) fn pages(self, parts: &[Part], size: Bytes) -> Box<dyn Iterator<Item = u64>> {
        let pages = size.0.div_ceil(PAGE);
        match self {
            Self::InOrder => Box::new(every_page(size)),
            Self::Reverse => Box::new((0..pages).rev().map(|page| page * PAGE)),
            Self::Interleaved => Box::new(interleaved(parts, size)),
        }
    }
}

/// Pages of the pieces into which the borders of all parts divide the memory, so that of each
/// piece the same share is touched at any time.
fn interleaved(parts: &[Part], size: Bytes) -> impl Iterator<Item = u64> + use<> {
    let mut borders = BTreeSet::from([0, size.0.div_ceil(PAGE)]);
    for extent in parts.iter().map(|part| part.extent(size)) {
        borders.extend([extent.first, extent.first + extent.len].map(|byte| byte.div_ceil(PAGE)));
    }
    let borders: Vec<u64> = borders.into_iter().collect();
    let mut pieces: Vec<Piece> = borders
        .windows(2)
        .map(|pair| Piece { next: pair[0], first: pair[0], end: pair[1] })
        .collect();
    std::iter::from_fn(move || {
        let left = pieces.iter_mut().filter(|piece| piece.next < piece.end);
        let piece = left.min_by(|a, b| a.done().total_cmp(&b.done()))?;
        piece.next += 1;
        Some((piece.next - 1) * PAGE)
    })
}

/// Pages in a row, some of them touched.
struct Piece {
    first: u64,
    next: u64,
    end: u64,
}

impl Piece {
    /// Which share of it is touched.
    fn done(&self) -> f64 {
        (self.next - self.first) as f64 / (self.end - self.first) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::{super::PartWalk, *};
    use crate::Choice;

    fn pages(init: Init, size: u64) -> Vec<u64> {
        let part = |from, to| Part::new("part", from, to, PartWalk::Random);
        let parts = [part(0.0, 0.5), part(0.25, 0.5), part(0.5, 0.75)];
        init.pages(&parts, Bytes(size)).map(|byte| byte / PAGE).collect()
    }

    #[test]
    fn every_page_comes_once() {
        for init in Init::ALL {
            let mut all = pages(*init, 1000 * PAGE + 1);
            all.sort_unstable();
            assert_eq!(all, (0..=1000).collect::<Vec<_>>(), "{init}");
        }
    }

    #[test]
    fn orders_are_what_they_are_called() {
        assert_eq!(pages(Init::InOrder, 8 * PAGE), [0, 1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(pages(Init::Reverse, 8 * PAGE), [7, 6, 5, 4, 3, 2, 1, 0]);
        assert_eq!(pages(Init::Interleaved, 8 * PAGE), [0, 2, 4, 6, 1, 3, 5, 7]);
    }
}
