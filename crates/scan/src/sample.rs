//! A piece that is watched in one epoch, and what was seen of it.

use crate::evidence::Evidence;
use crate::piece::Piece;
use crate::walker::Range;

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
    /// It was cleared at least once.
    pub(crate) watched: bool,
    /// The kernel refused to clear it.
    pub(crate) refused: bool,
    pub(crate) huge: bool,
    /// Pages (or the one huge page) not yet seen in the burst under way.
    pub(crate) risk: u16,
    pub(crate) looked_ns: u64,
    /// CPU time of the target between clearing and the last look that counted.
    pub(crate) gap_ns: u64,
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
            watched: false,
            refused: false,
            huge: of.huge,
            risk: 0,
            looked_ns: 0,
            gap_ns: 0,
        }
    }

    /// What is counted: the one huge page, or the resident base pages.
    pub(crate) fn total(&self) -> u16 {
        if self.huge { self.present.min(1) } else { self.present }
    }

    pub(crate) fn pages(&self) -> u64 {
        (self.range.end - self.range.start) / 4096
    }

    /// Takes a look's result: `present` and `accessed` pages at time `ns`, the target having run
    /// for a share `ran` of the time since the last look; none if it did not run.
    pub(crate) fn take(&mut self, present: u16, accessed: u16, ns: u64, ran: Option<f64>) {
        self.present = present;
        if present == 0 {
            self.risk = 0;
            return;
        }
        let seen = if self.huge { accessed.min(1) } else { accessed };
        let unseen = self.total().saturating_sub(seen);
        let newly = self.risk.saturating_sub(unseen);
        // A look while the target did not run is no trial; the next one counts for it.
        if let Some(ran) = ran.filter(|_| self.watched && ns > self.looked_ns) {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "positive")]
            let dt = ((ns - self.looked_ns) as f64 * ran) as u64;
            let first = self.gap_ns == 0;
            self.gap_ns += dt;
            self.evidence.note(self.risk, newly, dt, self.gap_ns, first);
            self.looked_ns = ns;
            self.risk = self.risk.min(unseen);
        }
        self.accessed |= self.watched && accessed > 0;
        if self.watched {
            self.touched = self.touched.max(accessed);
        }
    }
}
