//! Batches: pieces of one process that are cleared by one call and looked at together.

use crate::activity::Activity;
use crate::evidence::{gap_ns, rung_of};
use crate::piece::Piece;
use crate::sample::Sample;
use std::collections::VecDeque;

/// Base pages cleared by one call: bounds how long the target's memory map is locked.
const CLEAR_PAGES: u32 = 512;
/// A huge page's share of that: every one waits for the CPUs of the target to flush it.
pub(crate) const HUGE_AS_PAGES: u32 = 64;
/// Shortest gap for base pages. Clearing many of them flushes all translations, and for some tens
/// of microseconds the target is slower than it was; and a page whose 64 lines are touched more
/// than 3,000 times a second lives in the CPU's caches, not in memory.
const BASE_FLOOR: usize = 3;
/// Base pages, and huge ones, in a batch.
pub(crate) const SIZES: [f64; 2] = [CLEAR_PAGES as f64, (CLEAR_PAGES / HUGE_AS_PAGES) as f64];
/// Bursts per batch and epoch at most: the error falls with the square root only. Batches that
/// begin above this rung have time to be seen by fewer.
const MAX_BURSTS: u16 = 120;
const FEW_BURSTS: u16 = 10;
const FEW_FROM_RUNG: usize = 4;
/// A target that ran for less than one part in so many of the first gap hardly ran.
const HARDLY: f64 = 8.0;
/// Where a piece of unknown rate starts.
const UNKNOWN_RUNG: usize = 3;
/// Clearing a base page and a huge page takes about so long; for the size of batches only.
const CLEAR_PAGE_NS: u64 = 60;
const CLEAR_HUGE_NS: u64 = 15_000;

/// Pieces of one process that are cleared by one call.
#[derive(Clone, Debug)]
pub(crate) struct Batch {
    pub(crate) process: usize,
    pub(crate) first_sample: usize,
    pub(crate) end_sample: usize,
    /// The rung of the first look after a clearing.
    pub(crate) start: usize,
    /// The rung of the next look.
    pub(crate) rung: usize,
    pub(crate) cleared_ns: u64,
    /// When it was cleared, or last looked at in a way that counts, and what the target did then.
    pub(crate) looked_ns: u64,
    pub(crate) activity: Option<Activity>,
    pub(crate) bursts: u16,
    /// It gets no further ones.
    pub(crate) once: bool,
    /// It waits for another burst.
    pub(crate) queued: bool,
    /// Pages seen and asked for at the first rung.
    pub(crate) first_seen: u32,
    pub(crate) first_risk: u32,
}

impl Batch {
    /// How many of the target's threads ran since then, on average; none if it hardly ran: what it
    /// ran is known too roughly then, and the next look counts for this one. After so short a gap
    /// that nobody asked at its start, those that run now ran all the time.
    pub(crate) fn ran(&self, now: Activity, now_ns: u64) -> Option<f64> {
        let elapsed = now_ns.saturating_sub(self.looked_ns);
        let least = gap_ns(self.start) as f64 / HARDLY;
        match self.activity {
            Some(before) => now.since(&before, elapsed).filter(|ran| ran * elapsed as f64 >= least),
            None => (now.running > 0).then(|| f64::from(now.running)),
        }
    }

    /// Whether further bursts would still tell something.
    pub(crate) fn may_repeat(&self) -> bool {
        !self.once
            && self.bursts < if self.start >= FEW_FROM_RUNG { FEW_BURSTS } else { MAX_BURSTS }
    }

    /// Starts later bursts at a shorter gap for as long as the first look sees too much: most of
    /// a huge page's looks, or more than a few of many pages (`populous`).
    pub(crate) fn adapt(&mut self, seen: u32, total: u32, populous: bool) {
        self.first_seen += seen;
        self.first_risk += total;
        let (too_much, floor) = if populous {
            (self.first_risk / 128, BASE_FLOOR)
        } else {
            (self.first_risk * 7 / 10, 0)
        };
        if self.first_seen > too_much && self.start > floor {
            self.start -= 1;
            (self.first_seen, self.first_risk) = (0, 0);
        }
    }
}

/// Batches that wait for another burst, in turns; those that are seen at short gaps first, for
/// one burst an epoch tells least of them.
#[derive(Debug, Default)]
pub(crate) struct Extras {
    hot: VecDeque<usize>,
    others: VecDeque<usize>,
}

