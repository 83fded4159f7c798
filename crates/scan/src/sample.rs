//! A piece that is watched in one epoch, and what was seen of it.

use crate::evidence::Evidence;
use crate::pages::PageTrials;
use crate::piece::Piece;
use crate::row::{Range, RowBits};

/// A piece that is watched in this epoch, and what was seen of it.
#[derive(Clone, Debug)]
pub(crate) struct Sample {
    /// Position in the list of pieces.
    pub(crate) piece: usize,
    /// The watched addresses.
    pub(crate) range: Range,
    /// Trials so far.
    pub(crate) evidence: Evidence,
    /// Accessed in this epoch.
    pub(crate) accessed: bool,
    /// Most pages seen accessed after one clearing.
    pub(crate) touched: u16,
    /// Resident pages in the range at the last look.
    pub(crate) present: u16,
    /// Of them, those whose bits cannot be cleared: seen at every look, and not counted.
    pub(crate) stuck: u16,
    /// It was cleared at least once.
    pub(crate) watched: bool,
    /// The kernel refused to clear it.
    pub(crate) refused: bool,
    /// It was cleared without a flush: pages that are not seen may have been accessed.
    pub(crate) cached: bool,
    pub(crate) huge: bool,
    /// Pages (or the one huge page) not yet seen in the burst under way.
    pub(crate) risk: u16,
    pub(crate) looked_ns: u64,
    /// CPU time of the target between clearing and the last look that counted.
    pub(crate) gap_ns: u64,
    /// In recordings of single pages, of base pages.
    pub(crate) pages: Option<Box<PageTrials>>,
}

impl Sample {
    pub(crate) fn new(piece: usize, range: Range, of: &Piece) -> Self {
        let pages = (range.end - range.start) / 4096;
        Self {
            piece,
            range,
            evidence: Evidence::default(),
            accessed: false,
            touched: 0,
            present: of.present.min(u16::try_from(pages).unwrap_or(u16::MAX)),
            stuck: if of.huge || of.uncleared { 0 } else { of.sharing.within(range) },
            watched: false,
            refused: false,
            cached: false,
            huge: of.huge,
            risk: 0,
            looked_ns: 0,
            gap_ns: 0,
            pages: of.pages.as_ref().filter(|_| !of.huge).map(|_| Box::new(PageTrials::new(range))),
        }
    }

    /// Whether its process did not run while it was watched, so that it accessed nothing.
    pub(crate) fn idle(&self) -> bool {
        self.evidence == Evidence::default()
    }

    /// What is counted: the one huge page, or the resident base pages.
    pub(crate) fn total(&self) -> u16 {
        if self.huge { self.present.min(1) } else { self.own() }
    }

    /// Resident pages that can be cleared.
    pub(crate) fn own(&self) -> u16 {
        self.present.saturating_sub(self.stuck)
    }

    pub(crate) fn pages(&self) -> u64 {
        (self.range.end - self.range.start) / 4096
    }

    /// Takes a look's result: `present` and `accessed` pages at time `ns`, the target having run
    /// for a share `ran` of the time since the last look; none if it did not run.
    /// `bits`: the single pages, if they were asked for.
    pub(crate) fn take(
        &mut self,
        (present, accessed): (u16, u16),
        bits: Option<&RowBits>,
        ns: u64,
        ran: Option<f64>,
    ) {
        // Pages that are gone, or never were (a window's share of a piece with holes is a guess until
        // its first look), were not seen accessed.
        let gone = if self.huge { 0 } else { self.present.saturating_sub(present) };
        self.present = present;
        if present == 0 {
            self.risk = 0;
            return;
        }
        self.risk = self.risk.saturating_sub(gone);
        let accessed = accessed.saturating_sub(self.stuck);
        let seen = if self.huge { accessed.min(1) } else { accessed };
        let unseen = self.total().saturating_sub(seen);
        let newly = self.risk.saturating_sub(unseen);
        // A look while the target did not run is no trial; the next one counts for it.
        if let Some(ran) = ran.filter(|_| self.watched && ns > self.looked_ns) {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "positive")]
            let dt = ((ns - self.looked_ns) as f64 * ran) as u64;
            let first = self.gap_ns == 0;
            if let Some((pages, bits)) = self.pages.as_mut().zip(bits) {
                pages.note(bits, self.gap_ns, self.gap_ns + dt);
            }
            self.gap_ns += dt;
            self.evidence.note(self.risk, newly, dt, self.gap_ns, first);
            self.looked_ns = ns;
            self.risk = self.risk.min(unseen);
        }
        self.accessed |= self.watched && accessed > 0;
        if self.watched {
            self.touched = self.touched.max(accessed);
            if let Some((pages, bits)) = self.pages.as_mut().zip(bits) {
                pages.note_accessed(bits);
            }
        }
    }

    /// The burst under way is over: the pages will be cleared again, or the epoch ends.
    pub(crate) fn close(&mut self) {
        if let Some(pages) = &mut self.pages {
            pages.close(self.gap_ns);
        }
        self.gap_ns = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::Estimate;

    #[test]
    fn pages_that_are_not_there_were_not_accessed() {
        // 400 of 512 pages are resident, and a window of 128 of them happens to hold 101.
        let piece = Piece { present: 400, ..Piece::whole(0, false) };
        let window = Range { start: 0, end: 128 * 4096 };
        let mut sample = Sample::new(0, window, &piece);
        (sample.watched, sample.risk) = (true, sample.total());
        sample.take((101, 0), None, 320_000, Some(1.0));
        assert_eq!(sample.evidence.estimate(true), Estimate::Unseen);
        assert_eq!(sample.risk, 101);
        // 11 more are unmapped, none accessed, then one of the rest is.
        sample.take((90, 0), None, 640_000, Some(1.0));
        assert_eq!(sample.evidence.estimate(true), Estimate::Unseen);
        sample.take((90, 1), None, 960_000, Some(1.0));
        assert!(matches!(sample.evidence.estimate(true), Estimate::Rate(_)));
    }
}
