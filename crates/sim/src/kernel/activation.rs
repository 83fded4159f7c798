//! Pages on their way to the active list: each core gathers 15 of them before they move
//! (`folio_activate` and the `activate` batch of Linux's mm/swap.c). Until then a page is inactive for
//! whoever looks, and who marks it again puts it into the batch again. A huge page is not waited with.

use super::Lru;

/// Entries of a batch (`FBATCH_SIZE`, once `PAGEVEC_SIZE`).
const BATCH: f64 = 15.0;

/// See the module.
#[derive(Clone, Debug)]
pub struct ActivationBatches {
    /// By core, first pages.
    batches: Vec<Vec<usize>>,
    full: usize,
}

impl ActivationBatches {
    /// Empty ones. Of a machine that is so many times larger than this one, a batch is as many times
    /// smaller a part of what a core activates between two scans: above 15 nothing is left of it.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "1 to 15")]
    pub fn new(scale: f64) -> Self {
        Self { batches: Vec::new(), full: (BATCH / scale).ceil() as usize }
    }

    /// The kernel learnt of an access by a fault on a core: the first one references, the second one
    /// puts the page into the core's batch (`folio_mark_accessed`).
    pub fn mark_accessed(&mut self, core: usize, first: usize, lru: &mut Lru) {
        if !lru.mark_referenced(first) {
            return;
        }
        if self.batches.len() <= core {
            self.batches.resize(core + 1, Vec::new());
        }
        let batch = &mut self.batches[core];
        batch.push(first);
        if batch.len() >= self.full || lru.is_huge(first) {
            batch.drain(..).for_each(|first| lru.activate(first));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Kind, Rules};
    use super::*;
    use crate::engine::{Pages, World};
    use pagetide_machine::Machine;

    /// Inactive pages on the slow node, the last 512 of them one huge page.
    fn lru() -> Lru {
        let mut pages = Pages::all_in(1, 2 << 21);
        pages.put_huge(512, 1);
        let world = World::new(&Machine::load("cxl").unwrap(), pages);
        let mut lru = Lru::new(2, 1024, Rules::InactiveFirst, 1.0);
        (0..=512).for_each(|page| lru.add_new(page, &world));
        lru
    }

    fn active(lru: &Lru) -> u64 {
        lru.pages(1, Kind::Active)
    }

    #[test]
    fn the_second_access_waits_until_its_core_has_fifteen() {
        let (mut lru, mut batches) = (lru(), ActivationBatches::new(1.0));
        (0..20).for_each(|page| batches.mark_accessed(0, page, &mut lru));
        (0..14).for_each(|page| batches.mark_accessed(0, page, &mut lru));
        (14..20).for_each(|page| batches.mark_accessed(1, page, &mut lru));
        assert_eq!(active(&lru), 0, "14 and 6");
        batches.mark_accessed(0, 20, &mut lru);
        assert_eq!(active(&lru), 0, "a first access");
        batches.mark_accessed(0, 20, &mut lru);
        assert_eq!(active(&lru), 15, "those of the other core wait");
    }

    #[test]
    fn a_page_that_alone_is_accessed_needs_thirty_faults() {
        let (mut lru, mut batches) = (lru(), ActivationBatches::new(1.0));
        let faults = (1..).find(|_| {
            batches.mark_accessed(0, 7, &mut lru);
            active(&lru) > 0
        });
        assert_eq!(faults, Some(30), "every second one goes into the batch");
    }

    #[test]
    fn a_huge_page_takes_the_batch_with_it_and_scaled_down_nobody_waits() {
        let (mut lru, mut batches) = (lru(), ActivationBatches::new(1.0));
        for first in [3, 3, 512, 512] {
            batches.mark_accessed(0, first, &mut lru);
        }
        assert_eq!(active(&lru), 513);
        let mut scaled = ActivationBatches::new(256.0);
        for _ in 0..2 {
            scaled.mark_accessed(0, 4, &mut lru);
        }
        assert_eq!(active(&lru), 514);
    }
}