impl Extras {
    pub(crate) fn push(&mut self, batch: usize, start: usize) {
        let queue = if start < FEW_FROM_RUNG { &mut self.hot } else { &mut self.others };
        queue.push_back(batch);
    }

    pub(crate) fn pop(&mut self) -> Option<usize> {
        self.hot.pop_front().or_else(|| self.others.pop_front())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.hot.is_empty() && self.others.is_empty()
    }
}

/// The rung at which the first look of a burst tells most: about half of the looks at a huge
/// page see it, or every other look sees one page of many.
fn first_rung(piece: &Piece, sample: &Sample) -> usize {
    let Some(rate) = piece.rate else { return UNKNOWN_RUNG };
    let share =
        sample.pages() as f64 * 4096.0 / (piece.range.end - piece.range.start).max(1) as f64;
    let (rate, wanted) =
        if piece.huge { (f64::from(rate), 0.6) } else { (f64::from(rate) * share, 0.5) };
    let gap = wanted / rate.max(1e-3) * 1e9;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
    let rung = rung_of(gap as u64);
    // Of a lower bound nobody knows how far it is from the truth: begin well below.
    let rung = if piece.saturated { rung.saturating_sub(2) } else { rung };
    rung.max(if piece.huge { 0 } else { BASE_FLOOR })
}

/// Groups the samples by process and expected rate, and orders them by batch.
pub(crate) fn group(pieces: &[Piece], samples: Vec<Sample>) -> (Vec<Sample>, Vec<Batch>) {
    let mut keyed: Vec<(usize, usize, Sample)> = samples
        .into_iter()
        .map(|sample| {
            let piece = &pieces[sample.piece];
            (piece.process, first_rung(piece, &sample), sample)
        })
        .collect();
    keyed.sort_by_key(|(process, rung, sample)| (*process, *rung, sample.range.start));
    let mut batches: Vec<Batch> = Vec::new();
    let mut size = 0;
    for (i, (process, rung, sample)) in keyed.iter().enumerate() {
        let (pages, ns) = if sample.huge {
            (HUGE_AS_PAGES, CLEAR_HUGE_NS)
        } else {
            (u32::try_from(sample.pages()).unwrap_or(CLEAR_PAGES), sample.pages() * CLEAR_PAGE_NS)
        };
        // A call must be short against the first gap, or the gap would be smeared; when each
        // huge page was cleared is known better, for each waits for its own flush.
        let smear = if sample.huge { 8 } else { 1 };
        let clear_ns = |size: u32| u64::from(size) * ns / u64::from(pages.max(1));
        let fits = |size: u32| {
            size <= CLEAR_PAGES && (clear_ns(size) <= gap_ns(*rung) * smear / 4 || size <= pages)
        };
        match batches.last_mut() {
            Some(last) if last.process == *process && last.start == *rung && fits(size + pages) => {
                last.end_sample = i + 1;
                size += pages;
            }
            _ => {
                size = pages;
                batches.push(Batch {
                    process: *process,
                    first_sample: i,
                    end_sample: i + 1,
                    start: *rung,
                    rung: *rung,
                    cleared_ns: 0,
                    looked_ns: 0,
                    activity: None,
                    bursts: 0,
                    once: false,
                    queued: false,
                    first_seen: 0,
                    first_risk: 0,
                });
            }
        }
    }
    (keyed.into_iter().map(|(_, _, sample)| sample).collect(), batches)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_look_at_a_target_that_hardly_ran_is_no_trial() {
        let piece = Piece::whole(0, false);
        let samples = vec![Sample::new(0, piece.range, &piece)];
        let mut batch = group(&[piece], samples).1.remove(0);
        assert_eq!(gap_ns(batch.start), 320_000);
        batch.activity = Some(Activity { exec_ns: 0, switches: 4, running: 0 });
        // A thread came and went; what it ran is only known to its last switch.
        let after = |exec_ns| batch.ran(Activity { exec_ns, switches: 6, running: 0 }, 400_000);
        assert_eq!(after(2_000), None, "it would look 200 times as hot as it is");
        assert_eq!(after(100_000), Some(0.25));
    }
}
