//! Pages whose translations no core may use any longer: they moved, were split, or faulted. The page
//! tables note them as it happens, so no mover can forget to; a core forgets them before its next
//! access. (The kernel flushes by interrupts; what those take is charged by who moves pages.)

use std::ops::Range;

/// Notes that are kept: a core that is further behind forgets all translations, as Linux flushes
/// all of them rather than many one by one.
const KEPT: usize = 1024;

/// Pages that were mapped alike: by one huge page, or each on its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Remapped {
    pub(super) pages: Range<usize>,
    pub(super) huge: bool,
}

/// See the module.
#[derive(Clone, Debug, Default)]
pub(super) struct Stale {
    /// The latest notes, in a ring.
    notes: Vec<Remapped>,
    /// All notes so far.
    count: usize,
}

impl Stale {
    pub(super) fn note(&mut self, remapped: Remapped) {
        if self.notes.len() < KEPT {
            self.notes.push(remapped);
        } else {
            self.notes[self.count % KEPT] = remapped;
        }
        self.count += 1;
    }

    /// How many notes there were.
    #[inline]
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// The notes since there were `seen`; none if some of them are no longer kept.
    pub(super) fn since(&self, seen: usize) -> Option<impl Iterator<Item = &Remapped>> {
        let kept = self.count - seen <= KEPT;
        kept.then(|| (seen..self.count).map(|number| &self.notes[number % KEPT]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_notes_are_kept_and_who_is_further_behind_is_told_so() {
        let mut stale = Stale::default();
        for page in 0..3 * KEPT {
            stale.note(Remapped { pages: page..page + 1, huge: false });
        }
        let first = |seen| stale.since(seen).map(|mut notes| notes.next().map(|n| n.pages.start));
        assert_eq!(first(3 * KEPT), Some(None));
        assert_eq!(first(2 * KEPT), Some(Some(2 * KEPT)));
        assert_eq!(first(2 * KEPT - 1), None);
    }
}
